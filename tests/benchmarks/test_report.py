# SPDX-License-Identifier: Apache-2.0
"""The report has every row and every bar, and says honestly which bars are met."""

import json
from typing import Any

import pytest

from tests.architecture.repository import ROOT
from tests.benchmarks.results import made_up

pytestmark = pytest.mark.tensorflow

BARS = {
    "W1, placed ÷ two threads by hand": 0.55,
    "W1, placed ÷ NumPy by hand": 1.2,
    "W1, lists ÷ two threads by hand": 1.1,
    "W1, FedAvg of the library ÷ placed": 1.15,
    "W1, the tutorial step by step": 220,
    "W2, placed ÷ parallel loop by hand": 0.2,
    "W2, placed ÷ NumPy by hand": 0.45,
    "W2 with unequal clients ÷ W2, placed": 1.6,
    "W2, lists ÷ placed": 1.6,
    "W2, placed: peak memory in all": 0.9,
    "W3, placed ÷ two threads by hand": 1.0,
    "W4, evaluation of W1 ÷ its training": 0.45,
    "W4, evaluation of W2 ÷ its training": 0.45,
    "W5, 100 clients or more: time per client differs by": 20,
    "W5, 100 clients or more: peak memory differs by": 50,
    "W6, step by step, per client and intrinsic": 40,
    "W6, tracing and compiling the tutorial": 1.5,
    "first round of W1, placed ÷ two threads by hand": 1.1,
    "first round of W2, placed ÷ two threads by hand": 1.0,
    "`import fedlearn_edu`": 0.5,
    "W7, next to nothing to compute: remote − local": 10,
    "W7, bytes beyond two models per group": 10,
    "W7, two workers ÷ one process": 1.15,
    "W7, two workers ÷ one core": 0.625,
    "W7, each row, two workers ÷ one process": 2,
    "W7, first round, two workers ÷ one process": 2,
    "W7, two workers started, and a first answer": 3,
    "W8, FedAvg with `mean()` ÷ without an aggregator": 1.05,
    "W8, `median()` ÷ NumPy by hand": 2,
}


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return made_up(lambda _table, _key: 0.25)


def test_bars_are_those_of_the_plan(results: dict[str, Any]) -> None:
    from benchmarks.bars import bars

    assert {bar.name: bar.limit for bar in bars(results)} == BARS


def test_slowest_of_several_forms_counts() -> None:
    from benchmarks.bars import bars

    slow = made_up(lambda _, key: 2.0 if key == "tutorial, placed" else 1)
    met = {bar.name: (bar.measured, bar.met) for bar in bars(slow)}
    assert met["W1, placed ÷ two threads by hand"] == (2.0, False)
    assert met["W2, placed ÷ NumPy by hand"] == (2.0, False)
    assert met["W1, lists ÷ two threads by hand"] == (1.0, True)


def test_report_has_a_line_for_everything(results: dict[str, Any]) -> None:
    from benchmarks.report import report

    lines = report(results).splitlines()
    assert lines[0].startswith("Some Processor, 2 cores, 25 GB of memory, Linux")
    assert lines[1].startswith("Data: the digits of the package; the run took 1.5 min")
    for table in results["tables"].values():
        for row in table["rows"].values():
            assert any(
                line.startswith(f"| {row['name']} | 250 | 1.00 |") for line in lines
            )
    assert (
        "| W2: TensorFlow by hand, two threads | 0.25 | 0.25 | 0.50 | 1.00 |" in lines
    )
    assert (
        "W2, placed, two rounds in a fresh process: 0.88 GB of memory at the peak; "
        "0.50 GB with TensorFlow and the data, before the first round."
    ) in lines
    assert "| 10,000 | 10,500 | 1050 | 9 | 42 |" in lines
    assert "| 100,000 | 5,500 | 1 | 55 |" in lines
    assert "| W2, one `Dataset.reduce` | 62.5 | 125 | 0.50 | 250 | 0.25 |" in lines
    assert "| W7, bytes beyond two models per group | 9.00 kB | 10 kB | yes |" in lines
    assert "| W1, placed ÷ two threads by hand | 1.00 × | 0.55 × | no |" in lines
    assert "| W1, the tutorial step by step | 250 ms | 220 ms | no |" in lines
    starts = [line.split(" | ")[0].removeprefix("| ") for line in lines]
    assert starts[-len(BARS) :] == list(BARS)


def test_without_jax_the_report_says_what_is_left_out(
    results: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks import rows
    from benchmarks.report import report
    from benchmarks.workloads import Source

    for found in (object(), None):
        monkeypatch.setattr(rows, "find_spec", {"jax": found}.get)
        table = rows.tables("W2", Source("digits", quick=True))[0]
        assert (rows.JAX in table.rows) == (found is not None)
    line = "JAX is not installed: its rows are left out."
    assert line not in report(results)
    without = {**results, "machine": {**results["machine"], "jax": None}}
    assert report(without).splitlines()[1].endswith(line)


def test_wrong_sums_and_growth_are_wrong_too(results: dict[str, Any]) -> None:
    from benchmarks.report import wrong_rows

    assert wrong_rows(results) == []
    broken = json.loads(json.dumps(results))
    broken["growth"][-1]["right"] = broken["overhead"]["sums"][0]["right"] = False
    broken["clusters"]["rows"]["reduce"]["right"] = False
    broken["aggregation"]["rules"]["median()"]["right"] = False
    assert wrong_rows(broken) == [
        "W5: 10,000 clients",
        "W6: 10 clients",
        "W7: W2, one `Dataset.reduce`",
        "W8: median()",
    ]


def test_page_shows_the_kept_results() -> None:
    from benchmarks.report import put_into, wrong_rows

    text = (ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    kept = json.loads(text)
    assert (kept["data"], kept["quick"]) == ("mnist", False)
    assert {"W1", "W2", "W3"} <= kept["tables"].keys()
    assert {"growth", "overhead", "first_rounds"} <= kept.keys()
    assert wrong_rows(kept) == []
    assert page == put_into(page, kept), "python -m benchmarks --write writes both"


def test_page_changes_between_its_marks_only(results: dict[str, Any]) -> None:
    from benchmarks.report import END, START, put_into, report

    page = f"# Title\n\n{START}\nold\n{END}\n\nProse.\n"
    changed = put_into(page, results)
    assert changed.startswith(f"# Title\n\n{START}\n\n")
    assert changed.endswith(f"\n\n{END}\n\nProse.\n")
    assert report(results) in changed
    assert put_into(changed, results) == changed
