# SPDX-License-Identifier: Apache-2.0
"""What participants hold, outside of any program: made by `place` and by intrinsics.

`place` (in `place.py`) brings Python data to the participants. Intrinsics that are used
outside of a body take and return the same values; a computation takes them for its
parameters, again and again, without converting anything twice. Printing one shows who
holds what.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any, NoReturn, final

import numpy as np

from fedlearn_edu.errors import (
    FedLearnError,
    FieldError,
    TypeMismatchError,
    short_traceback,
)
from fedlearn_edu.language.context_stack import current_tracing_context
from fedlearn_edu.language.eager import run_eagerly
from fedlearn_edu.language.implied import argument
from fedlearn_edu.language.value import Body, Operators, Value, body_around, combined
from fedlearn_edu.signals import add_place
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    CLIENTS,
    FederatedType,
    SequenceType,
    StructType,
    TensorType,
    Type,
    infer_type,
    normalize,
    restore,
)
from fedlearn_edu.types.containers import Placed, private
from fedlearn_edu.types.dtypes import smallest
from fedlearn_edu.types.messages import by_element
from fedlearn_edu.types.packing import pack
from fedlearn_edu.types.sequences import Cached, Members, cache, unwrap

_MAX_ROWS = 10
_MAX_CHARS = 60
_MAX_ITEMS = 4
_DIGITS, _SMALL = 6, 1e-3


@final
class FederatedValue(Placed, Operators):
    """What each participant of a placement holds, to be looked at and used again.

    `len()` and iteration go over the members; `x.name` and `x["name"]` take a field at
    every participant; `+ - * /` work member by member. What is equal everywhere is a
    plain number as `x.value`, and in `float(x)` and `f"{x:.3f}"`; as an argument it is
    held by as many as there are in the data beside it. It equals what would be the same
    data if it were placed in the same way.

    Attributes:
        type_signature: its federated type.
    """

    __array_ufunc__ = None  # so that `np.float32(2) * x` asks this class

    @short_traceback
    def __init__(self, data: Any, type_signature: FederatedType) -> None:
        cached = cache(normalize(data, type_signature, "the value"), type_signature)
        if not isinstance(cached, Members):
            pack((cached,) if type_signature.all_equal else cached)
        self.__dict__.update(type_signature=type_signature, _cached=cached)

    def __setattr__(self, name: str, value: object) -> None:
        raise FieldError(
            "a placed value cannot be changed",
            expected="a new value",
            found=f"{name} = …",
            do="make a new one, by an intrinsic or by place",
        )

    def __setitem__(self, key: object, value: object) -> None:
        do = "make a new one, by an intrinsic or by place"
        raise _misused(self, f"[{key!r}] = …", "a new value", do)

    @property
    def members(self) -> list[Any]:
        """What the participants hold, in order; one entry if all hold the same."""
        if self.type_signature.all_equal:
            return [self.value]
        return list(restore(private(unwrap(self._cached)), self.type_signature))

    @property
    def value(self) -> Any:
        """The one value of a group that holds the same everywhere.

        Raises:
            TypeMismatchError: if the members may differ.
        """
        self._check_one()
        return restore(private(unwrap(self._cached)), self.type_signature)

    def numpy(self) -> Any:
        """The data as arrays: members of equal shapes stacked, the first axis being n.

        Structures stay structures, of stacked arrays. Of one sequence, the elements are
        stacked.

        Raises:
            TypeMismatchError: for many sequences, and for members of different shapes.
        """
        type_, data = self.type_signature.member, unwrap(self._cached)
        if self.type_signature.all_equal:
            if not isinstance(type_, SequenceType):
                return self.value
            type_, data = type_.element, tuple(data)
        return restore(_stacked(data, type_), type_)

    def __iter__(self) -> Iterator[Any]:
        self._check_several("iteration")
        return iter(self.members)

    def __len__(self) -> int:
        self._check_several("len()")
        return len(self._cached)

    def __float__(self) -> float:
        return float(self.value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.numpy(), dtype)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __eq__(self, other: object) -> Any:
        type_ = self.type_signature
        if not isinstance(other, Placed):
            try:
                other = FederatedValue(other, type_)
            except FedLearnError:
                return NotImplemented
        equivalent = type_.is_equivalent_to(other.type_signature)
        return equivalent and _same(unwrap(self._cached), unwrap(other._cached))

    def __getattr__(self, name: str) -> Any:
        # `type_signature` is missing only while a copy or a pickle is being made.
        if name.startswith("__") or name == "type_signature":
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: Any) -> Any:
        member = self.type_signature.member
        names = member.names() if isinstance(member, StructType) else ()
        if isinstance(name, str) and name in names:
            return self._select(names.index(name))
        # A position is one of a field without a name, never one of a client.
        if isinstance(name, int) and name in range(len(names)) and not names[name]:
            return self._select(name)
        raise _no_field(self, name)

    def _select(self, index: int) -> Any:
        def select(value: Any, index: int) -> Value:
            value = argument(value, "federated_map")
            return body_around("federated_map").select(value, index)

        return recorded_or_run("select", select, {"value": self, "index": index})

    def _combine(self, name: str, left: Any, right: Any) -> Any:
        given = {"left": left, "right": right}
        return recorded_or_run(name, partial(combined, name), given)

    def __dir__(self) -> list[str]:
        member = self.type_signature.member
        names = member.names() if isinstance(member, StructType) else ()
        return [*super().__dir__(), *filter(None, names)]

    def __repr__(self) -> str:
        rows = participants(self)
        width = max(len(who) for who, _ in rows)
        lines = [f"  {who:<{width}}  {brief(data)}".rstrip() for who, data in rows]
        return "\n".join([f"<placed {self.type_signature}>", *lines])

    def _refusal(self, sign: str) -> TypeMismatchError:
        do = "write it inside an np_computation, and federated_map that"
        do = by_element(self.type_signature) or do
        return _misused(self, sign, "+ - * / of placed values and numbers", do)

    def _check_one(self) -> None:
        if not self.type_signature.all_equal:
            do = "look at .members"
            raise _misused(self, "several values", "one value", do)

    def _check_several(self, use: str) -> None:
        if self.type_signature.all_equal:
            do = "x.value is the one value that all of them hold"
            wanted = "members that may differ"
            raise _misused(self, f"{use} of one value", wanted, do)


def recorded_or_run(name: str, fn: Callable[..., Value], given: dict[str, Any]) -> Any:
    """Records in a body what `fn` records; outside of bodies it is run.

    Args:
        name: that of the intrinsic.
        fn: what records it.
        given: its arguments, by name.
    """
    in_body = isinstance(current_tracing_context(), Body)
    if in_body or any(isinstance(arg, Value) for arg in given.values()):
        return fn(*given.values())
    return _placed(*run_eagerly(name, fn, given), name)


def _placed(result: Any, type_: Type, name: str) -> Any:
    if inspect.isawaitable(result):
        return _placed_later(result, type_, name)
    if not isinstance(type_, FederatedType):
        return result
    try:
        return FederatedValue(result, type_)
    except FedLearnError as error:
        add_place(error, f"what the context returned for {name}")
        raise


async def _placed_later(result: Awaitable[Any], type_: Type, name: str) -> Any:
    return _placed(await result, type_, name)


def _misused(value: Placed, found: str, expected: str, do: str) -> TypeMismatchError:
    return TypeMismatchError(
        "a placed value cannot be used like this",
        expected=expected,
        found=f"{found}, of a value of type {value.type_signature}",
        do=do,
    )


def _no_field(value: Placed, key: object) -> FieldError:
    member = value.type_signature.member
    names = member.names() if isinstance(member, StructType) else ()
    do = "x.members shows what the participants hold"
    if isinstance(key, int):
        do = f"what client {key} holds is x.members[{key}]"
    if isinstance(key, int) and value.type_signature.all_equal:
        do = f"look into the one value: x.value[{key}]"
    return FieldError(
        "a placed value has no such field",
        expected=", ".join(filter(None, names)) or f"no field: it holds {member}",
        found=repr(key),
        do=do,
    )


def _not_stackable(found: str) -> TypeMismatchError:
    return TypeMismatchError(
        "these members do not fit into one array",
        expected="tensors of equal shapes, or structures of them",
        found=found,
        do="look at them one by one: x.members",
    )


_OF_NUMBERS = {
    **{"int": "int()", "index": "an index", "round": "round()"},
    **{"bool": "`if`, `and`, `or` or `not`"},
    **{"lt": "<", "le": "<=", "gt": ">", "ge": ">="},
}


def _refused(use: str) -> Callable[..., NoReturn]:
    @short_traceback
    def refuse(self: FederatedValue, *_: object) -> NoReturn:
        self._check_one()
        do = "take the number: x.value"
        raise _misused(self, use, "a plain number", do)

    return refuse


for _name, _use in _OF_NUMBERS.items():
    setattr(FederatedValue, f"__{_name}__", _refused(_use))


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, np.ndarray | np.generic | bytes):
        return np.array_equal(left, right)
    ours, theirs = tuple(left), tuple(right)
    return len(ours) == len(theirs) and all(map(_same, ours, theirs))


def _stacked(members: Any, type_: Type) -> Any:
    match type_:
        case TensorType():
            shapes = {np.shape(member) for member in members}
            if len(shapes) > 1:
                raise _not_stackable(f"{type_} of different sizes")
            if not shapes:
                return np.zeros([0, *smallest(type_.shape)], type_.dtype)
            return np.array(members, type_.dtype)
        case StructType():
            columns = enumerate(type_.items())
            return Struct(
                (name, _stacked([m[i] for m in members], t)) for i, (name, t) in columns
            )
        case _:
            raise _not_stackable(str(type_))


# ------------------------------------------------------------------------------- text


def participants(placed: Placed) -> list[tuple[str, Any]]:
    """Pairs of participant and data; the middle of a long group is left out.

    A remark in the place of data is a `str`, which plain data never are.
    """
    type_ = placed.type_signature
    noun = "client" if type_.placement is CLIENTS else "server"
    if type_.all_equal:
        return [("every client" if noun == "client" else noun, placed._cached)]
    members = placed._cached
    if not members:
        return [(f"no {noun}", "")]
    if isinstance(members, Members):  # to look at one would make it here
        members = ["made where it is needed"] * len(members)
    rows = [(f"{noun} {i}", members[i]) for i in range(min(len(members), _MAX_ROWS))]
    if len(members) > _MAX_ROWS:
        rows[-2] = ("…", f"({len(members) - _MAX_ROWS + 1} more)")
        rows[-1] = (f"{noun} {len(members) - 1}", members[-1])
    return rows


def brief(plain: Any, *, inside: bool = False) -> str:
    """Plain data in a few words, fewer `inside` of other data.

    >>> brief(np.ones([100, 10], np.float32))
    'float32[100,10]: 1.0, 1.0, 1.0, 1.0, …'
    """
    text = " ".join(_text(plain, inside=inside).split())
    if len(text) <= _MAX_CHARS:
        return text
    head, comma, _ = text[: _MAX_CHARS - 2].rpartition(", ")
    return f"{head}, …" if comma else f"{text[: _MAX_CHARS - 1]}…"


def _text(plain: Any, *, inside: bool) -> str:
    match plain:
        case Cached():
            return _text(plain.plain, inside=inside)
        case Struct():
            parts = [(name, _text(part, inside=True)) for name, part in plain.items()]
            fields = (f"{name}={text}" if name else text for name, text in parts)
            return f"<{', '.join(fields)}>"
        case tuple() if inside:
            return f"[{_some(plain)}]"
        case tuple():
            count = f"{len(plain)} element" + "s" * (len(plain) != 1)
            return f"{count}: {_some(plain)}" if plain else count
        case np.ndarray() if inside and plain.ndim == 1:
            return f"[{_some(plain)}]"
        case np.ndarray():
            values = "" if inside else f": {_some(plain.flat)}"
            return f"{infer_type(plain)}{values if plain.size else ''}"
        case bytes():
            return repr(plain)
        case np.floating() if inside and abs(plain) > _SMALL:
            return str(round(float(plain), _DIGITS))
        case str() | np.generic():
            return str(plain)
        case _:
            return "a sequence that is read when it is needed"


def _some(items: Any) -> str:
    first = [_text(items[i], inside=True) for i in range(min(len(items), _MAX_ITEMS))]
    return ", ".join(first) + (", …" if len(items) > _MAX_ITEMS else "")
