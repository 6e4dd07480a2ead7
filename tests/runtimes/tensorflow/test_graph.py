# SPDX-License-Identifier: Apache-2.0
"""A graph travels: pickled here, it runs in a process that never saw its source."""

import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from tests.programs import INT, INTS, NUMBERS, in_another_process

pytestmark = pytest.mark.tensorflow


def with_variable(x: Any) -> Any:
    total = tf.Variable(0)
    total.assign_add(x)
    total.assign_add(x)
    return OrderedDict(total=total, text=tf.strings.as_string(x))


def train(batches: Any, rate: Any) -> Any:
    def step(weight: Any, x: Any) -> Any:
        return weight - rate * 2.0 * (weight - x)

    return batches.reduce(0.0, step)


def random_shift(x: Any) -> Any:
    return x + tf.cast(tf.random.uniform([], 10, 11, tf.int32), tf.int32)


PROGRAM = """
    import pickle, sys
    from pathlib import Path
    import fedlearn_edu as fl

    programs = pickle.loads(Path(sys.argv[1]).read_bytes())
    print([program(*arguments) for program, *arguments in programs])
    print([str(program.type_signature) for program, *_ in programs])
"""


@pytest.mark.slow
def test_computations_run_in_another_process(tmp_path: Path) -> None:
    leaf = fl.tf_computation(with_variable, np.int32)
    local = fl.tf_computation(train, fl.SequenceType(np.float32), np.float32)
    federated = fl.federated_computation(
        lambda v: fl.federated_sum(
            fl.federated_map(fl.tf_computation(lambda x: x * 2, INT), v)
        ),
        INTS,
    )
    dataset = fl.tf_computation(lambda s: s.map(lambda x: x + 1), NUMBERS)
    programs: list[Any] = [
        (leaf, 5),
        (local, [1.0, 2.0], 0.25),
        (federated, [1, 2, 3]),
        (dataset, [1, 2]),
        (fl.tf_computation(random_shift, np.int32), 1),
    ]
    file = tmp_path / "programs.pickle"
    file.write_bytes(pickle.dumps(programs))
    results, signatures = in_another_process(PROGRAM, str(file)).splitlines()
    here = [program(*arguments) for program, *arguments in programs]
    assert results == str(here)
    assert signatures == str([str(program.type_signature) for program, *_ in programs])


def test_a_copy_is_equal_and_computes_the_same() -> None:
    made = fl.tf_computation(with_variable, np.int32)
    copy = pickle.loads(pickle.dumps(made))
    assert copy == made
    assert copy(5) == made(5) == OrderedDict(total=10, text=b"5")
    again = pickle.loads(pickle.dumps(copy))
    assert again(5) == made(5)


def test_a_copy_has_no_results_that_only_a_gradient_needs() -> None:
    square = fl.tf_computation(lambda x: tf.square(tf.square(x)), np.float32)

    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            return tape.gradient(square(x), x)

    assert fl.tf_computation(slope, np.float32)(2.0) == 32
    assert pickle.loads(pickle.dumps(square))(2.0) == 16


def test_a_copy_brings_the_tensors_that_the_graph_captured() -> None:
    outside = tf.range(1000)
    total = fl.tf_computation(lambda x: tf.reduce_sum(outside) + x, np.int32)
    assert pickle.loads(pickle.dumps(total))(1) == total(1) == 499_501


def test_a_side_effect_of_the_graph_survives() -> None:
    def checked(x: Any) -> Any:
        tf.debugging.assert_positive(x)  # nobody uses its result
        return x

    made = fl.tf_computation(checked, np.int32)
    for program in (made, pickle.loads(pickle.dumps(made))):
        assert program(1) == 1
        with pytest.raises(fl.FedLearnError, match="TensorFlow reported"):
            program(-1)


def test_a_copy_can_be_called_inside_another_graph() -> None:
    copy = pickle.loads(pickle.dumps(fl.tf_computation(with_variable, np.int32)))
    outer = fl.tf_computation(lambda x: copy(x)["total"] + 1, np.int32)
    assert outer(5) == 11
