# SPDX-License-Identifier: Apache-2.0
"""`ClientData`: arrays, and which client holds which of their examples.

It points into the arrays and copies nothing until a client is read, so ten thousand
clients cost no more than the indices. What a client reads depends on its `id`, the seed
and the round alone. `place()` hands the batches to computations.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import FedLearnError, counted, describe, short_traceback
from fedlearn_edu.former_names import Answering, answers
from fedlearn_edu.language.federated_value import FederatedValue
from fedlearn_edu.language.place import place
from fedlearn_edu.simulation.datasets.dataset import ExamplesError, check_examples
from fedlearn_edu.simulation.partitions.arguments import (
    Indices,
    Shares,
    check_partition,
    whole,
)
from fedlearn_edu.simulation.partitions.batching import (
    Batch,
    as_features,
    as_targets,
    check_batch_size,
    in_form,
    is_scaled,
)
from fedlearn_edu.simulation.partitions.feature_skew import FeatureShift, checked_shifts
from fedlearn_edu.simulation.seeded_rng import seeded_rng
from fedlearn_edu.types import CLIENTS, SequenceType, StructType, TensorType


@final
@dataclass(frozen=True, eq=False)
class Examples:
    """Arrays that all clients share, and where in them each client's share is.

    Attributes:
        x: examples, `[n,…]`.
        y: labels or targets, `[n]` or `[n,…]`.
        positions: the shares of all clients, one behind the other.
        ends: where in `positions` each client's share ends.
        scaled: whether features are divided by 255.
        feature_shifts: how each client sees its images; `None` is as they are.
        names: what each client is called; none if they have numbers only.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    positions: Indices
    ends: NDArray[np.int64]
    scaled: bool
    feature_shifts: tuple[FeatureShift, ...] | None = None
    names: tuple[str, ...] = ()

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many examples each client holds."""
        return np.diff(self.ends, prepend=0)

    def of(self, client: int) -> Indices:
        """The share of one client, in the order in which it was dealt."""
        end = self.ends[client]
        return self.positions[end - self.sizes[client] : end]


@final
@dataclass(frozen=True, repr=False)
class Client:
    """One client: `len()`, `x`, `y` and `batches()`; made by `ClientData`.

    Attributes:
        id: its number in the partition, which it keeps when clients are selected.
    """

    id: int
    _examples: Examples

    @property
    def name(self) -> str:
        """What the partition calls it, or its number."""
        names = self._examples.names
        return names[self.id] if names else str(self.id)

    @property
    def indices(self) -> Indices:
        """Where its examples are in the arrays, in the order as dealt."""
        return self._examples.of(self.id)

    @property
    def x(self) -> NDArray[np.float32]:
        """Its examples, `float32[n,features]`, images scaled to 0..1; read anew."""
        held, shifts = self._examples.x[self.indices], self._examples.feature_shifts
        if shifts is None:
            return as_features(held, self._examples.scaled)
        if self._examples.scaled:
            held = held / 255.0
        return as_features(shifts[self.id].apply(held), scaled=False)

    @property
    def y(self) -> NDArray[Any]:
        """Its labels, `int32[n]`, or targets, `float32[n]`."""
        return as_targets(self._examples.y[self.indices])

    def __len__(self) -> int:
        return int(self._examples.sizes[self.id])

    def __repr__(self) -> str:
        return f"Client({self.name}, {counted(len(self), 'example')})"

    def batches(
        self,
        batch_size: int | None = None,
        *,
        epochs: int = 1,
        seed: int | None = None,
        round_number: int = 0,
    ) -> list[Batch]:
        """Its examples in batches, `<x=float32[?,784],y=int32[?]>`.

        Args:
            batch_size: Examples per batch; the last one of an epoch may be shorter.
                `None` is one batch of everything.
            epochs: How often each example comes.
            seed: With a seed each epoch has an order of its own, which depends on
                (seed, round_number, id, epoch) only. `None` keeps the order as dealt.
            round_number: So that rounds differ.

        Raises:
            PartitionError: if a number is not a whole one, or too small.
        """
        size = len(self) if batch_size is None else check_batch_size(batch_size)
        key = self._key(seed, round_number)
        x, y = self.x, self.y
        cut = []
        for epoch in range(whole(epochs, "epochs")):
            order = np.arange(len(self))
            if key is not None:
                order = seeded_rng("shuffle", *key, epoch).permutation(order)
            for start in range(0, len(order), size):
                chosen = order[start : start + size]
                cut.append(Batch(x=x[chosen], y=y[chosen]))
        return cut

    def _key(self, seed: int | None, round_number: int) -> tuple[int, int, int] | None:
        number = whole(round_number, "round_number", least=0)
        if seed is None:
            return None
        return whole(seed, "seed", least=0), number, self.id


@final
class NoSuchClientError(FedLearnError, IndexError):
    """A client was asked for that is not there."""


@final
@answers("client_data")
class ClientData(Sequence[Client], metaclass=Answering):
    """What each client holds, as a list of `Client`s: lazy, and nothing is copied.

    `data[3]` is one client, and so is `data["Ann"]` where clients have names; slices
    and `select` make a smaller `ClientData` of the same arrays, in which each client
    keeps its `id` and name.

    Args:
        x: Examples, `[n,…]`.
        y: Labels or targets, `[n]` or `[n,…]`.
        partition: One array of positions per client, as `simulation.partitions` deals
            them; or a dict of these, in its order, with the clients' names if its
            keys are texts. Examples may be left out, and may be held by several
            clients, which is said when the `ClientData` is shown.
        feature_shifts: How each client sees its images, one `FeatureShift` each;
            `None` is as they are.
        scale: Whether features are divided by 255. `None` divides images, `uint8` in
            `[n,height,width]` or more, and nothing else: ages and codes of words stay
            as they are. Flat images, `uint8[n,784]`, look no different from these:
            say `scale=True`.

    >>> from fedlearn_edu.simulation import datasets, partitions
    >>> x, y = datasets.load_digits28().train
    >>> data = ClientData(x, y, partitions.iid(y, num_clients=10))
    >>> data
    ClientData(10 clients, 1,437 examples, x / 255, <x=float32[?,784],y=int32[?]>)
    >>> data[3], data[3].x.shape
    (Client(3, 144 examples), (144, 784))
    >>> data.select([7, 3]).num_examples.tolist()
    [143, 144]
    >>> print(data.place(batch_size=20).type_signature)
    {<x=float32[?,784],y=int32[?]>*}@CLIENTS

    Source: `tff.simulation.datasets.ClientData`, with positions in place of names.

    Raises:
        ExamplesError: if x and y are not equally many, or hold no numbers.
        PartitionError: if a client holds nothing, or an example that is not there.
    """

    @short_traceback
    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        partition: Shares,
        feature_shifts: Sequence[FeatureShift] | None = None,
        *,
        scale: bool | None = None,
    ) -> None:
        arrays = check_examples(x, y, "ClientData")
        _check_range(arrays[1])
        held, names = check_partition(partition, len(arrays[0]))
        scaled = is_scaled(arrays[0], scale)
        shifts = feature_shifts
        if shifts is not None:
            shifts = checked_shifts(shifts, len(held), arrays[0], scaled)
        positions = np.concatenate(held)
        ends = np.cumsum([len(of) for of in held])
        self._examples = Examples(*arrays, positions, ends, scaled, shifts, names)
        self._ids = np.arange(len(held))

    @property
    def num_examples(self) -> NDArray[np.int64]:
        """How many examples each client holds, `int64[clients]`."""
        return self._examples.sizes[self._ids]

    @property
    def names(self) -> tuple[str, ...]:
        """What the partition calls the clients; empty if they have numbers only."""
        names = self._examples.names
        return tuple(names[id_] for id_ in self._ids) if names else ()

    @property
    def batch_type(self) -> StructType:
        """The type of one batch, such as `<x=float32[?,784],y=int32[?]>`."""
        held = self._examples
        x, y = as_features(held.x[:0], held.scaled), as_targets(held.y[:0])
        fields = OrderedDict(
            x=TensorType(x.dtype, [None, *x.shape[1:]]),
            y=TensorType(y.dtype, [None, *y.shape[1:]]),
        )
        return StructType(fields.items(), OrderedDict)

    def batch_type_for(self, wanted: Any) -> StructType:
        """The type of one batch for a model that takes batches of this type.

        Examples are flat for a model of flat ones, and else as they are; a last axis of
        length 1 is added if the model has one more. Only the dtype is the model's.
        """
        flat: Any = self.batch_type
        x: Any = wanted["x"]
        if not isinstance(x, TensorType):
            return self.batch_type
        shape: Any = self._examples.x.shape[1:]
        sizes: Any = x.shape
        if len(sizes) == 2 and sizes[1] is not None:
            shape = flat["x"].shape[1:]
        elif len(sizes) == len(shape) + 2 and sizes[-1] == 1:
            shape = (*shape, 1)
        fields = OrderedDict(x=TensorType(x.dtype, [None, *shape]), y=flat["y"])
        return StructType(fields.items(), OrderedDict)

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[Client]:
        return (Client(int(id_), self._examples) for id_ in self._ids)

    @overload
    def __getitem__(self, index: SupportsIndex | str) -> Client: ...
    @overload
    def __getitem__(self, index: slice) -> "ClientData": ...

    @short_traceback
    def __getitem__(self, index: SupportsIndex | str | slice) -> "Client | ClientData":
        if isinstance(index, slice):
            return self._of(self._ids[index])
        return Client(int(self._ids[self._positions([index])[0]]), self._examples)

    @short_traceback
    def select(self, positions: Iterable[int | str]) -> "ClientData":
        """The clients at these positions, or of these names, in this order.

        One may come several times.

        `select([])` is a `ClientData` of no clients.
        """
        return self._of(self._ids[self._positions(list(positions))])

    @short_traceback
    def batches(
        self,
        batch_size: int | None = None,
        *,
        epochs: int = 1,
        seed: int | None = None,
        round_number: int = 0,
    ) -> list[list[Batch]]:
        """The batches of every client: `Client.batches` of each of them."""
        return [
            client.batches(
                batch_size, epochs=epochs, seed=seed, round_number=round_number
            )
            for client in self
        ]

    @short_traceback
    def place(
        self,
        batch_size: int | None = None,
        *,
        epochs: int = 1,
        seed: int | None = None,
        round_number: int = 0,
        batch_type: Any = None,
    ) -> FederatedValue:
        """The batches at the clients, to be given to computations again and again.

        `{<x=float32[?,784],y=int32[?]>*}@CLIENTS`; arguments as for `Client.batches`.
        For a model that takes no flat examples, `batch_type` is `model.batch_type`.
        """
        held = self.batches(
            batch_size, epochs=epochs, seed=seed, round_number=round_number
        )
        type_: Any = self.batch_type
        if batch_type is not None:
            type_ = self.batch_type_for(batch_type)
            held = [[in_form(each, type_["x"]) for each in cut] for cut in held]
        return place(held, CLIENTS, SequenceType(type_))

    def __repr__(self) -> str:
        clients = f"{counted(len(self), 'client')}"
        total = f"{counted(int(self.num_examples.sum()), 'example')}"
        held = [self._examples.of(int(id_)) for id_ in self._ids]
        _, counts = np.unique(np.concatenate([[], *held]), return_counts=True)
        if repeated := int((counts > 1).sum()):
            total += f", {repeated:,} of them held more than once"
        scaled = ", x / 255" if self._examples.scaled else ""
        return f"ClientData({clients}, {total}{scaled}, {self.batch_type})"

    def _of(self, ids: NDArray[np.intp]) -> "ClientData":
        selected = object.__new__(ClientData)
        selected._examples, selected._ids = self._examples, ids
        return selected

    def _positions(self, positions: list[Any]) -> NDArray[np.intp]:
        names = self.names
        if names and any(isinstance(at, str) for at in positions):
            known: dict[Any, int] = {name: at for at, name in enumerate(names)}
            positions = [known.get(at, at) for at in positions]
        found = np.array(positions, dtype=None if positions else np.intp)
        if found.dtype.kind not in "iu" or found.ndim != 1:
            raise NoSuchClientError(
                "clients are numbered",
                expected=f"whole numbers from 0 to {len(self) - 1}"
                + (f", or names such as {names[0]!r}" if names else ""),
                found=describe(positions),
            )
        wrong = found[(found >= len(self)) | (found < -len(self))]
        if len(wrong):
            raise NoSuchClientError(
                "there is no such client",
                expected=f"a position from 0 to {len(self) - 1}",
                found=wrong[0],
                where=repr(self),
            )
        return found


def _check_range(y: NDArray[Any]) -> None:
    """Refuses whole numbers that would be others as `int32`."""
    bounds = np.iinfo(np.int32)
    if y.dtype.kind in "iu" and (y.min() < bounds.min or y.max() > bounds.max):
        raise ExamplesError(
            "the labels are too large",
            expected=f"whole numbers from {bounds.min:,} to {bounds.max:,}",
            found=f"{y.min():,} to {y.max():,}",
            where="ClientData, y",
            do="np.unique(y, return_inverse=True)[1] counts them from 0",
        )
