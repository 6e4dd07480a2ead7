# SPDX-License-Identifier: Apache-2.0
"""The stand-in that records what your function does with it while it is traced.

`federated_computation.py` hands Values to the body; intrinsics and calls make new ones;
`to_value` turns everything else a body may mention (constants, containers,
computations) into one. A Value never holds data.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any, NoReturn, final

import numpy as np

from fedlearn_edu.errors import FedLearnError, FieldError, TracingError, short_traceback
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.language.computation import Computation, PolymorphicComputation
from fedlearn_edu.language.context_stack import current_tracing_context
from fedlearn_edu.language.messages import values as messages
from fedlearn_edu.structure import Struct
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
from fedlearn_edu.types.containers import private
from fedlearn_edu.types.fields import fields_of

_FOUR = ("add", "subtract", "multiply", "divide")
_OTHERS = {
    **{"**": "pow", "%": "mod", "//": "floordiv", "@": "matmul", "divmod()": "divmod"},
    **{"&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift"},
}
Method = Callable[[Any, Any], Any]


def _operator(name: str) -> tuple[Method, Method]:
    """The methods of an operator: for the left operand, and for the right one."""

    def apply(left: Any, right: Any) -> Any:
        from fedlearn_edu.language import arithmetic  # which is written with Values

        return getattr(arithmetic, name)(left, right)

    return apply, lambda right, left: apply(left, right)


def _elsewhere(sign: str) -> Callable[..., NoReturn]:
    @short_traceback
    def refuse(self: "Operators", *_: object) -> NoReturn:
        raise self.elsewhere(sign)

    return refuse


class Operators:
    """The operators are `+ - * /` and signs; `elsewhere` is the error for others."""

    __slots__ = ()

    def elsewhere(self, sign: str) -> Exception:
        """The error for another operator."""
        raise NotImplementedError

    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("subtract")
    __mul__, __rmul__ = _operator("multiply")
    __truediv__, __rtruediv__ = _operator("divide")

    def __pos__(self) -> Any:
        return self

    def __neg__(self) -> Any:
        return 0 - self

    __invert__, __abs__ = _elsewhere("~"), _elsewhere("abs()")


for _sign, _name in _OTHERS.items():
    setattr(Operators, f"__{_name}__", _elsewhere(_sign))
    setattr(Operators, f"__r{_name}__", _elsewhere(_sign))


@final
class Value(Operators):
    """Something that will be computed when the program runs."""

    __slots__ = ("node", "type_signature")
    node: ir.Node
    type_signature: Type

    def __init__(self, node: ir.Node) -> None:
        self.node = node
        self.type_signature = node.type

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
            raise messages.no_field(self, name, fields)
        return self._select(position)

    def __getitem__(self, key: int | str | slice) -> "Value":
        fields = self._structure("[]")
        match key:
            case str():
                return self.__getattr__(key)
            case slice() if isinstance(self.type_signature, FederatedType):
                return self._select(key)
            case slice():
                parts = [self._select(i) for i in range(len(fields))[key]]
                names = fields.names()[key]
                return to_value(Struct(zip(names, parts, strict=True)))
            case int() if 0 <= key < len(fields):
                return self._select(key)
            case _:
                raise messages.no_field(self, key, fields)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls a function value."""
        if not isinstance(self.type_signature, FunctionType):
            raise messages.no_function(self)
        return Computation(self.node, to_text(self.node))(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        # NB(TFF): there, `==` compares Python objects, and is False without a word.
        if self is other:
            return True
        raise self._not_computed(*messages.COMPARED)

    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc: Any, *args: Any, **_: Any) -> "Value":
        """`+ - * /` of a NumPy number and a value; NumPy asks here first."""
        if args[0] != "__call__" or ufunc.__name__ not in _FOUR:
            problem, use = "NumPy cannot compute with a value yet", "NumPy code on"
            do = f"move np.{ufunc.__name__} into an np_computation, and call that"
            raise self._not_computed(problem, use, do)
        apply, _reflected = _operator(ufunc.__name__)
        result: Value = apply(*args[1:])
        return result

    def __setattr__(self, name: str, value: object) -> None:
        if name not in Value.__slots__:
            raise messages.unchangeable(self, f"{name} = …", FieldError)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise messages.unchangeable(self, f"del {name}", FieldError)

    def __setitem__(self, key: object, value: object) -> None:
        raise messages.unchangeable(self, f"[{key!r}] = …", TracingError)

    def elsewhere(self, sign: str) -> FedLearnError:
        """The error for an operator that the language does not have."""
        return self._not_computed(f"{sign} is no operation of values", f"{sign} on")

    __round__ = _elsewhere("round()")

    def _not_computed(self, problem: str, use: str, do: str = "") -> FedLearnError:
        context = current_tracing_context()
        in_body = context is not None and context.has_values
        return messages.not_computed_yet(self, problem, use, do, in_body=in_body)

    def _structure(self, use: str) -> StructType:
        fields = _fields(self.type_signature)
        if fields is None:
            raise messages.no_parts(self, use)
        return fields

    def _select(self, key: int | slice) -> "Value":
        if isinstance(self.type_signature, FederatedType):
            from fedlearn_edu.language.mapping import select  # written with Values

            return select(self, key)
        assert isinstance(key, int)
        if isinstance(self.node, ir.Struct):
            return Value(self.node.elements[key][1])
        return Value(ir.Selection(self.node, key))


