# SPDX-License-Identifier: Apache-2.0
"""Partitions: what holds for all, each by itself, the tutorial's, and their skew."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fedlearn_edu.simulation import datasets
from fedlearn_edu.simulation.partitions import (
    Indices,
    batches,
    describe_skew,
    dirichlet,
    iid,
    log_normal_sizes,
    one_label_per_client,
    shards,
)
from fedlearn_edu.simulation.partitions.quantity_skew import sizes_in_proportion

Labels = NDArray[np.int64]
Deal = Callable[[Labels, int, int], tuple[Indices, ...]]

DEALS: dict[str, Deal] = {
    "iid": iid,
    "shards": lambda labels, n, seed: shards(labels, n, 2, seed),
    "dirichlet": lambda labels, n, seed: dirichlet(labels, n, 0.5, seed),
    "log_normal_sizes": lambda labels, n, seed: log_normal_sizes(labels, n, 1.0, seed),
    "one_label_per_client": lambda labels, n, seed: one_label_per_client(
        labels, int(labels.max()) + 1, None, seed
    ),
}


@st.composite
def label_arrays(draw: st.DrawFn) -> Labels:
    """Labels 0..k-1 in any order, twenty or more of each."""
    counts = draw(st.lists(st.integers(20, 60), min_size=2, max_size=5))
    order = np.random.default_rng(draw(st.integers(0, 99)))
    return order.permutation(np.repeat(np.arange(len(counts)), counts))


def same(one: Sequence[Indices], other: Sequence[Indices]) -> bool:
    return [a.tolist() for a in one] == [b.tolist() for b in other]


@pytest.mark.parametrize("deal", DEALS.values(), ids=DEALS)
@given(labels=label_arrays(), clients=st.integers(3, 8), seed=st.integers(0, 1000))
def test_partition_covers_the_data_exactly_once_and_repeats_under_its_seed(
    deal: Deal, labels: Labels, clients: int, seed: int
) -> None:
    before = labels.copy()
    dealt = deal(labels, clients, seed)
    assert sorted(np.concatenate(dealt).tolist()) == list(range(len(labels)))
    assert all(len(held) >= 1 and held.dtype == np.intp for held in dealt)
    np.testing.assert_array_equal(labels, before)
    assert same(dealt, deal(np.array(labels.tolist()), clients, seed))


@pytest.mark.parametrize("name", [name for name in DEALS if name[:3] != "one"])
@pytest.mark.parametrize(
    "labels",
    [
        [0.0, np.nan, 1.0, np.nan] * 10,
        np.array([0, 1, np.nan, 1] * 10, object),
        np.array(["yes", "no", "", "no"] * 10),
        np.array([0, 2**62, -1, 2**62] * 10),
    ],
)
def test_no_example_is_lost_for_its_label(name: str, labels: Any) -> None:
    dealt = DEALS[name](labels, 4, 0)
    assert sorted(np.concatenate(dealt).tolist()) == list(range(40))
    assert describe_skew(labels, dealt).sizes.sum() == 40


def test_seed_clients_and_order_are_as_asked_for() -> None:
    labels = np.tile(np.arange(4), 50)
    for name, deal in DEALS.items():
        dealt = deal(labels, 4, 1)
        assert len(dealt) == 4, name
        assert not same(dealt, deal(labels, 4, 2)), name
        if name != "one_label_per_client":
            assert all((np.diff(held) > 0).all() for held in dealt), name


# ------------------------------------------------------------------ each by itself


@given(examples=st.integers(1, 200), clients=st.integers(1, 20))
def test_sizes_of_iid_differ_by_at_most_one(examples: int, clients: int) -> None:
    if clients > examples:
        return
    sizes = [len(held) for held in iid(np.zeros(examples), clients)]
    assert max(sizes) - min(sizes) <= 1


def test_iid_looks_at_no_label() -> None:
    assert same(iid(np.zeros(50), 5, 3), iid(np.arange(50), 5, 3))


def test_shards_of_the_paper() -> None:
    """200 shards of 300, two for each of 100 clients."""
    labels = np.random.default_rng(0).integers(0, 10, 60_000)
    dealt = shards(labels)
    assert len(dealt) == 100
    assert {len(held) for held in dealt} == {600}
    starts = np.argsort(labels, kind="stable").reshape(200, 300)
    shard_of = np.empty(60_000, int)
    shard_of[starts.ravel()] = np.repeat(np.arange(200), 300)
    assert all(len(np.unique(shard_of[held])) == 2 for held in dealt)
    assert describe_skew(labels, dealt).effective_labels.max() < 4.01


def test_one_shard_per_client_is_the_sorted_data() -> None:
    labels = np.tile([2, 0, 1], 10)
    dealt = shards(labels, num_clients=3, shards_per_client=1)
    assert sorted(np.unique(labels[held]).tolist() for held in dealt) == [[0], [1], [2]]
    assert [len(held) for held in shards(labels[:3], 3, 1)] == [1, 1, 1], "no more"


def test_which_examples_of_a_label_a_client_holds_is_drawn() -> None:
    """Not the first ones for the first client."""
    first, second = dirichlet(np.zeros(100, int), 2, 1)
    assert first.max() > second.min()
    assert second.max() > first.min()


def test_alpha_turns_the_skew_down() -> None:
    labels = datasets.load_digits28().train[1]
    skews = [
        describe_skew(labels, dirichlet(labels, 10, alpha)).total_variation.mean()
        for alpha in (0.05, 0.5, 5.0, 1000.0)
    ]
    assert skews == sorted(skews, reverse=True)
    assert skews[0] > 0.7
    assert skews[-1] < 0.05


def test_shares_are_drawn_anew_until_nobody_has_too_little() -> None:
    labels = np.tile(np.arange(10), 20)
    sizes = [len(held) for held in dirichlet(labels, 10, 0.3, min_examples=8)]
    assert min(sizes) >= 8
    free = [len(held) for held in dirichlet(labels, 10, 0.3)]
    assert min(free) < 8


def test_first_draw_that_fits_is_taken() -> None:
    labels = np.tile(np.arange(10), 20)
    assert same(dirichlet(labels, 5, 1.0), dirichlet(labels, 5, 1.0, min_examples=2))


def test_without_steepness_sizes_are_equal() -> None:
    sizes = [len(held) for held in log_normal_sizes(np.zeros(100, int), 7, 0.0)]
    assert sorted(sizes) == [14] * 5 + [15] * 2


@given(
    weights=st.lists(st.floats(0.001, 1000.0), min_size=1, max_size=20),
    more=st.integers(0, 500),
)
def test_sizes_add_up_and_follow_the_weights(weights: list[float], more: int) -> None:
    sizes = sizes_in_proportion(np.array(weights), len(weights) + more)
    assert sizes.sum() == len(weights) + more
    assert sizes.min() >= 1
    exact = more * np.array(weights) / sum(weights) + 1
    assert np.abs(sizes - exact).max() < 1


@pytest.mark.parametrize("extreme", [50.0, 1e6])
def test_extreme_sizes_leave_nobody_empty(extreme: float) -> None:
    dealt = log_normal_sizes(np.zeros(100), 5, extreme)
    assert sorted(map(len, dealt)) == [1, 1, 1, 1, 96]


def test_without_a_limit_a_client_gets_all_of_its_label() -> None:
    labels = np.repeat([0, 1], 1500)
    assert [len(held) for held in one_label_per_client(labels, 2, None)] == [1500] * 2
    assert [len(held) for held in one_label_per_client(labels, 2)] == [1000] * 2


# ------------------------------------------------------------------ a digit per client


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


# ------------------------------------------------------------------ skew

LABELS = np.array([0, 0, 0, 0, 1, 1, 2, 2])
SHARES = [np.array([0, 1, 4, 6]), np.array([2, 3]), np.array([5, 7])]


def test_whole_is_all_labels_and_not_what_was_dealt() -> None:
    found = describe_skew([0, 1, 1, 1], [[0, 1]])
    np.testing.assert_allclose(found.total_variation, 0.25)


def test_table_shows_counts_of_few_labels() -> None:
    assert str(describe_skew(LABELS, SHARES)) == (
        "client  examples  effective labels  total variation  0  1  2\n"
        "     0         4              2.83             0.00  2  1  1\n"
        "     1         2              1.00             0.50  2  0  0\n"
        "     2         2              2.00             0.50  0  1  1\n"
        "  mean       2.7              1.94             0.33"
    )


def test_table_of_many_clients_and_labels_is_short() -> None:
    labels = np.arange(1000)
    lines = str(describe_skew(labels, iid(labels, 100))).splitlines()
    assert len(lines) == 11
    assert lines[0].split()[-2:] == ["total", "variation"]
    assert lines[4].split()[0] == "3"
    assert lines[5] == "… 92 more …"
    assert lines[6].split()[0] == "96"
