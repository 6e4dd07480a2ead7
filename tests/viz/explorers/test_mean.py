# SPDX-License-Identifier: Apache-2.0
"""A mean opened up: its numbers are the library's, and the picture has all of them."""

import math

import numpy as np
import pytest
from bs4 import BeautifulSoup

from fedlearn_edu import viz
from fedlearn_edu.viz.explorers.mean import run_mean
from fedlearn_edu.viz.shortening import written
from tests.viz.html_reader import check_html

CASES = {
    "three": ([1.0, 2.0, 6.0], None),
    "weighted": ([1.0, -2.5, 6.0], [1.0, 2.0, 0.5]),
    "one-weighted": ([4.5], [0.5]),
    "eight": (
        [-10.0, 3.5, 0.0, 9.99, 1.25, -7.0, 10.0, 2.0],
        [10.0, 0, 1, 1, 2, 3, 4, 5],
    ),
    "hundred": ([float(i) for i in range(100)], None),
}


@pytest.mark.parametrize("case", ["three", "weighted", "eight", "hundred"])
def test_secure_sums_send_masked_numbers_whose_masks_cancel(case: str) -> None:
    values, weights = CASES[case]
    run = run_mean(values, weights, secure=True)
    masks = np.array(run.masks, dtype=np.int64)
    hidden = np.array(run.hidden, dtype=np.int64)
    sent = np.array(run.sent, dtype=np.int64)[:, : masks.shape[1]]
    assert np.abs(masks).min() > 0
    assert not (masks.sum(axis=0) % 2**32).any()
    assert not ((hidden + masks - sent) % 2**32).any()
    assert run.sums[-1][: masks.shape[1]] == tuple(hidden.sum(axis=0))
    if weights is None:
        assert run.sums[-1][1] == len(values)


def test_secure_sums_see_hundredths_above_the_bound() -> None:
    run = run_mean([1.0, -2.5], [1.0, 2.0], secure=True)
    assert run.bound == 10.0
    assert run.hidden == ((1100, 100), (1500, 200))
    assert run_mean([0.004], None, secure=True).mean == 0.0
    assert run_mean([99.0], None, secure=True).bound == 100.0


def test_masks_are_fresh_every_time() -> None:
    first, second = (run_mean([1.0, 2.0], None, secure=True) for _ in range(2))
    assert first.masks != second.masks
    assert first.hidden == second.hidden


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "secure"])
def test_a_weight_of_zero_has_no_mean(secure: bool) -> None:
    assert math.isnan(run_mean([1.0, 2.0], [0.0, 0.0], secure=secure).mean)
    words = viz.explore_mean([1.0, 2.0], [0.0, 0.0], secure=secure).sentence
    assert "nan. A mean over a weight of zero does not exist." in words


def test_sums_without_a_number_are_explained() -> None:
    words = viz.explore_mean([1.0, 2.0], [0.001, 0.0], secure=True).sentence
    assert words.endswith("the mean is inf. In hundredths, all weights became 0.")
    words = viz.explore_mean([3e38, 3e38]).sentence
    assert words.endswith("the mean is inf. Such a sum is beyond the largest float32.")


def test_a_single_client_has_nothing_to_hide_behind() -> None:
    assert run_mean([4.5], None, secure=True).masks == ((0,),)
    assert "its mask is 0" in viz.explore_mean([4.5], secure=True).sentence


def test_secure_sums_need_room() -> None:
    with pytest.raises(viz.FigureDataError, match="would not fit"):
        run_mean([1e9, 1.0], None, secure=True)


@pytest.mark.parametrize("case", ["three", "eight", "one-weighted"])
@pytest.mark.parametrize("secure", [False, True], ids=["plain", "secure"])
def test_every_number_is_in_the_table_under_its_head(case: str, secure: bool) -> None:
    values, weights = CASES[case]
    explorer = viz.explore_mean(values, weights, secure=secure)
    reader = check_html(explorer.html)
    run = run_mean(values, weights, secure=False)
    if not secure:
        for row in (*run.sent, *run.sums):
            assert " | ".join(map(written, row)) in "\n".join(reader.lines)
    assert reader.values("th", "scope").count("row") == len(values) + 1
    assert reader.values("th", "scope").count("colgroup") == 3
    assert f"= {written(run.mean)}" in reader.text


def test_a_table_reads_row_by_row() -> None:
    html = viz.explore_mean([1.0, -2.5, 6.0], [1.0, 2.0, 0.5]).html
    plain = html.replace("\N{NO-BREAK SPACE}", " ")
    rows = BeautifulSoup(plain, "html.parser").select("tr")
    assert [" | ".join(cell.text for cell in row.select("th, td")) for row in rows] == [
        "each client holds | and sends | the server then has",
        "client | value v | −1115 | weight w | v × w | w | 1"
        " | sum of v × w | sum of w | count",
        "client 0 | 1 |  | 1 | 1 | 1 | 1 | 1 | 1 | 1",
        "client 1 | −2.5 |  | 2 | −5 | 2 | 1 | −4 | 3 | 2",
        "client 2 | 6 |  | 0.5 | 3 | 0.5 | 1 | −1 | 3.5 | 3",
        "mean |  |  | mean = −1 ÷ 3.5 = −0.28571",
    ]


def test_moves_change_picture_and_sentence() -> None:
    explorer = viz.explore_mean()
    assert explorer.sentence.endswith("the mean is 3.")
    shown = explorer.shown.value
    explorer.controls["value_2"].source.value = -3.0
    assert explorer.sentence.endswith("adds up 0 and 3, and divides: the mean is 0.")
    assert explorer.shown.value != shown
    explorer.set(weighted=True, weight_1=4.0)
    assert explorer.sentence.endswith("adds up 6 and 6, and divides: the mean is 1.")
    explorer.set(secure=True)
    assert "masks" in explorer.sentence
    assert explorer.sentence.endswith("the mean is 1.")


def test_the_largest_number_can_still_be_moved_up() -> None:
    explorer = viz.explore_mean([18.0, 21.0, 24.0], [1.0, 1.0, 12.0])
    explorer.set(value_2=27.0, weight_2=14.0)
    assert (explorer.values["value_2"], explorer.values["weight_2"]) == (27.0, 14.0)
    aggregation = viz.explore_aggregation(zero=8)
    aggregation.set(zero=9)
    assert aggregation.values["zero"] == 9
    huge = viz.explore_mean([3e38]).controls["value_0"].source
    assert 3e38 <= huge.max <= np.finfo(np.float32).max


def test_sliders_of_weights_are_there_when_they_count() -> None:
    explorer = viz.explore_mean()
    box = explorer.controls["weight_0"].box
    assert box.layout.display == "none"
    explorer.set(weighted=True)
    assert box.layout.display is None
    assert viz.explore_mean([1.0], [2.0]).values["weighted"]
