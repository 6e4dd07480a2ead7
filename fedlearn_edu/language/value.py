# SPDX-License-Identifier: Apache-2.0
"""The stand-in that records what your function does with it while it is traced.

`federated.py` hands Values to the body; intrinsics and calls make new ones; `to_value`
turns everything else a body may mention (constants, containers, computations) into one.
A Value never holds data.
"""

import dataclasses
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any, final

import numpy as np

from fedlearn_edu import structure
from fedlearn_edu.errors import TracingError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.language.arguments import private
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.decorator import PolymorphicComputation
from fedlearn_edu.language.unsupported_operations import Refusals, not_a_part
from fedlearn_edu.types import (
    FederatedType,
    FunctionType,
    Placement,
    SequenceType,
    StructType,
    Type,
    infer_type,
    normalize,
)

# What `v + w`, `v.field` of a federated structure and so on mean is said on the floor
# of the intrinsics; they register it here, because imports go down only.
Method = Callable[["Value", Any], "Value"]
OPERATORS: dict[str, Callable[..., "Value"]] = {}


def operator(name: str) -> Callable[[Callable[..., "Value"]], Callable[..., "Value"]]:
    """Registers the meaning of one of Python's operators on Values."""

    def register(fn: Callable[..., "Value"]) -> Callable[..., "Value"]:
        OPERATORS[name] = fn
        return fn

    return register


def _operator_methods(name: str) -> tuple[Method, Method]:
    def forward(self: "Value", other: Any) -> "Value":
        return OPERATORS[name](self, other)

    def reflected(self: "Value", other: Any) -> "Value":
        return OPERATORS[name](other, self)

    return forward, reflected


