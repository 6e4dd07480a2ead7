# SPDX-License-Identifier: Apache-2.0
"""A successful program says nothing on stderr: a grader takes any text for failure.

TensorFlow 2.21 writes nine lines there at its import and at its first operation, and
six are left with every environment variable it knows. Importing `fedlearn_edu` loads no
TensorFlow and so cannot help; what helps is that the first import of TensorFlow in the
process is ours. A lesson therefore says `from fedlearn_edu import tf`, or takes
something else from us that needs it, before anybody says `import tensorflow`.

AutoGraph warns of what it cannot rewrite, and of what it should not have tried to. It
needs the source, so the program is a file of its own.
"""

from pathlib import Path

import pytest

from tests.programs import in_another_process

pytestmark = pytest.mark.tensorflow

PROGRAM = """\
import numpy as np
import fedlearn_edu as fl
from fedlearn_edu import tf
import tensorflow as tf

FLOATS = fl.SequenceType(np.float32)

@fl.tf_computation(np.float32, np.float32)
def add(a, b):
    return a + b

@fl.tf_computation(FLOATS, np.float32)
def program(dataset, factor):
    @tf.function
    def work(dataset, factor):
        # AutoGraph rewrites all of this.
        change = fl.tf_computation(lambda x: x * factor, np.float32)
        total = fl.sequence_reduce(fl.sequence_map(change, dataset), 0.0, add)
        for x in dataset:
            if x > 1:
                total += x
        return total + fl.sequence_sum(dataset)

    return work(dataset, factor)

@fl.tf_computation(np.float32)
def step(rate):
    variable = tf.Variable(1.0)
    tf.keras.optimizers.SGD(rate).apply_gradients([(2.0, variable)])
    return variable.read_value()

@tf.function
def outside(dataset):
    return fl.sequence_sum(dataset)

in_a_body = fl.federated_computation(lambda s: fl.sequence_sum(s), FLOATS)
factory = fl.framework.local_executor_factory(support_sequence_ops=True)
with fl.framework.SyncExecutionContext(factory):
    assert program([1, 2], 10) == 30 + 2 + 3
    assert program(lambda: iter([1, 2]), 10) == 35
    assert in_a_body(tf.data.Dataset.from_tensor_slices([1.0, 2.0])) == 3
    assert outside(tf.data.Dataset.from_tensor_slices([1.0, 2.0])) == 3
    assert step(0.25) == 0.5
print("done")
"""
LOUD_UNLESS_TOLD = ("TF_CPP_MIN_LOG_LEVEL", "CUDA_VISIBLE_DEVICES")


def test_nothing_is_written_to_stderr(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in LOUD_UNLESS_TOLD:  # a learner has never heard of them
        monkeypatch.delenv(variable, raising=False)
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    run_file = "import runpy, sys; runpy.run_path(sys.argv[1])"
    assert in_another_process(run_file, str(file)) == "done\n"
