# SPDX-License-Identifier: Apache-2.0
"""Every row computes what NumPy computes; one that does not is never timed."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import pytest

from tests.architecture.repository import ROOT

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["W1", "W2"])
def test_all_rows_agree_with_numpy_and_are_timed(name: str) -> None:
    from benchmarks.measuring import measure
    from benchmarks.report import wrong_rows
    from benchmarks.rows import JAX, rows_of
    from benchmarks.workloads import Source

    found = measure(Source("digits", quick=True), name)
    assert wrong_rows(found) == []
    rows = found[name]["rows"]
    assert list(rows) == rows_of(name)
    assert (JAX in rows) == (find_spec("jax") is not None)
    assert all(entry["seconds"] > 0 for entry in rows.values())


def test_row_with_other_losses_is_wrong_and_gets_no_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from benchmarks import in_numpy, measuring
    from benchmarks.report import report, wrong_rows
    from benchmarks.rows import NUMPY, PARALLEL
    from benchmarks.workloads import Source

    source = Source("digits", quick=True)
    *most, last = in_numpy.losses_of(source.w1())
    losses = (*most, 1.001 * last)
    monkeypatch.setattr(measuring, "rows_of", lambda _: [NUMPY, PARALLEL])
    monkeypatch.setattr(in_numpy, "losses_of", lambda _: losses)
    found = measuring.measure(source, "W1")
    assert [line.partition(": [")[0] for line in wrong_rows(found)] == [
        f"W1: {NUMPY}",
        f"W1: {PARALLEL}",
    ]
    results = {"machine": "", "data": "digits", "quick": True, "workloads": found}
    assert f"| {NUMPY} | wrong |" in report(results)


def test_row_that_has_used_up_its_seconds_sits_out() -> None:
    from benchmarks.measuring import medians

    calls: list[str] = []
    rows: dict[str, Callable[[], Any]] = {n: partial(calls.append, n) for n in "ab"}
    assert set(medians(rows, 3, 1e-12, "a test")) == {"a", "b"}
    assert "".join(calls) == "ab"
    medians(rows, 2, 1e9, "a test")
    assert "".join(calls) == "ababab"


@pytest.mark.thorough
def test_first_round_and_import_are_timed() -> None:
    from benchmarks import first
    from benchmarks.rows import PLACED

    assert first.first_round("digits", True, "W2", PLACED) > 0
    assert first.import_seconds() > 0


def test_fresh_process_does_without_jax() -> None:
    from benchmarks.processes import in_fresh_process

    assert in_fresh_process(find_spec, "jax") is None


@pytest.mark.thorough
def test_rounds_at_workers_have_the_bits_of_rounds_here() -> None:
    from benchmarks.clusters import measure
    from benchmarks.report import wrong_rows

    found = measure("digits", quick=True)
    assert wrong_rows({"W7": found}) == []
    sizes = found["bytes"]
    assert sizes["groups"] == 6
    models = 2 * sizes["groups"] * sizes["model"]
    assert models < sizes["down"] + sizes["up"] < models + 10_000


@pytest.mark.thorough
def test_a_mean_over_many_clients_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from benchmarks.scale import main

    main((70,))
    assert capsys.readouterr().out.split()[-1] == "26.0000"


@pytest.mark.thorough
def test_rows_of_two_checkouts_are_both_right_and_timed() -> None:
    from benchmarks.against import HERE, THERE, compare
    from benchmarks.rows import OURS

    found = compare(ROOT, ["W2"], "digits", quick=True)
    for side in (HERE, THERE):
        rows = found[side]["W2"]["rows"]
        assert set(rows) <= set(OURS)
        assert all(entry["right"] and entry["seconds"] for entry in rows.values())


def test_other_checkout_is_the_one_that_is_imported() -> None:
    from benchmarks.processes import Elsewhere, use_checkout

    there = Elsewhere(use_checkout, ROOT / "nowhere")
    assert there(_first_of_path) == str(ROOT / "nowhere")
    there.close()


def _first_of_path() -> str:
    import sys

    return sys.path[0]


def test_row_that_became_slower_is_named() -> None:
    from benchmarks.against import HERE, THERE
    from benchmarks.report import comparison, slower_rows

    seconds = {HERE: {"a": 0.12, "b": 0.05}, THERE: {"a": 0.1, "b": 0.1}}
    found = {
        side: {"W1": {"rows": {row: {"seconds": s} for row, s in rows.items()}}}
        for side, rows in seconds.items()
    }
    assert slower_rows(found) == ["W1: a"]
    assert "| W1: a | 120 | 100 | 1.20 | slower |" in comparison(found).splitlines()
