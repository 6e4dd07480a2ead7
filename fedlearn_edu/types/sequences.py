# SPDX-License-Identifier: Apache-2.0
"""The forms of a sequence on its way to a leaf; and data that are converted only once.

    list, array, iterator               a tuple, checked and read now
    generator function, sequence_map    `LazySequence`, read anew by each reader
    tf.data.Dataset                     `DatasetSequence`, as it was passed
    what `place` made of a list         `Cached`, around a tuple

A NumPy body sees a `SequenceList`, a graph what `runtimes/tensorflow/sequences.py`
makes. The bottom of a stack stores its form of `Cached` data in them for later calls.
"""

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedlearn_edu.errors import (
    ExhaustedError,
    FedLearnError,
    FieldError,
    TypeMismatchError,
    describe,
)
from fedlearn_edu.signals import add_place
from fedlearn_edu.structure import Struct, tree_map
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.definitions import FederatedType, SequenceType, StructType
from fedlearn_edu.types.fields import fields_of
from fedlearn_edu.types.messages import misfit

_MAX_PLACES = 3


@final
@dataclass(frozen=True, eq=False)
class LazySequence:
    """Elements in plain form, from an iterator that is made anew for each reading.

    Attributes:
        length: the number of elements, if known without reading them.
    """

    make_iterator: Callable[[], Iterator[Any]]
    element_type: Type
    length: int | None = None

    @property
    def type_signature(self) -> SequenceType:
        """The type of the sequence."""
        return SequenceType(self.element_type)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.make_iterator())


# Whether a user's generator runs here: a call in it is the user's, on any thread.
in_generator: ContextVar[bool] = ContextVar("in_generator", default=False)


def iterate(source: Any, path: str) -> Iterator[Any]:
    """The elements of a user's iterable, or of the iterable a function returns."""
    iterator = _iterator(_run(source, path) if callable(source) else source, path)
    for index in itertools.count():
        try:
            yield _run(iterator.__next__, f"{path}, when element {index} was asked for")
        except StopIteration:
            return


def _run(code: Callable[[], Any], place: str) -> Any:
    """Runs a user's code, which may call computations; an error says where it was."""
    token = in_generator.set(True)
    try:
        return code()
    except StopIteration:
        raise
    except Exception as error:
        add_place(error, place)
        raise
    finally:
        in_generator.reset(token)


def _iterator(made: Any, path: str) -> Iterator[Any]:
    try:
        return iter(made)
    except TypeError:
        raise misfit(
            "a function was passed for a sequence, and it does not make one",
            "elements",
            describe(made),
            path,
            "write a generator function, with a `yield` for each element",
        ) from None


def check_unread(source: Iterator[Any], path: str) -> None:
    """Refuses a generator that has ended: it would look like an empty sequence.

    Raises:
        ExhaustedError: nothing is left of it.
    """
    if getattr(source, "gi_frame", source) is None:
        raise ExhaustedError(
            "this generator has been read to its end",
            expected="a sequence that can be read again",
            found="a generator that is used up",
            where=path,
            do="pass a list, a dataset, or the generator function itself, without ( )",
        )


def check_unshared(entries: Iterable[Any], path: str) -> None:
    """Refuses one iterator for several clients.

    Raises:
        ExhaustedError: the first one would leave nothing for the others.
    """
    places: dict[int, list[str]] = {}
    for i, entry in enumerate(entries):
        if isinstance(entry, Iterator):
            places.setdefault(id(entry), []).append(f"{path}[client {i}]")
    for shared in places.values():
        if len(shared) > 1:
            raise ExhaustedError(
                "one iterator is passed for several sequences",
                expected="each with elements of its own: an iterator is read once",
                found=f"the same iterator in {len(shared)} places",
                where=", ".join(shared[:_MAX_PLACES]),
                do="pass a list, list(iterator), or the generator function itself",
            )


def no_end(type_: SequenceType) -> TypeMismatchError:
    """The error for reading all elements of a dataset without end."""
    return TypeMismatchError(
        "all elements of a dataset without end are asked for",
        expected="a dataset with an end",
        found="one without",
        where=type_,
        do="say how many: dataset.take(100), or repeat(5) in place of repeat()",
    )


_INFINITE = -1  # what TensorFlow calls the number of elements of such a dataset


@final
@dataclass(frozen=True, eq=False)
class DatasetSequence:
    """A `tf.data.Dataset` as it was passed; only TensorFlow's runtime looks into it.

    Attributes:
        explain: turns an error of TensorFlow, and its place, into what is raised.
        read: makes an iterator of its elements.
    """

    dataset: Any
    element_type: Type
    explain: Callable[[Exception, str], Exception] = add_place
    read: Callable[[Any], Iterator[Any]] = lambda d: d.as_numpy_iterator()

    @property
    def type_signature(self) -> SequenceType:
        """The type of the sequence."""
        return SequenceType(self.element_type)

    def check_end(self) -> None:
        """Refuses to read one that is known to have no end.

        Raises:
            TypeMismatchError: it would be read for ever.
        """
        if int(self.dataset.cardinality()) == _INFINITE:
            raise no_end(self.type_signature)

    def __iter__(self) -> Iterator[Any]:
        self.check_end()
        elements = self.read(self.dataset)
        for index in itertools.count():
            try:
                element = next(elements)
            except StopIteration:
                return
            except Exception as error:
                raise self.explain(error, f"in element {index} of a dataset") from None
            yield arranged(element, self.element_type)


