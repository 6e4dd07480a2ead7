# SPDX-License-Identifier: Apache-2.0
"""From the clients to the server: `federated_aggregate`, and what is written with it.

Averages have a file of their own, `averages.py`. Who folds what is a matter of the
federating strategy: one group of clients never needs `merge`, groups of groups do.
"""

from typing import Any

import numpy as np

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.operations import operation
from fedlearn_edu.language.application import apply, define, derived, intrinsic
from fedlearn_edu.language.arithmetic import call, constant_like, zeros
from fedlearn_edu.language.federated_computation import binary, identity, traced
from fedlearn_edu.language.mapping import federated_map, map_members
from fedlearn_edu.language.sequences import sequence_reduce
from fedlearn_edu.language.value import Value
from fedlearn_edu.types import SequenceType, TensorType, Type, check_sum_compatible

_AGGREGATE = define(
    "federated_aggregate",
    "(<{T}@CLIENTS,U,(<U,T> -> U),(<U,U> -> U),(U -> R)> -> R@SERVER)",
    do="let zero, accumulate and merge agree on one type of the running state",
)


@intrinsic
def federated_aggregate(
    value: Any, zero: Any, accumulate: Any, merge: Any, report: Any
) -> Value:
    """Folds the clients' values into one at the server.

    `(<{T}@CLIENTS,U,(<U,T> -> U),(<U,U> -> U),(U -> R)> -> R@SERVER)`

    Every group of clients is folded in client order, starting from `zero`:
    `accumulate(… accumulate(zero, x0) …, xn)`; partial folds are joined in order by
    `merge`; `report` is applied once, at the server. With no clients: `report(zero)`. A
    `zero` that is not neutral is counted once per group, so that the result depends on
    the grouping (`max_fanout`).

    Raises:
        TypeMismatchError: if the functions do not fit `T` and the type `U` of the fold.

    Source: `tff.federated_aggregate`; the order is fixed here, unspecified there.
    """
    return apply(_AGGREGATE, [value, zero, accumulate, merge, report])


@derived("(<(S -> T),{S}@CLIENTS,U,(<U,T> -> U),(<U,U> -> U),(U -> R)> -> R@SERVER)")
def federated_map_aggregate(
    fn: Any, value: Any, zero: Any, accumulate: Any, merge: Any, report: Any
) -> Value:
    """`federated_aggregate` of a `federated_map`, in one step.

    What one client makes is folded before the next one's is needed, so that a strategy
    need not keep all of it. The compiler puts it where a program says both.
    """
    mapped = federated_map(fn, value)
    return federated_aggregate(mapped, zero, accumulate, merge, report)


@derived("({T}@CLIENTS -> T@SERVER)", require=check_sum_compatible)
def federated_sum(value: Any) -> Value:
    """Adds up the clients' values at the server, leaf by leaf.

    `({T}@CLIENTS -> T@SERVER)`, `T` numeric with a known shape. With no clients: zeros.
    Integers wrap around. Expands into `federated_aggregate` with `zero = 0` and
    addition.

    >>> import numpy as np
    >>> from fedlearn_edu import federated_computation, type_at_clients
    >>> total = federated_computation(federated_sum, type_at_clients(np.int32))
    >>> int(total([1, 2, 3]))
    6

    Raises:
        SumIncompatibleError: for truth values, strings, sequences, unknown shapes.

    Source: `tff.federated_sum`.
    """
    member = value.type_signature.member
    add = binary("add", member)
    return federated_aggregate(value, zeros(member), add, add, identity(member))


def _check_ordered(value: Type) -> None:
    check_sum_compatible(value, "compared")
    if value.contains(
        lambda t: (
            isinstance(t, TensorType) and np.issubdtype(t.dtype, np.complexfloating)
        )
    ):
        raise TypeMismatchError(
            "complex numbers have no order", expected="real numbers", found=value
        )


def _extreme(value: Value, name: str, sign: int) -> Value:
    member = value.type_signature.member  # type: ignore[attr-defined]
    pick = binary(name, member)
    neutral = constant_like(member, lambda t: _farthest(t.dtype, sign))
    return federated_aggregate(value, neutral, pick, pick, identity(member))


def _farthest(dtype: np.dtype[Any], sign: int) -> Any:
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        return limits.max if sign > 0 else limits.min
    return sign * np.inf


@derived("({T}@CLIENTS -> T@SERVER)", require=_check_ordered)
def federated_min(value: Any) -> Value:
    """The least of the clients' values, leaf by leaf.

    `({T}@CLIENTS -> T@SERVER)`, `T` real. With no clients: the dtype's largest value.
    Expands into `federated_aggregate`. Source: `tff.aggregators.federated_min`.
    """
    return _extreme(value, "minimum", +1)


@derived("({T}@CLIENTS -> T@SERVER)", require=_check_ordered)
def federated_max(value: Any) -> Value:
    """The greatest of the clients' values, leaf by leaf.

    `({T}@CLIENTS -> T@SERVER)`, `T` real. With no clients: the dtype's least value.
    Expands into `federated_aggregate`. Source: `tff.aggregators.federated_max`.
    """
    return _extreme(value, "maximum", -1)


def _check_collectable(value: Type, *_: Type) -> None:
    if value.contains(lambda t: isinstance(t, SequenceType)):
        raise TypeMismatchError(
            "the clients' values are collected into one sequence, which cannot hold "
            "sequences",
            expected="members made of tensors and structures",
            found=value,
            do="reduce each client's sequence first: federated_map(sequence_sum, …)",
        )


@derived("({T}@CLIENTS -> T*@SERVER)", require=_check_collectable)
def federated_collect(value: Any) -> Value:
    """Brings all members to the server, as a sequence in client order.

    `({T}@CLIENTS -> T*@SERVER)`. Expands into `federated_aggregate` that appends.
    Source: `tff.federated_collect`, up to 0.19.
    """
    member = value.type_signature.member
    many = SequenceType(member)
    append = operation("append", (many, member), many)
    concatenate = operation("concatenate", (many, many), many)
    return federated_aggregate(
        value,
        Value(ir.Literal((), many)),
        traced(lambda s, x: call(append, s, x), many, member, name="append"),
        traced(lambda s, t: call(concatenate, s, t), many, many, name="concatenate"),
        identity(many),
    )


@derived("(<{T}@CLIENTS,U,(<U,T> -> U)> -> U@SERVER)", require=_check_collectable)
def federated_reduce(value: Any, zero: Any, op: Any) -> Value:
    """Folds all members at the server, one by one in client order.

    `(<{T}@CLIENTS,U,(<U,T> -> U)> -> U@SERVER)`. Unlike `federated_aggregate` it has no
    `merge`, hence all members travel to the server. Expands into `federated_collect`
    and `sequence_reduce`. Source: `tff.federated_reduce`, up to 0.18.
    """
    return map_members(
        lambda members: sequence_reduce(members, zero, op),
        federated_collect(value),
        name="reduce",
    )
