# SPDX-License-Identifier: Apache-2.0
"""Data that will be used again and again: converted once by each runtime.

`place` keeps what it is given; contexts pass it on as it is. Only the bottom of a stack
looks inside, and leaves there what it made of it, for the next call.
"""

from abc import ABC
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.errors import CardinalityError, TypeMismatchError
from fedlearn_edu.structure import Struct
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.data_types import StructType
from fedlearn_edu.types.definitions import FederatedType, SequenceType
from fedlearn_edu.types.mismatch import ZIP, clip, misfit
from fedlearn_edu.types.placements import Placement
from fedlearn_edu.types.plain import DatasetSequence, LazySequence


@final
class Kept:
    """A tensor or a sequence, with all the forms it has been brought into so far."""

    __slots__ = ("__weakref__", "_forms", "plain")

    def __init__(self, plain: Any) -> None:
        self.plain = plain
        self._forms: dict[Hashable, Any] = {}

    def __iter__(self) -> Iterator[Any]:
        return iter(self.plain)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Kept, (self.plain,))

    def form(self, key: Hashable, make: Callable[[Any], Any]) -> Any:
        """What `make` makes of the plain data; made once for each `key`."""
        if key not in self._forms:
            self._forms[key] = make(released(self.plain))
        return self._forms[key]


class Placed(ABC):
    """A federated value outside of any program; `FederatedValue` is the one kind.

    Attributes:
        type_signature: its federated type.
        kept: its plain form (see `containers.py`), made of `Kept` parts.
    """

    type_signature: FederatedType
    kept: Any


@final
@dataclass(frozen=True, repr=False)
class Uncounted:
    """The members of a group who hold the same value, until somebody counts them."""

    plain: Any
    placement: Placement
    refusal: TypeMismatchError

    def __iter__(self) -> Iterator[Any]:
        raise self.refusal

    def __repr__(self) -> str:
        return f"<one value for everybody at {self.placement}>"


def kept(plain: Any, type_: Any) -> Any:
    """The same plain data, to be converted once; what is lazy stays so."""
    match type_:
        case FederatedType(member, _, all_equal):
            each = kept(plain, member) if all_equal else None
            return each if all_equal else tuple(kept(one, member) for one in plain)
        case StructType():
            pairs = zip(type_.items(), plain, strict=True)
            return Struct((name, kept(part, t)) for (name, t), part in pairs)
        case SequenceType(element):
            if isinstance(plain, LazySequence) and plain.once:
                plain = tuple(plain)
            if not isinstance(plain, tuple):
                return plain
            return Kept(tuple(kept(item, element) for item in plain))
        case _:
            return Kept(plain)


def plain_of_placed(value: Placed, type_: Type, path: str) -> Any:
    """The plain form of a placed value, for a parameter of type `type_`."""
    found, problem, cure = value.type_signature, "", ""
    if found.all_equal and type_.is_assignable_from(found.member):
        problem = "a value without a placement is needed"
        cure = "take the value out of its placement: x.value"
    elif "[client" in path:
        problem = "an entry of a list for the clients is placed already"
        cure = f"the list holds what each client has; {ZIP}"
    if problem:
        raise misfit(problem, clip(type_), clip(found), path, cure)
    type_.check_assignable_from(found, where=path)
    if isinstance(type_, FederatedType) and found.all_equal and not type_.all_equal:
        problem = "nobody knows how many clients hold this value"
        cure = (
            "pass data with one entry per client, place([…, …], CLIENTS), beside it; "
            "or say the number: local_executor_factory(default_num_clients=3)"
        )
        refusal = misfit(problem, clip(type_), clip(found), path, cure)
        return Uncounted(value.kept, found.placement, refusal)
    return value.kept


def one_of(members: Sequence[Any], type_: Type) -> Any:
    """The one value of an all-equal group: its first member's.

    Raises:
        CardinalityError: if the group is empty.
    """
    if not members:
        raise CardinalityError(
            "a value that is equal at all clients has no holder: 0 clients",
            expected="at least one client",
            found=str(type_),
            do="pass default_num_clients to the executor factory",
        )
    return members[0]


def length_of(sequence: Any) -> int | None:
    """How many elements a sequence in plain form has, if that is known unread."""
    match sequence:
        case Kept(plain=plain):
            return length_of(plain)
        case tuple():
            return len(sequence)
        case LazySequence(length=length):
            return length
        case DatasetSequence(dataset=dataset):
            count = int(dataset.cardinality())
            return None if count < 0 else count
    return None


def released(data: Any) -> Any:
    """Plain data that holds no `Kept` any more."""
    match data:
        case Kept(plain=plain):
            return released(plain)
        case Struct():
            return data.map(released)
        case tuple():
            return tuple(map(released, data))
        case _:
            return data