def arranged(element: Any, type_: Type) -> Any:
    """The parts of a dataset's element in the structure of the declared type."""
    if not isinstance(type_, StructType):
        return element
    fields = fields_of(element)
    assert fields is not None
    values = [value for _, value in fields.in_order(type_.names())]
    return type_._with_values(map(arranged, values, type_))


@final
@dataclass(frozen=True, eq=False)
class Members(Sequence[Any]):
    """Entries of a federated value, each made where it is needed.

    A slice makes none of them.

    >>> halves = Members(lambda i: i / 2, range(1_000_000))[10:12]
    >>> len(halves), list(halves)
    (2, [5.0, 5.5])

    Attributes:
        make: makes the entry of an id, in plain form; the same one each time.
        ids: the ids, in the order of the participants.
    """

    make: Callable[[Any], Any]
    ids: Sequence[Any]

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Members(self.make, self.ids[index])
        return self.make(self.ids[index])


@final
class SequenceList(list[Any]):
    """The list that a body gets; where an array is needed, its error says so.

    Attributes:
        element_type: of a sequence, the type of its elements, even if there are none.
    """

    def __init__(
        self, elements: Iterable[Any], element_type: Type | None = None
    ) -> None:
        super().__init__(elements)
        self.element_type = element_type

    def __mul__(self, *other: Any) -> Any:
        if other and hasattr(other[0], "shape"):
            return NotImplemented  # NumPy and TensorFlow make an array of the list
        what = " and ".join(["a list", *map(repr, other)])
        raise _no_array(TypeMismatchError, f"arithmetic with {what}")

    __rmul__ = __imul__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __mul__
    __pow__ = __rpow__ = __mod__ = __floordiv__ = __matmul__ = __mul__
    __neg__ = __abs__ = __mul__

    def __add__(self, other: Any) -> Any:
        return [*self, *other] if isinstance(other, list) else self.__mul__(other)

    def __radd__(self, other: Any) -> Any:
        return [*other, *self] if isinstance(other, list) else self.__mul__(other)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(name)
        raise _no_array(FieldError, f".{name} of a list")


def _no_array(error: type[FedLearnError], found: str) -> FedLearnError:
    return error(
        "a list is no array",
        expected="an array, to compute with all elements at once",
        found=found,
        do="make one of it first: np.asarray(x), or tf.stack(x) in TensorFlow",
    )


@final
class Cached:
    """A tensor or a sequence, with all the forms it has been brought into so far."""

    __slots__ = ("__weakref__", "_forms", "plain")

    def __init__(self, plain: Any) -> None:
        self.plain = plain
        self._forms: dict[Hashable, Any] = {}

    def __iter__(self) -> Iterator[Any]:
        return iter(self.plain)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Cached, (self.plain,))

    def form(self, key: Hashable, make: Callable[[Any], Any]) -> Any:
        """What `make` makes of the plain data; made once for each `key`."""
        if key not in self._forms:
            self._forms[key] = make(unwrap(self.plain))
        return self._forms[key]


def cache(plain: Any, type_: Type) -> Any:
    """The same plain data in `Cached` parts; lazy sequences stay as they are."""
    if isinstance(plain, Members):
        return plain
    if isinstance(type_, FederatedType) and not type_.all_equal:
        return tuple([cache(one, type_.member) for one in plain])
    inner = type_.member if isinstance(type_, FederatedType) else type_
    return tree_map(_cache_leaf, inner, plain)


def _cache_leaf(type_: Type, plain: Any) -> Any:
    if not isinstance(type_, SequenceType):
        return Cached(plain)
    if not isinstance(plain, tuple):
        return plain
    return Cached(tuple([cache(item, type_.element) for item in plain]))


def unwrap(data: Any) -> Any:
    """The plain data inside all `Cached` parts; members are made."""
    match data:
        case Cached(plain=plain):
            return unwrap(plain)
        case Struct():
            return data.map(unwrap)
        case tuple() | Members():
            return tuple(map(unwrap, data))
        case _:
            return data


def length_of(sequence: Any) -> int | None:
    """The number of elements of a sequence in plain form, if known without reading."""
    match sequence:
        case Cached(plain=plain):
            return length_of(plain)
        case tuple():
            return len(sequence)
        case LazySequence(length=length):
            return length
        case DatasetSequence(dataset=dataset):
            count = int(dataset.cardinality())
            return None if count < 0 else count
    return None
