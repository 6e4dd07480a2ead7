# SPDX-License-Identifier: Apache-2.0
"""Computations cross a process border: pickled and back they are what they were."""

import pickle
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.framework import ReferenceContext
from fedlearn_edu.testing import Case, assert_same, cases, difference, run_in

FLOATS = fl.type_at_clients(np.float32)
PARAMETER = fl.to_type(OrderedDict(x=np.float32, k=np.float32))


def multiply(x: Any, k: Any) -> Any:
    """A module-level function, which pickle finds by its name."""
    return x * k


def _scaled_mean(leaf: Any) -> Any:
    def body(v: Any, k: Any) -> Any:
        fn = fl.federated_computation(lambda x: leaf(x, k), np.float32)
        return OrderedDict(mean=fl.federated_mean(fl.federated_map(fn, v)), k=k)

    return fl.federated_computation(body, FLOATS, np.float32)


def _there_and_back(computation: Any) -> Any:
    return pickle.loads(pickle.dumps(computation))


def test_numpy_leaf_survives_pickling() -> None:
    leaf = fl.np_computation(multiply, np.float32, np.float32)
    copy = _there_and_back(leaf)
    assert copy == leaf
    assert hash(copy) == hash(leaf)
    assert copy.type_signature == leaf.type_signature
    assert copy(2.0, 3.0) == 6.0


def test_federated_computation_survives_pickling() -> None:
    computation = _scaled_mean(fl.np_computation(multiply, np.float32, np.float32))
    copy = _there_and_back(computation)
    assert copy == computation
    assert copy.to_text() == computation.to_text()
    assert_same(copy([1, 2], 4), OrderedDict(mean=6.0, k=4.0))


def test_containers_survive_pickling() -> None:
    """The type that comes back restores the containers the body wrote."""
    computation = fl.federated_computation(lambda p: [p, (p.x,)], PARAMETER)
    copy = _there_and_back(computation)
    expected = [OrderedDict(x=1.0, k=2.0), (1.0,)]
    assert_same(copy(k=2.0, x=1.0), expected)


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", cases("tensorflow"), ids=lambda case: str(case.name))
def test_tensorflow_case_survives_pickling(case: Case) -> None:
    """TensorFlow leaves pickle as graphs, whatever function they came from."""
    copy = _there_and_back(case.computation)
    assert copy == case.computation
    arrived = Case(
        case.name, lambda: copy, case.arguments, case.keywords, case.expected
    )
    assert difference(run_in(ReferenceContext(), arrived), case.expected) is None
