# SPDX-License-Identifier: Apache-2.0
"""Growth, overhead and first rounds: what they count and check, on small sizes."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]


def test_growth_is_checked_and_timed_for_each_number_of_clients() -> None:
    from benchmarks.growth import seconds

    entries = seconds("digits", True, (3, 6))
    assert [entry["right"] for entry in entries] == [True, True]
    assert [set(entry) for entry in entries] == [{"right", "train_s"}] * 2


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="only Linux tells peaks"
)
def test_peak_sees_what_was_there_and_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round that needs 64 MB for a moment, after one that needs 128."""
    from benchmarks import growth
    from benchmarks.models import Loop

    needs = iter([128, 64])

    def train(_model: Any, _rate: float) -> Any:
        bytearray(b"\1" * (next(needs) << 20))

    monkeypatch.setattr(growth, "_loop", lambda _: Loop(train, lambda _: 0.0))
    peak = growth.peak_memory("digits", True, 600)
    # `bytearray` of `bytes` holds both for a moment; one copy of the data is no peak.
    data_mb = 600 * 50 * (784 + 1) * 4 / 1e6
    assert peak["first_mb"] == pytest.approx(2 * 134 - data_mb, rel=0.2)
    assert peak["later_mb"] == pytest.approx(2 * 67, rel=0.2)


def test_machine_without_peaks_gives_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks import growth, memory

    monkeypatch.setattr(memory, "_CLEAR", tmp_path / "nowhere" / "clear_refs")
    monkeypatch.setattr(memory, "_STATUS", tmp_path / "nowhere" / "status")
    found = growth.peak_memory("digits", True, 3)
    assert found == {"first_mb": None, "later_mb": None}
    assert set(growth.memory_in_all("digits", True).values()) == {None}


def test_memory_in_all_is_read_before_and_after_two_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from benchmarks import growth
    from benchmarks.models import Loop

    events: list[str] = []

    def status(field: str) -> float:
        events.append(field)
        return 1e9 * len(events)

    def train(model: Any, _rate: float) -> Any:
        events.append("round")
        return model

    monkeypatch.setattr(growth, "status", status)
    monkeypatch.setattr(growth, "_loop", lambda _: Loop(train, lambda _: 0.0))
    found = growth.memory_in_all("digits", True)
    assert events == ["VmRSS", "round", "round", "VmHWM"]
    assert found == {"before_gb": 1.0, "peak_gb": 4.0}


def test_fresh_process_does_without_jax() -> None:
    from benchmarks.processes import in_fresh_process

    assert in_fresh_process(find_spec, "jax") is None


def test_sums_count_the_intrinsics_that_are_run() -> None:
    from benchmarks.overhead import measure_sums

    entries = measure_sums((3, 10, 100))
    assert all(entry["right"] for entry in entries)
    assert [entry["intrinsics"] for entry in entries] == [1, 1, 1]


def test_rules_find_what_numpy_finds() -> None:
    from benchmarks.aggregation import measure

    found = measure(9)
    assert all(rule["right"] for rule in found["rules"].values())
    assert set(found["slot"]) == {"with_s", "without_s"}


def test_first_round_says_what_each_part_took() -> None:
    from benchmarks.first_round import COMPARED, first_round

    for key in (COMPARED["W2"][0], COMPARED["W2"][-1]):
        found = first_round("digits", True, "W2", key)
        assert set(found) == {"define_s", "call_s", "total_s", "later_s"}
        assert found["total_s"] == pytest.approx(found["define_s"] + found["call_s"])


def test_rounds_at_workers_have_the_bits_of_rounds_here() -> None:
    from benchmarks.clusters import rounds
    from benchmarks.processes import in_fresh_process

    found = in_fresh_process(rounds, "digits", True)
    assert [row["right"] for row in found["rows"].values()] == [True, True]
    sizes = found["bytes"]
    assert sizes["groups"] == 6
    models = 2 * sizes["groups"] * sizes["model"]
    assert models < sizes["down"] + sizes["up"] < models + 10_000


def test_row_that_has_used_up_its_seconds_sits_out() -> None:
    from benchmarks.measuring import take_turns

    calls: list[str] = []
    rows: dict[str, Callable[[], Any]] = {n: partial(calls.append, n) for n in "ab"}
    times = take_turns(rows, 3, {"a": 1e9, "b": 1e-12}, "a test")
    assert "".join(calls) == "abaa"
    assert {key: len(values) for key, values in times.items()} == {"a": 3, "b": 1}
