# SPDX-License-Identifier: Apache-2.0
"""A successful program says nothing on stderr: a grader takes any text for failure.

TensorFlow 2.21 writes nine lines there at its import and at its first operation, and
six are left with every environment variable it knows. Importing `fedlearn_edu` loads no
TensorFlow and so cannot help; what helps is that the first import of TensorFlow in the
process is ours. A lesson therefore says `from fedlearn_edu import tf`, or takes
something else from us that needs it, before anybody says `import tensorflow`.
"""

import os
import subprocess
import sys

import pytest

from tests.patience import PATIENCE_S
from tests.tutorial.conftest import SCRIPT, Run
from tests.tutorial.test_second_tutorial import NUMBER

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

PRELUDES = {
    "TensorFlow from us": "from fedlearn_edu import tf",
    "a decorator from us": "from fedlearn_edu import tf_computation",
}
PROGRAM = """
import runpy

import fedlearn_edu as tff
{prelude}
import tensorflow as tf

from fedlearn_edu.simulation import datasets

(x, y), (x_test, y_test) = datasets.load_digits28()
tf.keras.datasets.mnist.load_data = lambda: (
    (x[:200], y[:200]), (x_test[:200], y_test[:200])
)
runpy.run_path({script!r})
"""
LOUD_UNLESS_TOLD = ("TF_CPP_MIN_LOG_LEVEL", "CUDA_VISIBLE_DEVICES")


def run_program(text: str) -> subprocess.CompletedProcess[str]:
    """In the environment of a learner, who has never heard of these variables."""
    environment = {k: v for k, v in os.environ.items() if k not in LOUD_UNLESS_TOLD}
    return subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environment,
        check=False,
    )


@pytest.mark.parametrize(
    "prelude",
    [
        "TensorFlow from us",
        pytest.param("a decorator from us", marks=pytest.mark.thorough),
    ],
)
def test_tutorial_is_silent_on_stderr(prelude: str, small_run: Run) -> None:
    done = run_program(PROGRAM.format(prelude=PRELUDES[prelude], script=str(SCRIPT)))
    assert done.stderr == ""
    assert done.returncode == 0
    printed = small_run.printed
    assert NUMBER.sub("#", done.stdout) == NUMBER.sub("#", printed)
    numbers = [float(number) for number in NUMBER.findall(done.stdout)]
    assert numbers == pytest.approx(list(map(float, NUMBER.findall(printed))), rel=1e-5)
