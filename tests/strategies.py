# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies shared by all tests: types, and values of a type.

Tests of laws hand in nothing, or a type, and receive examples. Values are what Python
gets back from a computation, so that `restore(normalize(value, t), t)` is the value.
"""

from collections import OrderedDict
from typing import Any, NamedTuple, assert_never

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fedlearn_edu.structure import Struct
from fedlearn_edu.types import CLIENTS, SERVER, Type
from fedlearn_edu.types.definitions import (
    AbstractType,
    FederatedType,
    FunctionType,
    PlacementType,
    SequenceType,
    StructType,
    TensorType,
    any_type,
)
from fedlearn_edu.types.fields import rebuild

SCALARS = (np.bool_, np.int32, np.int64, np.uint8, np.float32, np.float64, np.str_)
NAMES = ("a", "b", "c", "weights", "x1")
MAX_LENGTH = 3


class Point(NamedTuple):
    """A container with names of its own."""

    a: Any
    b: Any


def tensor_types() -> st.SearchStrategy[TensorType]:
    """Tensor types of rank 0 to 2."""
    sizes = st.one_of(st.none(), st.integers(0, MAX_LENGTH))
    shapes = st.lists(sizes, max_size=2)
    return st.builds(TensorType, st.sampled_from(SCALARS), shapes)


@st.composite
def struct_types(draw: st.DrawFn, of: st.SearchStrategy[Type]) -> StructType:
    """Structs of those types: named, unnamed or mixed, with and without container."""
    types = draw(st.lists(of, max_size=MAX_LENGTH))
    container = draw(st.sampled_from([None, list, tuple, OrderedDict, dict, Point]))
    if container is Point:
        fitting = [*types, TensorType(np.int32), TensorType(np.float32)][:2]
        return StructType(zip(("a", "b"), fitting, strict=True), Point)
    if container in (list, tuple):
        return StructType(types, container)
    names: list[str | None] = [*draw(st.permutations(NAMES))[: len(types)]]
    if container is None:
        names = [draw(st.sampled_from([name, None])) for name in names]
    return StructType(zip(names, types, strict=True), container)


def element_types() -> st.SearchStrategy[Type]:
    """Tensors and structs of them: what a sequence may hold."""
    return st.recursive(tensor_types(), struct_types, max_leaves=4)


def data_types() -> st.SearchStrategy[Type]:
    """Tensors, sequences and structs of them: what leaf code may receive."""
    sequences = st.builds(SequenceType, element_types())
    return st.recursive(
        st.one_of(element_types(), sequences), struct_types, max_leaves=3
    )


def federated_types() -> st.SearchStrategy[FederatedType]:
    """Data at either placement, equal everywhere or not."""
    placements = st.sampled_from([CLIENTS, SERVER])
    return st.builds(FederatedType, data_types(), placements, st.booleans())


def value_types() -> st.SearchStrategy[Type]:
    """All types that have values which are no functions."""
    leaves = st.one_of(data_types(), federated_types(), st.just(PlacementType()))
    return st.recursive(leaves, struct_types, max_leaves=3)


def types() -> st.SearchStrategy[Type]:
    """All types."""
    labels = st.sampled_from(["T", "U"]).map(AbstractType)

    def bigger(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
        functions = st.builds(FunctionType, st.one_of(st.none(), inner), inner)
        return st.one_of(functions, struct_types(inner))

    return st.recursive(st.one_of(value_types(), labels), bigger, max_leaves=4)


@st.composite
def value_of(draw: st.DrawFn, type_: Type) -> Any:
    """A value of a type, as Python gets it from a computation."""
    match any_type(type_):
        case TensorType() as tensor:
            return draw(_tensor_values(tensor))
        case StructType() as struct:
            pairs = [(name, draw(value_of(t))) for name, t in struct.items()]
            return rebuild(struct.python_container, Struct(pairs))
        case SequenceType(element):
            return draw(st.lists(value_of(element), max_size=MAX_LENGTH))
        case FederatedType(member, _, True):
            return draw(value_of(member))
        case FederatedType(member, _, _):
            return draw(st.lists(value_of(member), max_size=MAX_LENGTH))
        case PlacementType():
            return draw(st.sampled_from([CLIENTS, SERVER]))
        case FunctionType() | AbstractType():
            raise AssertionError(f"{type_} has no plain values")
        case unknown:
            assert_never(unknown)


@st.composite
def wider_types(draw: st.DrawFn, type_: Type) -> Type:
    """A type to which the given one is assignable: sizes forgotten, bits relaxed."""
    match any_type(type_):
        case TensorType(dtype, shape):
            return TensorType(dtype, [draw(st.sampled_from([d, None])) for d in shape])
        case StructType() as struct:
            pairs = [(name, draw(wider_types(t))) for name, t in struct.items()]
            return StructType(pairs)
        case SequenceType(element):
            return SequenceType(draw(wider_types(element)))
        case FunctionType(parameter, result):
            return FunctionType(parameter, draw(wider_types(result)))
        case FederatedType(member, placement, all_equal):
            equal = all_equal and draw(st.booleans())
            return FederatedType(draw(wider_types(member)), placement, equal)
    return type_


def same(left: Any, right: Any) -> bool:
    """Whether two Python values agree in class, dtype, shape and content."""
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray | np.generic):
        return left.dtype == right.dtype and bool(np.array_equal(left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and same(
            list(left.values()), list(right.values())
        )
    if isinstance(left, Struct):
        return left.names() == right.names() and same(list(left), list(right))
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


@st.composite
def _tensor_values(draw: st.DrawFn, type_: TensorType) -> Any:
    sizes = tuple(draw(st.integers(0, 2)) if d is None else d for d in type_.shape)
    if type_.dtype == object:
        flat = draw(st.lists(st.binary(max_size=3), min_size=9, max_size=9))
        array = np.empty(sizes, dtype=object)
        array.reshape(-1)[:] = flat[: array.size]
    else:
        elements = {"allow_nan": False} if type_.dtype.kind == "f" else {}
        array = draw(hnp.arrays(type_.dtype, sizes, elements=elements))
    return array if sizes else array[()]
