# SPDX-License-Identifier: Apache-2.0
"""`draw_partition`: the numbers of `describe_skew`, whole and at every width."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu import viz
from fedlearn_edu.simulation import datasets, partitions
from fedlearn_edu.viz import style
from tests.viz.drawn_text import check_figure

WIDTHS = [viz.NARROW_IN, style.EXPLORER_IN, viz.WIDE_IN]
LABELS = np.repeat([0, 1, 2], [4, 4, 2])
SHARES = [[0, 1, 4], [2, 3], [5, 6, 7, 8, 9]]


@pytest.fixture(scope="module")
def digits() -> Any:
    return datasets.load_digits28().train


DEALT = {
    "one-label": lambda y: partitions.one_label_per_client(y),
    "one-client": lambda y: partitions.iid(y, 1),
    "twenty": lambda y: partitions.dirichlet(y, 20, 0.5),
    "hundred": lambda y: partitions.log_normal_sizes(y, 100, 2.0),
}


@pytest.mark.parametrize("width_in", WIDTHS)
@pytest.mark.parametrize("kind", DEALT)
def test_a_partition_has_all_its_words(digits: Any, kind: str, width_in: float) -> None:
    x, y = digits
    figure = viz.draw_partition(y, DEALT[kind](y), images=x, width_in=width_in)
    texts = check_figure(figure)
    heads = {"client", "examples of each label", "size", "total\nvariation"}
    assert heads <= set(texts)
    assert figure.get_size_inches()[0] == width_in


def test_numbers_are_those_of_the_partition() -> None:
    texts = check_figure(viz.draw_partition(LABELS, SHARES, width_in=style.EXPLORER_IN))
    skew = partitions.describe_skew(LABELS, SHARES)
    for number in (*skew.sizes, *skew.histogram[skew.histogram > 0]):
        assert str(number) in texts
    for share in skew.total_variation:
        assert f"{share:.2f}" in texts


def test_it_says_the_means_of_the_partition() -> None:
    words = style.said(viz.draw_partition(LABELS, SHARES))
    skew = partitions.describe_skew(LABELS, SHARES)
    assert words.startswith("3 clients hold 2 to 5 of 10 examples each.")
    assert f"Mean total variation {skew.total_variation.mean():.2f}" in words
    assert f"effective labels {skew.effective_labels.mean():.2f} of 3." in words


def test_shades_are_shares_of_what_a_client_holds() -> None:
    figure = viz.draw_partition(LABELS, SHARES)
    (image,) = (axes.images[0] for axes in figure.axes if axes.images)
    np.testing.assert_allclose(
        np.asarray(image.get_array()),
        [[2 / 3, 1 / 3, 0.0], [1.0, 0.0, 0.0], [0.0, 0.6, 0.4]],
    )


def test_images_are_those_the_client_holds(digits: Any) -> None:
    x, y = digits
    shares = partitions.one_label_per_client(y, 2)
    figure = viz.draw_partition(y, {"a": shares[0], "b": shares[1]}, images=x)
    picture = np.asarray(figure.axes[0].images[0].get_array())
    assert any(
        np.array_equal(x[shares[1][0]], picture[r : r + 28, 1:29])
        for r in range(len(picture) // 2, len(picture) - 27)
    )


def test_counts_that_would_touch_are_left_out() -> None:
    labels = np.repeat([0, 1], 5000)
    texts = viz.draw_partition(
        labels, partitions.iid(labels, 2), width_in=viz.NARROW_IN
    )
    assert "2,500" not in check_figure(texts)
    wide = np.tile(np.arange(10), 5000)
    shown = viz.draw_partition(wide, partitions.iid(wide, 2), width_in=viz.NARROW_IN)
    assert not any(len(text) == 4 and text.isdigit() for text in check_figure(shown))


@pytest.mark.parametrize(
    "shares", [[], [[0], []], [[99]]], ids=["none", "empty", "far"]
)
def test_partitions_that_are_none_are_refused(shares: Any) -> None:
    with pytest.raises(partitions.PartitionError):
        viz.draw_partition(LABELS, shares)
