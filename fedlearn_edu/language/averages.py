# SPDX-License-Identifier: Apache-2.0
"""`federated_mean`: what it does, and who computes what.

Each client multiplies its value by its weight; the server adds up products, weights and
the number of clients in one `federated_sum`, and divides. That is all, and it is
written here in the language itself: read `_mean` and `_weighted_mean`.
"""

from typing import Any

import numpy as np

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.ir.operations import operation
from fedlearn_edu.language.aggregation import federated_sum
from fedlearn_edu.language.application import apply, define, intrinsic
from fedlearn_edu.language.arithmetic import call, dtype_of, in_dtype, leafwise, scale
from fedlearn_edu.language.mapping import federated_zip, map_members
from fedlearn_edu.language.movement import federated_value
from fedlearn_edu.language.value import Value, map_leaves
from fedlearn_edu.types import (
    CLIENTS,
    FederatedType,
    TensorType,
    Type,
    check_sum_compatible,
    is_average_compatible,
)
from fedlearn_edu.types.dtypes import REAL, WHOLE, kind_of
from fedlearn_edu.types.messages import by_element


@intrinsic
def federated_mean(value: Any, weight: Any = None) -> Value:
    """The mean of the clients' values, at the server.

    Without weights `({T}@CLIENTS -> T@SERVER)`: every client counts the same,
    `(1/n) · Σ v_i`. With weights `(<{T}@CLIENTS,{W}@CLIENTS> -> T@SERVER)`:
    `Σ w_i·v_i / Σ w_i`. `T` is made of floats (or complex numbers) with a known shape,
    `W` is one real number per client. Weights that sum to zero give `nan`.

    >>> import numpy as np
    >>> from fedlearn_edu import federated_computation, type_at_clients
    >>> T = type_at_clients(np.float32)
    >>> average = federated_computation(lambda v, w: federated_mean(v, w), T, T)
    >>> float(average([1.0, 2.0, 3.0], [1.0, 1.0, 2.0]))
    2.25

    Raises:
        TypeMismatchError: if the values cannot be averaged or a weight is not a number.
        EmptyGroupError: when it runs over no clients.

    Source: `tff.federated_mean`; McMahan et al., Communication-Efficient Learning of
    Deep Networks from Decentralized Data, AISTATS 2017 (the weighted form).
    """
    if weight is None:
        return apply(_MEAN, [value])
    return apply(_WEIGHTED_MEAN, [value, weight])


@intrinsic
def federated_weighted_mean(value: Any, weight: Any) -> Value:
    """`federated_mean` with weights, under its name in older texts."""
    return federated_mean(value, weight)


def _mean(value: Value) -> Value:
    sums = federated_sum(federated_zip([value, _one()]))
    return map_members(_multiply_by_reciprocal, sums, name="mean")


def _weighted_mean(value: Value, weight: Value) -> Value:
    weighted = map_members(
        lambda pair: [scale("multiply", pair[0], pair[1]), _wide(pair[1])],
        federated_zip([value, weight]),
        name="apply_weight",
    )
    sums = federated_sum(federated_zip([weighted, _one()]))
    return map_members(_divide_by_weight, sums, name="mean")


def _wide(weight: Value) -> Value:
    # Weights are often counts of examples, and their sum must not wrap around.
    integer = np.issubdtype(dtype_of(weight), np.integer)
    return in_dtype(weight, np.float64) if integer else weight


def _one() -> Value:
    return federated_value(np.int32(1), CLIENTS)


def _multiply_by_reciprocal(sums: Value) -> Value:
    # Multiplying by 1/n instead of dividing by n is what printed values elsewhere show.
    return map_leaves(_times_reciprocal, sums[0], sums[1])


def _times_reciprocal(total: Value, count: Value) -> Value:
    dtype = dtype_of(total)
    leaf = operation(
        "reciprocal", (count.type_signature,), TensorType(dtype), dtype.name
    )
    return leafwise("multiply", total, call(leaf, count))


def _divide_by_weight(sums: Value) -> Value:
    (total, weight), count = sums[0], sums[1]
    type_ = weight.type_signature
    nonempty = operation("nonempty", (type_, count.type_signature), type_)
    return scale("divide", total, call(nonempty, weight, count))


def _check_averageable(value: Type) -> None:
    if not is_average_compatible(value):
        raise _no_average(value)
    check_sum_compatible(value)


def _no_average(type_: Type) -> TypeMismatchError:
    do = "cast to a float with federated_map first"
    if type_.contains(lambda part: str(part) == "bool"):
        do = "map to 1.0 and 0.0 with federated_map first: their mean is a share"
    return TypeMismatchError(
        "only floating-point values can be averaged",
        expected="floats, complex numbers, or structures of them",
        found=type_,
        where="federated_mean",
        do=by_element(type_) or do,
    )


def _check_weighted(value: Type, weight: Type) -> None:
    _check_averageable(value)
    assert isinstance(weight, FederatedType)
    scalar = weight.member
    is_scalar = isinstance(scalar, TensorType) and scalar.is_scalar
    if not is_scalar or kind_of(scalar.dtype) not in WHOLE + REAL:  # type: ignore[attr-defined]
        raise TypeMismatchError(
            "a weight is one real number per client",
            expected="{float32}@CLIENTS or {int32}@CLIENTS",
            found=weight,
            where="federated_mean",
            do="reduce the weight to one number with federated_map (the values come "
            "first, the weights second)",
        )


_MEAN = define(
    "federated_mean",
    "({T}@CLIENTS -> T@SERVER)",
    expand=_mean,
    require=_check_averageable,
)
_WEIGHTED_MEAN = define(
    "federated_weighted_mean",
    "(<{T}@CLIENTS,{W}@CLIENTS> -> T@SERVER)",
    expand=_weighted_mean,
    require=_check_weighted,
)
