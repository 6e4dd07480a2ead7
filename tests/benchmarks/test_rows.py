# SPDX-License-Identifier: Apache-2.0
"""Every row computes what NumPy computes; one that does not is never timed."""

from dataclasses import replace

import pytest

from tests.benchmarks.results import made_up

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow, pytest.mark.thorough]


@pytest.mark.parametrize("name", ["W1", "W2"])  # W3 is what `test_main.py` runs
def test_all_rows_agree_with_numpy_and_are_timed(name: str) -> None:
    from benchmarks.measuring import measure
    from benchmarks.rows import tables
    from benchmarks.workloads import Source

    found = measure(tables(name, Source("digits", quick=True)), turns=1)
    for title, table in found.items():
        for key, row in table["rows"].items():
            assert row["right"], (title, key)
            assert row["losses"] == pytest.approx(table["expected"], rel=1e-4)
            assert {"train_s", "eval_s"} <= row.keys()
        assert table["reference"] in table["rows"]


def test_row_with_other_losses_is_wrong_and_gets_no_time() -> None:
    from benchmarks.in_numpy import losses_of
    from benchmarks.measuring import measure
    from benchmarks.report import report, wrong_rows
    from benchmarks.rows import GRAPH, NUMPY, tables
    from benchmarks.workloads import Source

    [table] = tables("W1", Source("digits", quick=True))
    *most, last = losses_of(table.workload)
    workload = replace(table.workload, known=(*most, 1.001 * last))
    few = replace(table, workload=workload, rows=(NUMPY, GRAPH), reference=NUMPY)
    found = measure([few], turns=1)
    for row in found["W1"]["rows"].values():
        assert not row["right"]
        assert "train_s" not in row
    results = {**made_up(lambda _table, _key: 1.0), "growth": [], "tables": found}
    assert wrong_rows(results) == [
        "W1: NumPy by hand",
        "W1: TensorFlow by hand, one graph, parallel loop",
    ]
    line = f"| NumPy by hand | – | – | wrong: {last:.4f}, not {1.001 * last:.4f} |"
    assert line in report(results).splitlines()
