# SPDX-License-Identifier: Apache-2.0
"""What participants hold, outside of any program: made by `place` and by intrinsics.

Intrinsics that are used outside of a body take and return these; a computation takes
them for its parameters, again and again, without converting anything twice.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np

from fedlearn_edu.errors import (
    FedLearnError,
    FieldError,
    TypeMismatchError,
    short_traceback,
)
from fedlearn_edu.language.arguments import private
from fedlearn_edu.language.formatting import brief, participants
from fedlearn_edu.language.unsupported_operations import FourOperators
from fedlearn_edu.language.value import OPERATORS
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    FederatedType,
    Placed,
    SequenceType,
    StructType,
    TensorType,
    Type,
    kept,
    normalize,
    released,
    restore,
)
from fedlearn_edu.types.dtypes import smallest
from fedlearn_edu.types.relations import by_element


def _operator(name: str) -> Callable[["FederatedValue", Any], Any]:
    def apply(self: "FederatedValue", other: Any) -> Any:
        return OPERATORS[name](self, other)

    return apply


def _comparison(name: str) -> Callable[["FederatedValue", Any], Any]:
    def compare(self: "FederatedValue", other: Any) -> Any:
        return getattr(operator, name)(self.value, other)

    return compare


def _reflected(name: str) -> Callable[["FederatedValue", Any], Any]:
    def apply(self: "FederatedValue", other: Any) -> Any:
        return OPERATORS[name](other, self)

    return apply


@final
class FederatedValue(Placed, FourOperators):
    """What each participant of a placement holds, to be looked at and used again.

    `len()` and iteration go over the members; `x.name` and `x["name"]` take a field at
    every participant; `+ - * /` work member by member. What is equal everywhere can be
    used as the number it is: `float(x)`, `round(x)`, `x < 2`, `f"{x:.3f}"`; as an
    argument it is held by as many as there are in the data beside it. It equals what
    would be the same data if it were placed in the same way.

    Attributes:
        type_signature: its federated type.
    """

    __array_ufunc__ = None  # so that `np.float32(2) * x` asks this class

    @short_traceback
    def __init__(self, data: Any, type_signature: FederatedType) -> None:
        plain = private(normalize(data, type_signature, "the value"))
        state = {"type_signature": type_signature, "kept": kept(plain, type_signature)}
        self.__dict__.update(state)

    def __setattr__(self, name: str, value: object) -> None:
        raise FieldError(
            "a placed value cannot be changed",
            expected="a new value",
            found=f"{name} = …",
            do="make a new one, by an intrinsic or by place",
        )

    def __setitem__(self, key: object, value: object) -> None:
        do = "make a new one, by an intrinsic or by place"
        raise self._refused(f"[{key!r}] = …", "a new value", do)

    @property
    def members(self) -> list[Any]:
        """What the participants hold, in order; one entry if all hold the same."""
        if self.type_signature.all_equal:
            return [self.value]
        return list(restore(private(released(self.kept)), self.type_signature))

    @property
    def value(self) -> Any:
        """The one value of a group that holds the same everywhere.

        Raises:
            TypeMismatchError: if the members may differ.
        """
        if not self.type_signature.all_equal:
            raise self._refused("several values", "one value", "look at .members")
        return restore(private(released(self.kept)), self.type_signature)

    def numpy(self) -> Any:
        """The data as arrays: members of equal shapes stacked, the first axis being n.

        Structures stay structures, of stacked arrays. Of one sequence, the elements are
        stacked.

        Raises:
            TypeMismatchError: for many sequences, and for members of different shapes.
        """
        type_, data = self.type_signature.member, released(self.kept)
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
        return len(self.kept)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __round__(self, *digits: int) -> Any:
        return round(self.value, *digits)

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
        return equivalent and _same(released(self.kept), released(other.kept))

    __lt__, __le__ = _comparison("lt"), _comparison("le")
    __gt__, __ge__ = _comparison("gt"), _comparison("ge")

    __add__, __radd__ = _operator("add"), _reflected("add")
    __sub__, __rsub__ = _operator("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _operator("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _operator("divide"), _reflected("divide")

    def __getattr__(self, name: str) -> Any:
        # `type_signature` is missing only while a copy or a pickle is being made.
        if name.startswith("__") or name == "type_signature":
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: Any) -> Any:
        member = self.type_signature.member
        names = member.names() if isinstance(member, StructType) else ()
        if isinstance(name, str) and name in names:
            return OPERATORS["select"](self, names.index(name))
        # A position is one of a field without a name, never one of a client.
        if isinstance(name, int) and name in range(len(names)) and not names[name]:
            return OPERATORS["select"](self, name)
        do = "x.members shows what the participants hold"
        if isinstance(name, int):
            do = f"what client {name} holds is x.members[{name}]"
        if isinstance(name, int) and self.type_signature.all_equal:
            do = f"look into the one value: x.value[{name}]"
        raise FieldError(
            "a placed value has no such field",
            expected=", ".join(filter(None, names)) or f"no field: it holds {member}",
            found=repr(name),
            do=do,
        )

    def __dir__(self) -> list[str]:
        member = self.type_signature.member
        names = member.names() if isinstance(member, StructType) else ()
        return [*super().__dir__(), *filter(None, names)]

    def __repr__(self) -> str:
        rows = participants(self)
        width = max(len(who) for who, _ in rows)
        lines = [f"  {who:<{width}}  {brief(data)}".rstrip() for who, data in rows]
        return "\n".join([f"<placed {self.type_signature}>", *lines])

    def elsewhere(self, sign: str) -> TypeMismatchError:
        """The error for an operator that works on plain values only."""
        do = "write it inside an np_computation, and federated_map that"
        do = by_element(self.type_signature) or do
        return self._refused(sign, "+ - * / of placed values and numbers", do)

    def _check_several(self, use: str) -> None:
        if self.type_signature.all_equal:
            do = "x.value is the one value that all of them hold"
            raise self._refused(f"{use} of one value", "members that may differ", do)

    def _refused(self, found: str, expected: str, do: str) -> TypeMismatchError:
        return TypeMismatchError(
            "a placed value cannot be used like this",
            expected=expected,
            found=f"{found}, of a value of type {self.type_signature}",
            do=do,
        )


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


def _not_stackable(found: str) -> TypeMismatchError:
    return TypeMismatchError(
        "these members do not fit into one array",
        expected="tensors of equal shapes, or structures of them",
        found=found,
        do="look at them one by one: x.members",
    )
