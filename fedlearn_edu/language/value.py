# SPDX-License-Identifier: Apache-2.0
"""The stand-in that records what your function does with it while it is traced.

`federated_computation.py` hands Values to the body; intrinsics and calls make new ones;
`to_value` turns everything else a body may mention (constants, containers,
computations) into one. A Value never holds data, and records nothing itself: it asks
the `Body` that is being traced.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any, NoReturn, final

import numpy as np

from fedlearn_edu.errors import FedLearnError, FieldError, TracingError, short_traceback
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.language import messages
from fedlearn_edu.language.computation import Computation, PolymorphicComputation
from fedlearn_edu.language.context_stack import TracingContext, current_tracing_context
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
from fedlearn_edu.types.messages import clip

_FOUR = ("add", "subtract", "multiply", "divide")
_OTHERS = {
    **{"**": "pow", "%": "mod", "//": "floordiv", "@": "matmul", "divmod()": "divmod"},
    **{"&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift"},
}
Method = Callable[[Any, Any], Any]
ANYWHERE = (
    "decorate a function with its types and call it there; "
    "leaf code uses the operations of NumPy or TensorFlow"
)


def _operator(name: str) -> tuple[Method, Method]:
    """The methods of an operator: for the left operand, and for the right one."""

    @short_traceback
    def of_left(self: "Operators", right: Any) -> Any:
        return self._combine(name, self, right)

    @short_traceback
    def of_right(self: "Operators", left: Any) -> Any:
        return self._combine(name, left, self)

    return of_left, of_right


def _refused(sign: str) -> Callable[..., NoReturn]:
    @short_traceback
    def refuse(self: "Operators", *_: object) -> NoReturn:
        raise self._refusal(sign)

    return refuse


class Operators(ABC):
    """The operators of the language, `+ - * /` and signs; all others are refused."""

    __slots__ = ()

    @abstractmethod
    def _combine(self, name: str, left: Any, right: Any) -> Any:
        """Applies an operator; this is one of its operands."""

    @abstractmethod
    def _refusal(self, sign: str) -> Exception:
        """The error for an operator that the language does not have."""

    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("subtract")
    __mul__, __rmul__ = _operator("multiply")
    __truediv__, __rtruediv__ = _operator("divide")

    def __pos__(self) -> Any:
        return self

    def __neg__(self) -> Any:
        return 0 - self

    __invert__, __abs__ = _refused("~"), _refused("abs()")


for _sign, _name in _OTHERS.items():
    setattr(Operators, f"__{_name}__", _refused(_sign))
    setattr(Operators, f"__r{_name}__", _refused(_sign))


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
            raise messages.no_field(self.node, name, fields)
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
                raise messages.no_field(self.node, key, fields)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls a function value."""
        if not isinstance(self.type_signature, FunctionType):
            raise TracingError(
                "only functions can be called",
                expected="a value of a type such as (int32 -> int32)",
                found=self.type_signature,
                where=clip(self),
                do="this is data: give it to a computation, or drop the parentheses",
            )
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
        return self._combine(ufunc.__name__, *args[1:])

    def __setattr__(self, name: str, value: object) -> None:
        if name not in Value.__slots__:
            raise messages.unchangeable(self.node, f"{name} = …", FieldError)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise messages.unchangeable(self.node, f"del {name}", FieldError)

    def __setitem__(self, key: object, value: object) -> None:
        raise messages.unchangeable(self.node, f"[{key!r}] = …", TracingError)

    def _combine(self, name: str, left: Any, right: Any) -> "Value":
        return combined(name, left, right)

    def _refusal(self, sign: str) -> FedLearnError:
        return self._not_computed(f"{sign} is no operation of values", f"{sign} on")

    __round__ = _refused("round()")

    def _not_computed(self, problem: str, use: str, do: str = "") -> FedLearnError:
        in_body = isinstance(current_tracing_context(), Body)
        return messages.not_computed_yet(self.node, problem, use, do, in_body=in_body)

    def _structure(self, use: str) -> StructType:
        fields = _fields(self.type_signature)
        if fields is None:
            raise messages.no_parts(self.node, use)
        return fields

    def _select(self, key: int | slice) -> "Value":
        if isinstance(self.type_signature, FederatedType):
            return body_around("federated_map").select(self, key)
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


class Body(TracingContext):
    """The body that is being traced: it records what is done with Values."""

    @abstractmethod
    def bind(self, node: ir.Node, name: str | None = None, what: str = "this") -> Value:
        """Gives `node` a name, and returns its stand-in; `what` is for errors."""

    @abstractmethod
    def select(self, value: Value, key: int | slice) -> Value:
        """A field of a federated structure, or several; keeps the all-equal bit."""

    @abstractmethod
    def combine(self, name: str, left: Any, right: Any) -> Value:
        """What `+ - * /` mean: work on members and on numbers, leaf by leaf."""


def body_around(what: str, do: str = ANYWHERE) -> Body:
    """The body that records `what`, or an error that says where it may be used."""
    context = current_tracing_context()
    if not isinstance(context, Body):
        raise messages.outside_of_bodies(what, do)
    return context


def combined(name: str, left: Any, right: Any) -> Value:
    """What an operator of the language means in a body."""
    do = "in leaf code, make the value a parameter and pass it in the call"
    return body_around(f"the operator {name!r} of values", do).combine(
        name, left, right
    )


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
    arg: Any, wanted: Type | None = None, parameter_hint: Type | None = None
) -> Value:
    """Makes a Value of anything that a federated body may mention.

    Args:
        arg: a Value, a computation, a constant, or a container of these.
        wanted: the type at the place of use: a list may become a sequence.
        parameter_hint: what a polymorphic computation will be called with.
    """
    match arg:
        case Value():
            return arg
        case Computation():
            return Value(arg.tree)
        case PolymorphicComputation():
            if parameter_hint is None:
                raise TracingError(
                    f"the type of {arg.__name__} is not known here",
                    expected="a computation with types",
                    found=repr(arg),
                    do="decorate it with the type of its parameter",
                )
            return Value(arg.fn_for_argument_type(parameter_hint).tree)
        case Placement():
            return Value(ir.PlacementLiteral(arg))
        case list() | tuple() if isinstance(wanted, SequenceType):
            return _constant(arg, wanted)
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