def _unsupported(problem: str, use: str, do: str) -> Callable[..., NoReturn]:
    def refuse(self: Value, *_: object, **__: object) -> NoReturn:
        raise self._not_computed(problem, use, do)

    return refuse


for _name, _texts in messages.UNSUPPORTED.items():
    setattr(Value, _name, _unsupported(*_texts))


def _fields(type_: Type) -> StructType | None:
    inner = type_.member if isinstance(type_, FederatedType) else type_
    return inner if isinstance(inner, StructType) else None


def structure_like(type_: StructType, values: Iterable[Value]) -> Value:
    """A structure of values with the names and the container of a type."""
    pairs = zip(type_.names(), values, strict=True)
    nodes = tuple((name, value.node) for name, value in pairs)
    return Value(ir.Struct(nodes, type_.python_container))


def map_leaves(fn: Callable[..., Value], *values: Value) -> Value:
    """`fn` of the leaves at each place of a structure; a scalar meets all of them."""
    types = [value.type_signature for value in values]
    whole = next((type_ for type_ in types if isinstance(type_, StructType)), None)
    if whole is None:
        return fn(*values)
    sides = (
        value if isinstance(type_, StructType) else repeat(value)
        for value, type_ in zip(values, types, strict=True)
    )
    return structure_like(whole, map(lambda *parts: map_leaves(fn, *parts), *sides))


def to_value(
    arg: Any, type_spec: Type | None = None, parameter_hint: Type | None = None
) -> Value:
    """Makes a Value of anything that a federated body may mention.

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
            if hint is None:
                raise messages.no_type_yet(arg)
            return Value(arg.concretize(hint).tree)
        case Placement():
            return Value(ir.PlacementLiteral(arg))
        case list() | tuple() if isinstance(type_spec, SequenceType):
            return _constant(arg, type_spec)
        case str() | bytes() | bool() | int() | float() | complex():
            return _constant(arg, infer_type(arg))
        case np.ndarray() | np.generic():
            return _constant(arg, infer_type(arg))
    # The order of fields matters, and that of a plain dict has no meaning.
    ordered = not isinstance(arg, Mapping) or isinstance(arg, OrderedDict)
    fields = fields_of(arg) if ordered else None
    if fields is None:
        raise messages.not_a_part(arg)
    nodes = tuple((name, to_value(part).node) for name, part in fields.pairs)
    return Value(ir.Struct(nodes, fields.container))


def _constant(arg: Any, type_: Type | None) -> Value:
    assert type_ is not None
    return Value(ir.Literal(private(normalize(arg, type_)), type_))
