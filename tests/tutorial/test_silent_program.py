# SPDX-License-Identifier: Apache-2.0
"""A successful program says nothing on stderr: a grader takes any text for failure.

TensorFlow 2.21 writes nine lines there at its import and at its first operation, and
six are left with every environment variable it knows. Importing `fedlearn_edu` loads no
TensorFlow and so cannot help; what helps is that the first import of TensorFlow in the
process is ours. A lesson therefore says `from fedlearn_edu import tf`, or takes
something else from us that needs it, before anybody says `import tensorflow`.
"""

import pytest

from tests.programs import in_another_process
from tests.tutorial.conftest import SCRIPT, Run
from tests.tutorial.test_second_tutorial import NUMBER

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

PROGRAM = """
import runpy

from fedlearn_edu import tf
import tensorflow as tf

from fedlearn_edu.simulation import datasets

(x, y), (x_test, y_test) = datasets.load_digits28()
tf.keras.datasets.mnist.load_data = lambda: (
    (x[:200], y[:200]), (x_test[:200], y_test[:200])
)
runpy.run_path({script!r})
"""
LOUD_UNLESS_TOLD = ("TF_CPP_MIN_LOG_LEVEL", "CUDA_VISIBLE_DEVICES")


def test_tutorial_is_silent_on_stderr(
    small_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in LOUD_UNLESS_TOLD:  # a learner has never heard of them
        monkeypatch.delenv(variable, raising=False)
    told = in_another_process(PROGRAM.format(script=str(SCRIPT)))
    printed = small_run.printed
    assert NUMBER.sub("#", told) == NUMBER.sub("#", printed)
    numbers = [float(number) for number in NUMBER.findall(told)]
    assert numbers == pytest.approx(list(map(float, NUMBER.findall(printed))), rel=1e-5)