@final
class Value(Refusals):
    """Something that will be computed when the program runs."""

    __slots__ = ("node", "type_signature")

    def __init__(self, node: ir.Node) -> None:
        self.node = node
        self.type_signature: Type = node.type

    def __repr__(self) -> str:
        return f"<value {to_text(self.node)}: {self.type_signature}>"

    def __str__(self) -> str:
        return to_text(self.node)

    def __dir__(self) -> list[str]:
        fields = _fields(self.type_signature)
        names = [name for name in fields.names() if name] if fields is not None else []
        return [*names, "type_signature", "node"]

    def __len__(self) -> int:
        return len(self._structure("len()"))

    def __iter__(self) -> Iterator["Value"]:
        return (self[i] for i in range(len(self._structure("iteration"))))

    def __getattr__(self, name: str) -> "Value":
        if name.startswith("__"):
            raise AttributeError(name)
        fields = _fields(self.type_signature)
        position = None if fields is None else fields.position_of(name)
        if position is None:
            raise self.no_field(name, fields)
        return self._select(position)

    def __getitem__(self, key: int | str | slice) -> "Value":
        fields = self._structure("[]")
        match key:
            case str():
                return self.__getattr__(key)
            case slice() if isinstance(self.type_signature, FederatedType):
                return OPERATORS["select"](self, key)
            case slice():
                picked = fields.items()[key]
                offsets = range(len(fields))[key]
                pairs = [
                    (n, self._select(i))
                    for (n, _), i in zip(picked, offsets, strict=True)
                ]
                return to_value(structure.Struct(pairs))
            case int() if 0 <= key < len(fields):
                return self._select(key)
            case _:
                raise self.no_field(key, fields)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls a function value."""
        if not isinstance(self.type_signature, FunctionType):
            raise self.no_function()
        return Computation(self.node, to_text(self.node))(*args, **kwargs)

    __add__, __radd__ = _operator_methods("add")
    __sub__, __rsub__ = _operator_methods("subtract")
    __mul__, __rmul__ = _operator_methods("multiply")
    __truediv__, __rtruediv__ = _operator_methods("divide")

    def __array_ufunc__(self, ufunc: Any, *args: Any, **_: Any) -> "Value":
        """`+ - * /` of a NumPy number and a value; NumPy asks here first."""
        if args[0] != "__call__" or ufunc.__name__ not in OPERATORS:
            do = f"move np.{ufunc.__name__} into an np_computation, and call that"
            raise self.refused(
                "NumPy cannot compute with a value yet", "NumPy code on", do
            )
        return OPERATORS[ufunc.__name__](*args[1:])

    def _structure(self, use: str) -> StructType:
        fields = _fields(self.type_signature)
        if fields is None:
            raise self.no_parts(use)
        return fields

    def _select(self, index: int) -> "Value":
        if isinstance(self.type_signature, FederatedType):
            return OPERATORS["select"](self, index)
        if isinstance(self.node, ir.Struct):
            return Value(self.node.elements[index][1])
        return Value(ir.Selection(self.node, index))


def _fields(type_: Type) -> StructType | None:
    inner = type_.member if isinstance(type_, FederatedType) else type_
    return inner if isinstance(inner, StructType) else None


def structure_like(type_: StructType, values: Iterable[Value]) -> Value:
    """A structure of values with the names and the container of a type."""
    pairs = zip(type_.names(), values, strict=True)
    nodes = tuple((name, value.node) for name, value in pairs)
    return Value(ir.Struct(nodes, type_.python_container))


def fieldwise(fn: Callable[[Value, Value], Value], left: Value, right: Value) -> Value:
    """`fn` of each field of one with that of the other, or with the scalar it is."""
    types = (left.type_signature, right.type_signature)
    type_ = next(t for t in types if isinstance(t, StructType))
    sides = (
        v if isinstance(t, StructType) else repeat(v)
        for v, t in zip((left, right), types, strict=True)
    )
    return structure_like(type_, map(fn, *sides))


def to_value(
    arg: Any, type_spec: Type | None = None, parameter_hint: Type | None = None
) -> Value:
    """Makes a Value of whatever may be mentioned in a federated body.

    Args:
        arg: a Value, a computation, a constant, or a container of these.
        type_spec: the wanted type, where the place of use knows it.
        parameter_hint: what a polymorphic computation will be called with.
    """
    value = _convert(arg, type_spec, parameter_hint)
    if type_spec is not None:
        type_spec.check_assignable_from(value.type_signature, where=str(value))
    return value


def _convert(arg: Any, type_spec: Type | None, hint: Type | None) -> Value:
    match arg:
        case Value():
            return arg
        case Computation():
            return Value(arg.tree)
        case PolymorphicComputation():
            return Value(_concretize(arg, hint).tree)
        case Placement():
            return Value(ir.PlacementLiteral(arg))
        case list() | tuple() if isinstance(type_spec, SequenceType):
            plain = private(normalize(arg, type_spec))
            return Value(ir.Literal(plain, type_spec))
        case str() | bytes() | bool() | int() | float() | complex():
            return _constant(arg)
        case np.ndarray() | np.generic():
            return _constant(arg)
        case _:
            elements, container = _elements(arg)
            converted = ((n, to_value(e).node) for n, e in elements)
            return Value(ir.Struct(tuple(converted), container))


def _constant(arg: Any) -> Value:
    type_ = infer_type(arg)
    assert type_ is not None
    return Value(ir.Literal(private(normalize(arg, type_)), type_))


def _concretize(poly: PolymorphicComputation, hint: Type | None) -> Computation:
    if hint is None:
        raise TracingError(
            f"the type of {poly.__name__} is not known here",
            expected="a computation with types",
            found=repr(poly),
            do="decorate it with the type of its parameter",
        )
    return poly.concretize(hint)


def _elements(arg: Any) -> tuple[tuple[tuple[str | None, Any], ...], type | None]:
    match arg:
        case structure.Struct():
            return arg.items(), None
        case OrderedDict():
            return tuple(arg.items()), OrderedDict
        case tuple() if hasattr(arg, "_fields"):
            return tuple(zip(arg._fields, arg, strict=True)), type(arg)
        case tuple() | list():
            return tuple((None, element) for element in arg), type(arg)
        case Mapping():
            raise not_a_part(arg)
    if dataclasses.is_dataclass(arg) and not isinstance(arg, type):
        fields = ((f.name, getattr(arg, f.name)) for f in dataclasses.fields(arg))
        return tuple(fields), type(arg)
    attributes = getattr(type(arg), "__attrs_attrs__", None)
    if attributes is not None:
        return tuple((a.name, getattr(arg, a.name)) for a in attributes), type(arg)
    raise not_a_part(arg)
