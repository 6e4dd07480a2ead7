# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""`ClientData`: a `tf.data.Dataset` for each name of a client.

Source: `tff.simulation.datasets.ClientData`. `fl.simulation.ClientData` deals arrays.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import counted, describe
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.simulation.datasets import ExamplesError


class ClientData:
    """Names of clients, and a function from a name to a dataset.

    Args:
        client_ids: the names.
        serializable_dataset_fn: takes a name, in graphs a string tensor.
    """

    def __init__(
        self, client_ids: Iterable[str], serializable_dataset_fn: Callable[[Any], Any]
    ) -> None:
        self.client_ids = list(client_ids)
        self.serializable_dataset_fn = serializable_dataset_fn
        _check_some(self.client_ids)

    @classmethod
    def from_clients_and_tf_fn(
        cls, client_ids: Iterable[str], serializable_dataset_fn: Callable[[Any], Any]
    ) -> "ClientData":
        """The same as the class."""
        return ClientData(client_ids, serializable_dataset_fn)

    def __repr__(self) -> str:
        return f"<ClientData of {counted(len(self.client_ids), 'client')}>"

    def create_tf_dataset_for_client(self, client_id: str) -> Any:
        """The dataset of a client.

        Raises:
            ExamplesError: if there is no client of this name.
        """
        if client_id not in self.client_ids:
            raise ExamplesError(
                "there is no client of this name",
                expected=f"one of client_ids, such as {self.client_ids[0]!r}",
                found=describe(client_id),
            )
        return self.serializable_dataset_fn(client_id)

    @property
    def element_type_structure(self) -> Any:
        """The `tf.TensorSpec`s of an example."""
        return self.serializable_dataset_fn(self.client_ids[0]).element_spec

    @cached_property
    def dataset_computation(self) -> Any:
        """`(string -> ELEMENT*)`."""

        @fl.tf_computation(np.str_)
        def dataset_computation(client_id: Any) -> Any:
            return self.serializable_dataset_fn(client_id)

        return dataset_computation

    def preprocess(self, preprocess_fn: Callable[[Any], Any]) -> "ClientData":
        """The same clients, with this function of their datasets."""
        make = self.serializable_dataset_fn
        return ClientData(self.client_ids, lambda name: preprocess_fn(make(name)))

    def datasets(
        self, limit_count: int | None = None, seed: int | None = None
    ) -> Iterator[Any]:
        """The datasets of clients in random order, up to `limit_count` of them."""
        names = self._shuffled(seed)[:limit_count]
        return (self.serializable_dataset_fn(name) for name in names)

    def create_tf_dataset_from_all_clients(self, seed: int | None = None) -> Any:
        """One dataset of all examples, clients in random order."""
        names = tf.data.Dataset.from_tensor_slices(self._shuffled(seed))
        return names.flat_map(self.serializable_dataset_fn)

    def _shuffled(self, seed: int | None) -> list[str]:
        names: list[str] = (
            np.random.RandomState(seed).permutation(self.client_ids).tolist()
        )
        return names

    @classmethod
    def train_test_client_split(
        cls, client_data: "ClientData", num_test_clients: int, seed: int | None = None
    ) -> tuple["ClientData", "ClientData"]:
        """Clients to train on, and `num_test_clients` others to test with.

        Raises:
            ExamplesError: unless both have a client.
        """
        names = client_data._shuffled(seed)
        if not 0 < num_test_clients < len(names):
            raise ExamplesError(
                "clients to train on and to test with are left",
                expected=f"1 to {len(names) - 1} clients to test with",
                found=describe(num_test_clients),
            )
        train, test = names[num_test_clients:], names[:num_test_clients]
        make = client_data.serializable_dataset_fn
        return ClientData(sorted(train), make), ClientData(sorted(test), make)


def TestClientData(  # noqa: N802 (TFF's name, a class there)
    tensor_slices_dict: Mapping[str, Any],
) -> ClientData:
    """Clients from arrays, `{name: {field: array}}`.

    >>> made = TestClientData({"ada": {"x": [1.0, 2.0]}, "ben": {"x": [3.0]}})
    >>> [int(each["x"]) for each in made.create_tf_dataset_for_client("ada")]
    [1, 2]
    """
    names = list(tensor_slices_dict)
    _check_some(names)
    rows = [_arrays(tensor_slices_dict[name]) for name in names]
    columns = tf.nest.map_structure(lambda *parts: np.concatenate(parts), *rows)
    sizes = [len(tf.nest.flatten(row)[0]) for row in rows]
    ends = np.cumsum([0, *sizes])

    def make(client_id: Any) -> Any:
        is_it = tf.equal(names, client_id)
        tf.debugging.assert_equal(tf.reduce_any(is_it), True, "no client of this name")
        at = tf.argmax(tf.cast(is_it, tf.int32))
        begin, end = tf.gather(ends, at), tf.gather(ends, at + 1)
        part = tf.nest.map_structure(lambda x: tf.constant(x)[begin:end], columns)
        return tf.data.Dataset.from_tensor_slices(part)

    return ClientData(names, make)


def _arrays(slices: Any) -> Any:
    """The same structure of mappings and tuples; a list is an array."""
    if isinstance(slices, Mapping):
        return OrderedDict((name, _arrays(part)) for name, part in slices.items())
    if isinstance(slices, tuple):
        return tuple(map(_arrays, slices))
    # Lists as TensorFlow has them: 1.0 is a float32, 1 an int32.
    return slices if isinstance(slices, np.ndarray) else tf.constant(slices).numpy()


def _check_some(names: list[str]) -> None:
    if not names:
        raise ExamplesError("there are no clients", expected="at least one name")
