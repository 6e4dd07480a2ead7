# SPDX-License-Identifier: Apache-2.0
"""`federated_mean`: what can be averaged, and by what it can be weighted."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import SumIncompatibleError, TypeMismatchError
from tests.programs import FLOAT, FLOATS, INTS, signature


@pytest.mark.parametrize(
    "member",
    [
        np.float32,
        np.float64,
        np.complex64,
        (np.float32, [2]),
        OrderedDict(a=np.float32, b=[np.float64]),
        [],
    ],
    ids=str,
)
def test_a_mean_has_the_type_of_what_is_averaged(member: Any) -> None:
    type_ = fl.to_type(member)
    assert signature(lambda v: fl.federated_mean(v), fl.type_at_clients(type_)) == (
        f"({{{type_}}}@CLIENTS -> {type_}@SERVER)"
    )


@pytest.mark.parametrize(
    "member",
    [np.int32, np.bool_, np.str_, [np.float32, np.int32], fl.SequenceType(np.float32)],
    ids=str,
)
def test_only_floats_are_averaged(member: Any) -> None:
    with pytest.raises(TypeMismatchError, match="federated_mean") as caught:
        fl.federated_computation(
            lambda v: fl.federated_mean(v), fl.type_at_clients(member)
        )
    assert "float" in str(caught.value)


def test_every_size_must_be_known() -> None:
    """differs: there it traced, and the unweighted form failed when it ran."""
    vectors = fl.type_at_clients(fl.TensorType(np.float32, [None]))
    with pytest.raises(SumIncompatibleError, match=r"static|size"):
        fl.federated_computation(lambda v: fl.federated_mean(v), vectors)


@pytest.mark.parametrize(
    "weight", [np.int32, np.int64, np.uint8, np.float32, np.float64]
)
def test_a_weight_is_any_real_number(weight: Any) -> None:
    """differs: integers and other dtypes traced there, and failed when they ran."""
    made = fl.federated_computation(
        lambda v, w: fl.federated_mean(v, w), FLOATS, fl.type_at_clients(weight)
    )
    result = made([1, 2, 3], [1, 1, 2])
    assert (result, result.dtype) == (2.25, np.float32)


@pytest.mark.parametrize(
    "weight",
    [np.bool_, np.complex64, (np.float32, [2]), [np.float32], np.str_],
    ids=str,
)
def test_other_weights_are_refused(weight: Any) -> None:
    with pytest.raises(TypeMismatchError, match="weight"):
        fl.federated_computation(
            lambda v, w: fl.federated_mean(v, w), FLOATS, fl.type_at_clients(weight)
        )


@pytest.mark.parametrize("weight", [fl.type_at_server(FLOAT), FLOAT], ids=str)
def test_a_weight_is_at_the_clients(weight: Any) -> None:
    with pytest.raises(TypeMismatchError, match="federated"):
        fl.federated_computation(lambda v, w: fl.federated_mean(v, w), FLOATS, weight)


def test_a_constant_is_no_weight() -> None:
    with pytest.raises(TypeMismatchError, match="federated"):
        fl.federated_computation(lambda v: fl.federated_mean(v, 1.0), FLOATS)


def test_the_two_names_of_a_weighted_mean_are_one() -> None:
    one = fl.federated_computation(lambda v, w: fl.federated_mean(v, w), FLOATS, INTS)
    other = fl.federated_computation(
        lambda v, w: fl.federated_weighted_mean(v, w), FLOATS, INTS
    )
    assert one == other
