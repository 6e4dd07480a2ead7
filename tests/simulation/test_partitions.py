# SPDX-License-Identifier: Apache-2.0
"""One digit per client, cut into batches as the tutorial cuts them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.simulation import datasets
from fedlearn_edu.simulation.partitions import batches, one_label_per_client


def tutorial_data_for_digit(
    source: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    digit: int,
    limit: int,
    batch_size: int,
) -> list[dict[str, NDArray[Any]]]:
    """`get_data_for_digit` of the tutorial, word for word."""
    output = []
    all_samples = [i for i, d in enumerate(source[1]) if d == digit]
    for i in range(0, min(len(all_samples), limit), batch_size):
        batch = all_samples[i : i + batch_size]
        x = np.array([source[0][i].flatten() / 255.0 for i in batch], dtype=np.float32)
        y = np.array([source[1][i] for i in batch], dtype=np.int32)
        output.append({"x": x, "y": y})
    return output


def test_clients_hold_what_the_tutorial_gives_them() -> None:
    source = datasets.load_digits28().train
    clients = one_label_per_client(source[1], examples_per_client=140)
    for digit, indices in enumerate(clients):
        ours = batches(*source, indices, batch_size=14)
        theirs = tutorial_data_for_digit(source, digit, 140, 14)
        assert [list(batch) for batch in ours] == [["x", "y"]] * 10
        for mine, other in zip(ours, theirs, strict=True):
            for key in ("x", "y"):
                np.testing.assert_array_equal(mine[key], other[key], strict=True)


def test_first_examples_in_order_and_no_more() -> None:
    labels = [2, 0, 1, 0, 0, 2, 1]
    clients = one_label_per_client(labels, num_clients=3, examples_per_client=2)
    assert [client.tolist() for client in clients] == [[1, 3], [2, 6], [0, 5]]


def test_seed_draws_the_same_examples_again() -> None:
    labels = np.repeat(np.arange(10), 50)
    first, again, other = (
        one_label_per_client(labels, examples_per_client=20, seed=seed)
        for seed in (7, 7, 8)
    )
    for digit in range(10):
        np.testing.assert_array_equal(first[digit], again[digit])
        assert (labels[first[digit]] == digit).all()
        assert len(set(first[digit].tolist())) == 20
    assert any((a != b).any() for a, b in zip(first, other, strict=True))


def test_last_batch_may_be_short() -> None:
    x, y = np.zeros([7, 28, 28], np.uint8), np.arange(7, dtype=np.uint8)
    cut = batches(x, y, np.arange(7), 3)
    assert [batch["x"].shape for batch in cut] == [(3, 784), (3, 784), (1, 784)]
    assert cut[-1]["y"].tolist() == [6]


def test_nobody_has_no_batches() -> None:
    x, y = np.zeros([1, 28, 28], np.uint8), np.zeros([1], np.uint8)
    assert batches(x, y, np.arange(0), 3) == []
