# SPDX-License-Identifier: Apache-2.0
"""Measures of skew, by hand, and the table that shows them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedlearn_edu.simulation.partitions import (
    describe_skew,
    dirichlet,
    iid,
    one_label_per_client,
)

LABELS = np.array([0, 0, 0, 0, 1, 1, 2, 2])
SHARES = [np.array([0, 1, 4, 6]), np.array([2, 3]), np.array([5, 7])]


def test_effective_labels_by_hand() -> None:
    """Entropies (3/2) ln 2, 0 and ln 2."""
    found = describe_skew(LABELS, SHARES)
    np.testing.assert_allclose(found.effective_labels, [2**1.5, 1.0, 2.0])


def test_one_of_ten_labels_is_nine_tenths_away() -> None:
    labels = np.tile(np.arange(10), 20)
    found = describe_skew(labels, one_label_per_client(labels))
    np.testing.assert_allclose(found.total_variation, 0.9)
    np.testing.assert_allclose(found.effective_labels, 1.0)


def test_whole_is_all_labels_and_not_what_was_dealt() -> None:
    found = describe_skew([0, 1, 1, 1], [[0, 1]])
    np.testing.assert_allclose(found.total_variation, 0.25)


@given(clients=st.integers(1, 10), seed=st.integers(0, 99))
def test_measures_keep_their_bounds(clients: int, seed: int) -> None:
    labels = np.tile(np.arange(4), 25)
    found = describe_skew(labels, dirichlet(labels, clients, 1.0, seed))
    assert (found.total_variation >= 0).all()
    assert (found.total_variation < 1).all()
    assert (found.effective_labels >= 1 - 1e-12).all()
    assert (found.effective_labels <= 4 + 1e-12).all()
    assert (found.histogram.sum(axis=0) == 25).all()


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
