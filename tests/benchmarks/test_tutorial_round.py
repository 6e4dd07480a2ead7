# SPDX-License-Identifier: Apache-2.0
"""The benchmark compares loops that do the same, and says what it measured."""

import json
from pathlib import Path

import pytest

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]


def test_all_loops_find_the_same_loss_and_the_report_says_so(tmp_path: Path) -> None:
    from benchmarks.tutorial_round import OURS, measure, report, write

    results = measure(data="digits28", repeats=1)
    losses = [row["loss"] for row in results["rounds"].values()]
    assert losses == pytest.approx([22.127516] * 7, rel=1e-5)
    assert results["import"]["loads_tensorflow"] is False

    text = report(results)
    assert "Data: the embedded digits; 10 clients, 100 batches" in text
    assert "(TensorFlow is not loaded)" in text
    rows = [line for line in text.splitlines() if line.startswith(f"| {OURS} |")]
    assert [row.split(" | ")[-1] for row in rows] == ["22.12752 |"]

    write(results, tmp_path / "new" / "bench.json")
    assert json.loads((tmp_path / "new" / "bench.json").read_text()) == results
