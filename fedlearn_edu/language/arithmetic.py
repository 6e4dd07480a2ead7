# SPDX-License-Identifier: Apache-2.0
"""Zero, plus, times …: over whole structures, leaf by leaf, and for Python's operators.

Expansions of intrinsics use these functions on Values; every step ends in one operation
of `ir/operations.py`, which all runtimes know. So `x + 1` in a body (`combine` in
`federated_computation.py`, inside a `federated_map` if x has a placement) is a call of
"add" on x and on 1 in its dtype; the leaf of each who holds x runs it.
"""

from collections.abc import Callable
from itertools import repeat, starmap
from typing import Any

import numpy as np

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.operations import cast, operation
from fedlearn_edu.language.value import (
    Value,
    body_around,
    map_leaves,
    structure_like,
    to_value,
)
from fedlearn_edu.types import FederatedType, StructType, TensorType, Type, normalize
from fedlearn_edu.types.dtypes import NUMERIC, kind_of
from fedlearn_edu.types.messages import by_element, clip

Number = int | float | complex


def call(leaf: ir.Leaf, *values: Value) -> Value:
    """Records a call of an operation."""
    nodes = tuple((None, value.node) for value in values)
    argument = ir.Struct(nodes) if len(nodes) > 1 else values[0].node
    return body_around(leaf.code.name).bind(ir.Call(leaf, argument))


def constant_like(type_: Type, number_for: Callable[[TensorType], Any]) -> Value:
    """A constant of a structure type; `number_for` says what fills each tensor."""
    match type_:
        case TensorType():
            filled = np.full(_static_shape(type_), number_for(type_), type_.dtype)
            return Value(ir.Literal(normalize(filled[()], type_), type_))
        case StructType():
            nodes = ((n, constant_like(t, number_for).node) for n, t in type_.items())
            return Value(ir.Struct(tuple(nodes), type_.python_container))
        case _:
            raise TypeMismatchError(
                "no constant of this type can be made",
                expected="tensors and structures of tensors",
                found=type_,
            )


def zeros(type_: Type) -> Value:
    """The neutral element of `add`."""
    return constant_like(type_, lambda _: 0)


def _static_shape(type_: TensorType) -> tuple[int, ...]:
    return tuple(size or 0 for size in type_.shape)


def leafwise(name: str, left: Value, right: Value) -> Value:
    """Applies a binary operation leaf by leaf.

    Both have one structure, or one of them is a scalar that meets every leaf.
    """

    def apply(left: Value, right: Value) -> Value:
        types = (left.type_signature, right.type_signature)
        result = next((t for t in types if not _is_scalar(t)), types[0])
        assert isinstance(result, TensorType)
        if name == "divide" and np.issubdtype(result.dtype, np.integer):
            result = TensorType(np.float64, result.shape)
        return call(operation(name, types, result), left, right)

    return map_leaves(apply, left, right)


def _is_scalar(type_: Type) -> bool:
    return isinstance(type_, TensorType) and type_.is_scalar


def scale(name: str, value: Value, factor: Value) -> Value:
    """`leafwise` with a scalar that is cast to the dtype of each leaf first."""

    def apply(leaf: Value, factor: Value) -> Value:
        return leafwise(name, leaf, in_dtype(factor, dtype_of(leaf)))

    return map_leaves(apply, value, factor)


def dtype_of(leaf: Value) -> np.dtype[Any]:
    """The dtype of a tensor."""
    assert isinstance(leaf.type_signature, TensorType)
    return leaf.type_signature.dtype


def in_dtype(leaf: Value, dtype: Any) -> Value:
    """A tensor in another dtype."""
    source = leaf.type_signature
    assert isinstance(source, TensorType)
    target = TensorType(dtype, source.shape)
    return leaf if source == target else call(cast(source, target), leaf)


def adopt_number(operand: Any, other: Any) -> Any:
    """A Python number beside a Value takes the Value's dtype, if it fits."""
    if not isinstance(operand, Number) or not isinstance(other, Value):
        return operand
    where = f"the number beside {other}, of type {other.type_signature}"
    return _number_like(operand, other.type_signature, where)


def _number_like(number: Number, type_: Type, where: str) -> Value:
    """The number in the one dtype of a type, or once for each part that has its own."""
    if isinstance(type_, FederatedType):
        return _number_like(number, type_.member, where)
    dtypes = dtypes_in(type_)
    if len(dtypes) > 1 and isinstance(type_, StructType):
        return structure_like(type_, (_number_like(number, t, where) for t in type_))
    if not dtypes or kind_of(min(dtypes)) not in NUMERIC:
        return to_value(number)
    scalar = TensorType(dtypes.pop())
    return Value(ir.Literal(normalize(number, scalar, where), scalar))


def dtypes_in(type_: Type) -> set[np.dtype[Any]]:
    """The dtypes of all tensors in a type, placed or not; of others there are none."""
    match type_:
        case TensorType(dtype=dtype):
            return {dtype}
        case FederatedType(member=member):
            return dtypes_in(member)
        case StructType():
            return set().union(*(dtypes_in(element) for element in type_))
        case _:
            return set()


def check_operands(name: str, left: Type, right: Type) -> None:
    """Refuses two types that an operator cannot combine."""
    found = _misfit(left, right)
    if found is not None:
        raise TypeMismatchError(
            f"these two values cannot be combined by {name}",
            expected="numbers of equal types, or one scalar of the same dtype",
            found=f"{clip(left)} and {clip(right)}",
            do=_cure_of_operands(*found),
        )


def _misfit(left: Type, right: Type) -> tuple[Type, Type] | None:
    """The first two parts that do not go together; a scalar meets every part."""
    match left, right:
        case TensorType(), TensorType():
            fit = left.dtype == right.dtype and kind_of(left.dtype) in NUMERIC
            spread = left.is_scalar or right.is_scalar
            fit = fit and (spread or left.is_equivalent_to(right))
            return None if fit else (left, right)
        case StructType(), StructType() if left.names() == right.names():
            pairs = zip(left, right, strict=True)
        case StructType(), TensorType(shape=()):
            pairs = zip(left, repeat(right), strict=False)
        case TensorType(shape=()), StructType():
            pairs = zip(repeat(left), right, strict=False)
        case _:
            return (left, right)
    return next(filter(None, starmap(_misfit, pairs)), None)


def _cure_of_operands(left: Type, right: Type) -> str:
    inside = "inside a tf_computation or np_computation first"
    match left, right:
        case TensorType(dtype=one), TensorType(dtype=other) if one == other:
            numeric = kind_of(one) in NUMERIC
            how = f"reshape or slice one of them {inside}; only a scalar is spread"
            return how if numeric else f"turn them into numbers {inside}"
        case TensorType(), TensorType():
            return f"cast {left} or {right} {inside}"
        case StructType(), StructType():
            return "give both the same fields, or combine the fields one by one"
        case _:
            whole = f"only numbers and structures of them are combined: work {inside}"
            return by_element(left, right) or whole
