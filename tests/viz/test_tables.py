# SPDX-License-Identifier: Apache-2.0
"""Notebooks show histories, runs and skews as tables, and curves as pictures."""

import math

import pytest

from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.simulation.partitions.skew import describe_skew
from fedlearn_edu.viz.displays import history_table, run_table, skew_table
from tests.viz.html_reader import check_html


def history_of(rounds: int, **extra: float) -> History:
    return History.of(
        {"round": k, "clients": 10_000, "loss": 1 / k, "test_accuracy": 1 - 1 / k}
        | extra
        for k in range(1, rounds + 1)
    )


def test_one_row_for_each_round() -> None:
    reader = check_html(history_table(history_of(3)))
    assert reader.tags["tr"] == 4
    assert reader.tags["details"] == 0
    assert reader.text.startswith("History of 3 roundsroundclientsdroppedlateseconds")
    assert "10,000" in reader.text
    assert "0.3333" in reader.text
    assert reader.values("img", "alt") == [
        "test accuracy, after 3 rounds: run 66.7%. loss, after 3 rounds: run 0.3333."
    ]


@pytest.mark.parametrize(("rounds", "rows"), [(10, 11), (11, 12 + 12), (200, 12 + 201)])
def test_the_middle_of_a_long_history_is_folded(rounds: int, rows: int) -> None:
    reader = check_html(history_table(history_of(rounds)))
    assert reader.tags["tr"] == rows
    assert reader.tags["details"] == (rounds > 10)


def test_without_rounds_and_without_losses_there_is_no_curve() -> None:
    reader = check_html(history_table(History()))
    assert reader.text.startswith("History of 0 rounds")
    assert reader.tags["img"] == 0


def test_what_was_not_measured_is_empty_and_what_is_no_number_says_so() -> None:
    history = History.of(
        [{"round": 1, "loss": math.nan}, {"round": 2, "clients": 3}, {"round": 3}]
    )
    reader = check_html(history_table(history))
    assert reader.text.count("NaN") == 1
    assert reader.values("img", "alt") == [
        "loss, after 3 rounds: run has no number in any round."
    ]


def test_a_run_says_why_it_stopped() -> None:
    reader = check_html(run_table(Run(None, history=history_of(1), stopped="<enough>")))
    assert reader.text.startswith("Run of 1 round, stopped: <enough>")
    assert reader.values("img", "alt") == [
        "test accuracy, after 1 round: run 0.0%. loss, after 1 round: run 1."
    ]


def test_a_skew_is_a_row_for_each_client() -> None:
    skew = describe_skew([0, 0, 1, 1, 1, 1], [[0, 2, 3], [1], [4, 5]])
    reader = check_html(skew_table(skew))
    assert reader.tags["tr"] == 4
    assert reader.text == (
        "Skew of 3 clients: on average 2.0 examples, 1.30 effective labels, total "
        "variation 0.33clientexampleseffective labelstotal variationlabel 0label 1"
        "031.890.0012111.000.6710221.000.3302"
    )
    many = describe_skew([0] * 100, [[i] for i in range(100)])
    assert check_html(skew_table(many)).tags["details"] == 1


def test_rounds_that_are_not_in_order_are_a_table_without_curves() -> None:
    rows = [{"round": 2, "loss": 1.0}, {"round": 1, "loss": 2.0}]
    reader = check_html(history_table(History.of(rows)))
    assert reader.tags["tr"] == 3
    assert reader.tags["img"] == 0
