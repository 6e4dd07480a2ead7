# SPDX-License-Identifier: Apache-2.0
"""Federated Shakespeare: what a character says in a play, a client for each.

715 clients, 16,068 snippets to train on. Sources: S. Caldas et al., "LEAF: A Benchmark
for Federated Settings", 2018; `tff.simulation.datasets.shakespeare`.
"""

from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.tff.simulation.client_data import ClientData, TestClientData
from fedlearn_edu.tff.simulation.datasets.stored import clients_of, load


def load_data(
    cache_dir: str | None = None, *, fetch: bool = False
) -> tuple[ClientData, ClientData]:
    """The clients with what they train on, and with what they test on.

    Examples are `<snippets=string>`.

    Args:
        cache_dir: where `shakespeare.sqlite` lies, or is to lie.
        fetch: whether it may be downloaded.

    Raises:
        DatasetError: if the file is not found, cannot be fetched or is damaged.
    """
    path = load("shakespeare.sqlite", cache_dir, fetch=fetch)
    features = {"snippets": tf.io.FixedLenFeature((), tf.string)}
    train, test = (clients_of(path, s, features, {}) for s in ("train", "test"))
    return train, test


def get_synthetic() -> ClientData:
    """A stand-in that needs no file: two speakers of one sonnet."""
    lines = {
        "SONNET_18_FIRST": [
            "Shall I compare thee to a summer's day?",
            "Thou art more lovely and more temperate:",
        ],
        "SONNET_18_SECOND": [
            "Rough winds do shake the darling buds of May,",
            "And summer's lease hath all too short a date;",
        ],
    }
    return TestClientData({name: {"snippets": text} for name, text in lines.items()})
