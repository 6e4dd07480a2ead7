# SPDX-License-Identifier: Apache-2.0
"""Where a round's data come from: a `ClientData`, or a plain list as in tutorials.

`run` asks a `ClientSource` for the data of the clients that finish a round.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

import fedlearn_edu as fl
from fedlearn_edu.errors import describe
from fedlearn_edu.learning.errors import RunError
from fedlearn_edu.learning.pytree import flatten
from fedlearn_edu.simulation import ClientData
from fedlearn_edu.simulation.datasets import Dataset

Positions = tuple[int, ...]


class ClientSource(ABC):
    """The data of some clients, round by round.

    Attributes:
        clients: how many there are.
        place: `(positions, round_number)` to the batches of these clients, placed. What
            it made last is made once: where all clients take part in all rounds, and
            nothing is shuffled, data are converted for the first round only.
    """

    clients: int
    place: Callable[[Positions, int], Any]

    @abstractmethod
    def num_examples(self) -> NDArray[np.int64]:
        """How many examples each client holds, `int64[clients]`."""

    def batches(self, position: int, round_number: int) -> Any:
        """What one client reads in a round."""
        return self.place((position,), round_number).members[0]

    @abstractmethod
    def name(self, position: int) -> str:
        """What messages call a client."""

    @abstractmethod
    def who(self) -> tuple[str, ...]:
        """What tells each client from the others: a name, or a digest behind a NUL."""

    @abstractmethod
    def digest(self) -> str:
        """A text that tells these data, in this order, from others."""


@final
class ClientDataSource(ClientSource):
    """Batches are cut anew from a `ClientData`, shuffled if there is a seed."""

    def __init__(
        self, data: ClientData, batch_size: int | None, seed: int | None, member: Any
    ) -> None:
        self.clients = len(data)
        self._data, self._batch_size, self._seed = data, batch_size, seed
        self._batch_type = member.element
        self.place = _remembering_the_last(self._place, is_same=seed is None)

    def _place(self, positions: Positions, round_number: int) -> Any:
        chosen = self._data.select(positions)
        return chosen.place(
            self._batch_size,
            seed=self._seed,
            round_number=round_number,
            batch_type=self._batch_type,
        )

    def num_examples(self) -> NDArray[np.int64]:
        """As the data say."""
        return self._data.num_examples

    def name(self, position: int) -> str:
        """By its name or id, which it keeps when clients are selected."""
        return f"client {self._data[position].name}"

    def who(self) -> tuple[str, ...]:
        """Names; without any, which examples a client holds, whatever their features.

        Features may be cleaned or scaled between two runs.
        """
        if self._data.names:
            return tuple(f"client {name}" for name in self._data.names)
        return tuple(
            f"client {each.id}\0{_digest([(each.indices, each.y)])}"
            for each in self._data
        )

    def digest(self) -> str:
        """Of ids, examples and labels; how they are cut is not part of the data."""
        return _digest({"id": c.id, "x": c.x, "y": c.y} for c in self._data)


@final
class ListSource(ClientSource):
    """Batches are taken from a list as they are."""

    def __init__(self, data: list[Any], member_type: Any) -> None:
        # What can be read once only is read now; a data set is read again and again.
        self._data = [list(b) if isinstance(b, Iterator) else b for b in data]
        self._member_type = member_type
        self.clients = len(data)
        self.place = _remembering_the_last(self._place, is_same=True)

    def _place(self, positions: Positions, round_number: int) -> Any:
        chosen = [self._data[position] for position in positions]
        return fl.place(chosen, fl.CLIENTS, self._member_type)

    def num_examples(self) -> NDArray[np.int64]:
        """The lengths of all batches, added up."""
        return np.array([sum(map(_length, of)) for of in self._data], np.int64)

    def name(self, position: int) -> str:
        """By its position in the list."""
        return f"client {position}"

    def who(self) -> tuple[str, ...]:
        """What a client holds: it has no name."""
        return tuple(f"\0{_digest([list(batches)])}" for batches in self._data)

    def digest(self) -> str:
        """Of all batches."""
        return _digest(list(batches) for batches in self._data)


def client_source(
    process: Any, data: Any, batch_size: int | None, seed: int | None
) -> ClientSource:
    """The `ClientSource` for data of this form.

    Raises:
        RunError: if there are no clients, or their batches are not the process's.
    """
    member_type = process.next.type_signature.parameter[1].member
    if isinstance(data, fl.FederatedValue):
        data = data.members
    if isinstance(data, ClientData):
        _check_clients(len(data))
        check_batches(data, member_type.element, process.model.name)
        return ClientDataSource(data, batch_size, seed, member_type)
    check_no_split(data)
    if not isinstance(data, list | tuple):
        raise RunError(
            "data are what each client holds",
            expected="a ClientData, or a list with one sequence of batches per client",
            found=describe(data),
            where="data",
            do=_cure(data),
        )
    _check_clients(len(data))
    if any(map(_is_pair, data)):
        raise RunError(
            "a client holds batches, and a batch is x and y together",
            expected=f"one {member_type} for each client",
            found="x and y for each client",
            where="data",
            do="[[{'x': x, 'y': y}] for x, y in data] makes one batch of each pair",
        )
    if batch_size is not None or seed is not None:
        raise RunError(
            "a list of batches is taken as it is",
            expected="neither a batch_size nor a shuffle_seed",
            found=f"batch_size={batch_size}, shuffle_seed={seed}",
            where="data",
            do="leave them out, or pass a ClientData, which cuts and shuffles batches",
        )
    return ListSource(list(data), member_type)


def check_same_clients(ours: tuple[str, ...], theirs: tuple[str, ...]) -> None:
    """Raises `RunError` if clients would go on with what others have kept.

    Examples of some clients may be others now; if they are of all, or were another
    client's, these are other clients.
    """
    if ours == theirs:
        return
    found = [_instead(i, ours[i], theirs) for i in range(len(ours))]
    differing = [text for text in found if text]
    are_changed = all(text.startswith(_CHANGED) for text in differing)
    if differing and not (are_changed and len(differing) < len(ours)):
        raise RunError(
            "a run goes on with the clients it had, each with what it has kept",
            expected="the clients of start, in their order",
            found="; ".join(differing[:3]) + " …" * (len(differing) > 3),
            where="start",
            do="pass them in that order; if they are the same clients, with new "
            "examples, say start=dataclasses.replace(start, clients=())",
        )


_CHANGED = "other examples of"


def _instead(position: int, ours: str, theirs: tuple[str, ...]) -> str:
    """Who is here, if it is not the client that was."""
    keys = [who.rpartition("\0")[2] for who in theirs]
    names = [who.partition("\0")[0] or f"client {i}" for i, who in enumerate(theirs)]
    key, before = ours.rpartition("\0")[2], names[position]
    if key == keys[position]:
        return ""
    if key in keys:
        return f"{names[keys.index(key)]} in the place of {before}"
    if "\0" in ours:
        return f"{_CHANGED} {before}"
    return f"{ours} in the place of {before}"


def check_no_split(data: Any) -> None:
    """Raises `RunError` for a data set, or for its x and y, which no client holds."""
    is_pair = isinstance(data, list | tuple) and len(data) == 2
    is_split = is_pair and all(isinstance(part, np.ndarray) for part in data)
    if is_split or isinstance(data, Dataset):
        raise RunError(
            "nobody said which client holds which examples",
            expected="a ClientData, or a list with one sequence of batches per client",
            found="examples and labels" if is_split else describe(data),
            where="data",
            do="one client holds all of it in ClientData(x, y, [range(len(y))])",
        )


def _is_pair(client: Any) -> bool:
    """Whether this is an x and a y in place of batches."""
    is_two = type(client) in (list, tuple) and len(client) == 2
    return is_two and all(map(_is_array, client))


def _is_array(part: Any) -> bool:
    """Whether this is an array, or one in lists, as `tolist` makes it."""
    try:
        array = np.asarray(part) if isinstance(part, list) else part
    except ValueError:  # lists of other lengths, as of x and y in a batch
        return False
    is_typed = hasattr(array, "dtype") and array.dtype != np.object_
    return is_typed and bool(np.ndim(array))


def _remembering_the_last(
    place: Callable[[Positions, int], Any], is_same: bool
) -> Callable[[Positions, int], Any]:
    """What was placed last is kept; data that are not shuffled forget the round."""
    last = lru_cache(maxsize=1)(place)
    return lambda positions, number: last(positions, 0 if is_same else number)


def _length(batch: Any) -> int:
    first = next(iter(flatten(batch).values()), ())
    shape = np.shape(first)
    return int(shape[0]) if shape else 1


def _digest(clients: Any) -> str:
    found = hashlib.sha256()
    for client in clients:
        for path, leaf in flatten(client).items():
            array = np.ascontiguousarray(leaf)
            found.update(f"{path} {array.dtype} {np.shape(leaf)} ".encode())
            found.update(array.tobytes())
        found.update(b"end of client")
    return found.hexdigest()


def _cure(data: Any) -> str | None:
    if isinstance(data, Mapping):
        return "clients have an order and no names: pass list(data.values())"
    return None


def _check_clients(clients: int) -> None:
    if clients == 0:
        raise RunError(
            "there are no clients to learn from",
            expected="the data of at least one client",
            found="0 clients",
            where="data",
        )


def check_batches(data: ClientData, wanted: Any, model: str = "") -> None:
    """Raises `RunError` unless these data can be batches of this type."""
    found: Any = data.batch_type_for(wanted)
    if wanted.is_assignable_from(found):
        return
    raise RunError(
        "these data are not what the model takes",
        expected=f"clients that hold {wanted}*",
        found=f"clients that hold {found}*",
        where="data",
        do=_cure_of_features(wanted["x"], found["x"], model)
        or _cure_of_targets(wanted["y"], found["y"]),
    )


def _cure_of_features(wanted: Any, found: Any, model: str) -> str | None:
    """What to do about an x of another size."""
    if wanted.is_assignable_from(found):
        return None
    if not isinstance(wanted, fl.TensorType):
        several = "{…}" if all(wanted.names()) else "(…)"
        return f"pass a list of batches for each client, x={several}"
    shape: Any = wanted.shape
    _, *sizes = shape
    if None not in sizes and np.prod(sizes) == np.prod(found.shape[1:]):
        # A last axis of length 1 is added by itself.
        sizes = sizes[:-1] if len(sizes) > 1 and sizes[-1] == 1 else sizes
        return f"x.reshape(-1, {', '.join(map(str, sizes))})"
    if model.startswith("convolutional"):
        return f"{model} is made for this size: scale the images, or take another model"
    size = int(np.prod(found.shape[1:]))
    return (
        f"make the model for examples of {size} numbers: features={size}, or "
        f"keras.Input({[*found.shape[1:]]})"
    )


def _cure_of_targets(wanted: Any, found: Any) -> str | None:
    """What to do about a y of another type, which no size of the model can cure."""
    (_, *sizes), dtype = found.shape, found.dtype
    is_class, is_sequence = wanted.dtype == np.int32, len(wanted.shape) > 1
    if sizes and set(sizes) != {1} and not is_sequence:
        many = "y is one number per example"
        return f"{many}: y.argmax(axis=1), if it is one-hot" if is_class else many
    column = ".ravel()" if sizes and not is_sequence else ""
    if dtype == wanted.dtype:
        return f"y is one number per example: y{column}" if column else None
    if is_class:
        do = "classes are whole numbers"
        return f"{do}: y{column}.astype(int); for others linear_regression"
    return f"numbers to predict are floats: y{column}.astype(float)"
