# SPDX-License-Identifier: Apache-2.0
"""Learning with NumPy, as in a browser, finds what it finds with TensorFlow."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.learning import both_ways

pytestmark = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="browsers have NumPy 2, which keeps float32 beside Python's numbers",
)


@pytest.fixture(scope="module")
def in_numpy(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What `both_ways` finds in a process that poses as a browser."""
    path = tmp_path_factory.mktemp("both_ways") / "found.npz"
    subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.learning.both_ways", path],
        env={**os.environ, "FEDLEARN_EDU_PLATFORM": "emscripten"},
        cwd=Path(__file__).parents[2],
        check=True,
        timeout=300,
    )
    return np.load(path)


def test_a_run_loads_no_tensorflow_and_starts_no_thread(in_numpy: Any) -> None:
    assert (bool(in_numpy["loaded"]), int(in_numpy["threads"])) == (False, 0)


@pytest.mark.thorough
@pytest.mark.tensorflow
@pytest.mark.usefixtures("step_by_step")
def test_numbers_are_those_of_tensorflow(in_numpy: Any) -> None:
    for name, expected in both_ways.leaves().items():
        found = in_numpy[name]
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), name
        if not name.startswith("drawn"):
            largest = np.abs(expected).max(initial=0.0)
            near = 1e-3 if expected.dtype == np.float16 else 1e-6
            np.testing.assert_allclose(
                found, expected, rtol=near, atol=near * largest, err_msg=name
            )


def test_network_without_tensorflow_says_what_it_needs(in_numpy: Any) -> None:
    told = str(in_numpy["network"])
    assert "found:    multilayer perceptron 5-4-3" in told
    assert "learn where TensorFlow is installed" in told


def test_label_of_no_class_is_refused_without_tensorflow(in_numpy: Any) -> None:
    told = str(in_numpy["label"])
    assert "labels of 0 to 2" in told
    assert "at client 0" in told
