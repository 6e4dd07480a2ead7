# SPDX-License-Identifier: Apache-2.0
"""The aggregation tree: what the picture shows is what the stack did."""

from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

import fedlearn_edu as fl
from fedlearn_edu import framework, viz
from fedlearn_edu.viz.explorers.aggregation import run_aggregation
from fedlearn_edu.viz.explorers.aggregation_table import TAKEN
from tests.viz.html_reader import check_html

ONE_TO_FIVE = (1, 2, 3, 4, 5)
ADD = fl.np_computation(lambda a, b: a + b, np.int64, np.int64)
SAME = fl.np_computation(lambda a: a, np.int64)


@settings(max_examples=20, deadline=None)
@given(
    values=st.lists(st.integers(-99, 99), min_size=1, max_size=12),
    zero=st.integers(-9, 9),
    fan_out=st.integers(2, 13),
)
def test_every_client_is_folded_once_and_every_group_merged(
    values: list[int], zero: int, fan_out: int
) -> None:
    run = run_aggregation(tuple(values), zero, fan_out)
    folding = [server for server in run.servers if not server.below]
    assert [i for server in folding for i in server.clients] == [*range(len(values))]
    folds = [step for step in run.steps if step.client is not None]
    assert [(s.client, s.other) for s in folds] == [*enumerate(values)]
    assert all(step.client in step.server.clients for step in folds)
    assert len(run.steps) == len(values) + len(folding) - 1
    assert all(step.result == step.state + step.other for step in run.steps)
    assert run.result == run.steps[-1].result
    with framework.ReferenceContext():
        flat = fl.federated_computation(
            lambda v: fl.federated_aggregate(v, np.int64(zero), ADD, ADD, SAME),
            fl.type_at_clients(np.int64),
        )(values)
    assert run.result == flat + zero * (len(folding) - 1)


@pytest.mark.parametrize(
    ("count", "fan_out", "groups"),
    [
        (5, None, "01234"),
        (5, 6, "01234"),
        (5, 5, "01234 01234"),
        (5, 3, "012 34 01234"),
        (5, 2, "01 23 0123 4 4 01234"),
    ],
)
def test_who_is_in_which_group(count: int, fan_out: int | None, groups: str) -> None:
    run = run_aggregation(tuple(range(count)), 0, fan_out)
    found = ["".join(map(str, server.clients)) for server in run.servers]
    assert " ".join(found) == groups


@pytest.mark.parametrize(
    ("values", "zero", "fan_out", "step"),
    [
        (ONE_TO_FIVE, 1, 2, 0),
        ([-1.25] * 12, 2.5, 2, 7),
        (list(range(1, 13)), 0, 3, 17),
        ([7], 1, None, 1),
        ([123456789.0, -0.001], 1, 2, 3),
    ],
    ids=["begin", "twelve", "threes", "one", "long"],
)
def test_every_column_has_a_cell_in_every_row(
    values: Any, zero: float, fan_out: Any, step: int
) -> None:
    explorer = viz.explore_aggregation(values, zero=zero, fan_out=fan_out)
    explorer.set(step=step)
    page = BeautifulSoup(explorer.html, "html.parser")
    check_html(explorer.html)
    _, *rows = page.select("tr")
    width, left = len(rows[0].select("th")), [0] * len(rows)
    for at, row in enumerate(rows):
        for each in row.select("td, th"):
            high, wide = (int(str(each.get(n, "1"))) for n in ("rowspan", "colspan"))
            for below in range(at, at + high):
                left[below] += wide
    assert left == [width] * len(rows)
    assert rows[-1].th is not None
    assert rows[-1].th.text == "report"


def test_numbers_appear_with_their_steps() -> None:
    two: Any = np.int64(2)
    explorer = viz.explore_aggregation(ONE_TO_FIVE, zero=1, fan_out=two)

    def equations(step: int) -> set[str]:
        explorer.set(step=step)
        return {text for text in check_html(explorer.html).texts if " = " in text}

    assert equations(0) == set()
    assert equations(1) == {"1 + 1 = 2"}
    assert equations(5) - equations(4) == {"4 + 8 = 12"}
    assert equations(7) - equations(6) == {"12 + 6 = 18"}
    assert explorer.html.count(TAKEN) == 1


def test_moves_change_picture_and_sentence() -> None:
    explorer = viz.explore_aggregation()
    assert explorer.sentence.endswith("Every grouping gives 15.")
    shown = explorer.shown.value
    explorer.controls["zero"].source.value = 1
    assert explorer.sentence.endswith(
        "16 in one, 18 with fan-out 2, 17 with 3, 17 with 4."
    )
    assert explorer.shown.value != shown
    explorer.controls["fan_out"].source.value = 2
    assert explorer.sentence.startswith("Step 8 of 8: The server reports 18.")
    explorer.controls["step"].source.value = 5
    assert explorer.sentence == "Step 5 of 8: 4 and 8, of two groups, are merged: 12."
    explorer.set(step=3)
    assert "A group has 1 and accumulates client 2's 3: 4." in explorer.sentence
    explorer.set(step=0)
    assert explorer.sentence == "Step 0 of 8: 3 groups begin from zero = 1."


def test_play_moves_the_steps_and_the_preset_makes_eighteen() -> None:
    explorer = viz.explore_aggregation()
    play, preset, _ = explorer.actions.children[-3:]
    play.value = 2
    assert explorer.sentence.startswith("Step 2 of 6")
    explorer.set(step=6)
    preset.click()
    assert explorer.sentence.startswith("Step 8 of 8: The server reports 18.")
    assert play.max == 8
