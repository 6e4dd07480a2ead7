# SPDX-License-Identifier: Apache-2.0
"""Federated EMNIST: handwritten digits and letters, a client for each writer.

3,383 writers of digits, 341,873 images to train on. Pixels are 1 for the background and
0 for ink. Sources: S. Caldas et al., "LEAF: A Benchmark for Federated Settings", 2018;
`tff.simulation.datasets.emnist`.
"""

from collections import OrderedDict

import numpy as np

from fedlearn_edu.former_names import answering
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.simulation.datasets import load_digits28
from fedlearn_edu.tff.simulation.client_data import ClientData, TestClientData
from fedlearn_edu.tff.simulation.datasets.stored import clients_of, load


def load_data(
    only_digits: bool = True, cache_dir: str | None = None, *, fetch: bool = False
) -> tuple[ClientData, ClientData]:
    """The clients with what they train on, and with what they test on.

    Examples are `<label=int32,pixels=float32[28,28]>`.

    Args:
        only_digits: whether letters are left out.
        cache_dir: where `emnist_all.sqlite` lies, or is to lie.
        fetch: whether it may be downloaded.

    Raises:
        DatasetError: if the file is not found, cannot be fetched or is damaged.
    """
    path = load("emnist_all.sqlite", cache_dir, fetch=fetch)
    features = OrderedDict(
        label=tf.io.FixedLenFeature((), tf.int64),
        pixels=tf.io.FixedLenFeature((28, 28), tf.float32),
    )
    kind, dtypes = "digits_only" if only_digits else "all", {"label": tf.int32}
    splits = (f"{kind}_train", f"{kind}_test")
    train, test = (clients_of(path, split, features, dtypes) for split in splits)
    return train, test


def get_synthetic(num_clients: int = 2) -> ClientData:
    """A stand-in that needs no file: clients with the embedded digits.

    Each holds as many of them, in the order of the data set.
    """
    (x, y), _ = load_digits28()
    pixels, labels = 1 - x.astype(np.float32) / 255, y.astype(np.int32)
    size = len(x) // num_clients
    parts = [slice(i * size, (i + 1) * size) for i in range(num_clients)]
    return TestClientData(
        {
            f"synthetic{i + 1}": OrderedDict(label=labels[part], pixels=pixels[part])
            for i, part in enumerate(parts)
        }
    )


__all__ = ["get_synthetic", "load_data"]

# As a package has one: then `from … import` asks for a submodule, and is answered.
__path__: list[str] = []

__getattr__ = answering("fedlearn_edu.tff.simulation.datasets.emnist", __all__)
