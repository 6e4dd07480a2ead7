# SPDX-License-Identifier: Apache-2.0
"""Computations cross a process border: pickled and back they are what they were."""

import copy
import dataclasses
import pickle
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import StructureError
from fedlearn_edu.framework import ReferenceContext
from fedlearn_edu.ir.traversal import runtimes
from fedlearn_edu.testing import Case, assert_same, cases, difference, run_in
from tests.conformance.stacks import SMOKE

FLOATS = fl.type_at_clients(np.float32)


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
    arrived = _there_and_back(leaf)
    assert arrived == leaf
    assert hash(arrived) == hash(leaf)
    assert arrived.type_signature == leaf.type_signature
    assert arrived(2.0, 3.0) == 6.0


def test_polymorphic_computation_says_what_can_travel() -> None:
    """It has no tree before it meets a type; copies need none."""
    product = fl.np_computation(multiply)
    with pytest.raises(StructureError, match="decorate it with its types"):
        pickle.dumps([product])
    assert copy.deepcopy([product, copy.copy(product)]) == [product, product]


def test_federated_computation_survives_pickling() -> None:
    computation = _scaled_mean(fl.np_computation(multiply, np.float32, np.float32))
    arrived = _there_and_back(computation)
    assert arrived == computation
    assert arrived.to_text() == computation.to_text()
    assert_same(arrived([1, 2], 4), OrderedDict(mean=6.0, k=4.0))


@pytest.mark.parametrize("placement", [fl.CLIENTS, fl.SERVER], ids=str)
def test_placement_stays_the_one_and_only(placement: fl.types.Placement) -> None:
    assert _there_and_back(placement) is placement
    assert copy.deepcopy(fl.FederatedType(np.int32, placement)).placement is placement


def test_cases_without_leaf_code_survive_pickling() -> None:
    """Names, lambdas, intrinsics and constants travel as they are."""
    for case in cases():
        if not runtimes(case.computation.tree):
            _check_arrival(case)


def _check_arrival(case: Case) -> None:
    arrived = dataclasses.replace(case, build=lambda: _there_and_back(case.computation))
    assert arrived.computation == case.computation
    found = run_in(ReferenceContext(), arrived)
    assert difference(found, case.expected) is None, case


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "some",
    [
        pytest.param([c for c in cases("tensorflow") if c.name in SMOKE], id="smoke"),
        pytest.param(cases("tensorflow"), id="all", marks=pytest.mark.thorough),
    ],
)
def test_tensorflow_cases_survive_pickling(some: Sequence[Case]) -> None:
    """TensorFlow leaves pickle as graphs, whatever function they came from."""
    for case in some:
        _check_arrival(case)
