# SPDX-License-Identifier: Apache-2.0
"""The figures this project set itself to reach, beside those that were measured.

All but a few are ratios within one run. Where a client's part can be written in several
ways, the slowest of them counts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

from benchmarks import clusters
from benchmarks.rows import (
    ALL_LISTS,
    ALL_PLACED,
    FED_AVG,
    GRAPH,
    NUMPY,
    THREADS,
    ours_key,
)

TIMES = "×"
_LARGE = 100
_MANY = 1000
_LISTS = ours_key("operators")
_PLACED = ours_key("operators", placed=True)
_KB = 1000
_FIRST_ROUNDS = {"W1": 1.1, "W2": 1.0}


@final
@dataclass(frozen=True)
class Bar:
    """One figure to reach.

    Attributes:
        name: what is measured, and what it is divided by.
        measured: `None` if this machine or this run does not tell.
        limit: the most it may be.
        unit: of both.
    """

    name: str
    measured: float | None
    limit: float
    unit: str

    @property
    def met(self) -> bool | None:
        """Whether it is reached; `None` if nothing is known."""
        return None if self.measured is None else self.measured <= self.limit


def bars(results: dict[str, Any]) -> list[Bar]:
    """All bars about what was measured, in the order of the workloads."""
    tables = results["tables"]
    found: list[Bar] = []
    if "W1" in tables:
        found += _of_w1(tables["W1"])
    if "W2" in tables:
        found += _of_w2(tables["W2"], tables["W2, unequal"])
        peak = results.get("memory", {}).get("peak_gb")
        found.append(Bar("W2, placed: peak memory in all", peak, 0.9, "GB"))
    if "W3" in tables:
        ratio = _ratio(tables["W3"], [_PLACED], THREADS)
        found.append(Bar("W3, placed ÷ two threads by hand", ratio, 1.0, TIMES))
    for name in [name for name in ("W1", "W2") if name in tables]:
        title = f"W4, evaluation of {name} ÷ its training"
        found.append(Bar(title, _evaluation(tables[name]), 0.45, TIMES))
    if "growth" in results:
        found += _of_growth(results["growth"])
    if "overhead" in results:
        found.append(_of_sums(results["overhead"]["sums"]))
    found += _of_first_rounds(results.get("first_rounds", {}))
    if "overhead" in results:
        imported = results["overhead"]["import"]["seconds"]
        found.append(Bar("`import fedlearn_edu`", imported, 0.5, "s"))
    if "clusters" in results:
        found += _of_clusters(results["clusters"])
    if "aggregation" in results:
        found += _of_aggregation(results["aggregation"])
    return found


def _of_w1(table: dict[str, Any]) -> list[Bar]:
    threads, numpy = (_ratio(table, ALL_PLACED, key) for key in (THREADS, NUMPY))
    lists = _ratio(table, ALL_LISTS, THREADS)
    library = _ratio(table, [FED_AVG], _PLACED)
    by_step = _time(table, ours_key("tutorial", fuse=False))
    by_step_ms = None if by_step is None else 1000 * by_step
    return [
        Bar("W1, placed ÷ two threads by hand", threads, 0.55, TIMES),
        Bar("W1, placed ÷ NumPy by hand", numpy, 1.2, TIMES),
        Bar("W1, lists ÷ two threads by hand", lists, 1.1, TIMES),
        Bar("W1, FedAvg of the library ÷ placed", library, 1.15, TIMES),
        Bar("W1, the tutorial step by step", by_step_ms, 220, "ms"),
    ]


def _of_w2(table: dict[str, Any], unequal: dict[str, Any]) -> list[Bar]:
    loop, numpy = (_ratio(table, ALL_PLACED, key) for key in (GRAPH, NUMPY))
    lists = _ratio(table, [_LISTS], _PLACED)
    slower = _quotient(_time(unequal, _PLACED), _time(table, _PLACED))
    return [
        Bar("W2, placed ÷ parallel loop by hand", loop, 0.2, TIMES),
        Bar("W2, placed ÷ NumPy by hand", numpy, 0.45, TIMES),
        Bar("W2 with unequal clients ÷ W2, placed", slower, 1.6, TIMES),
        Bar("W2, lists ÷ placed", lists, 1.6, TIMES),
    ]


def _of_growth(entries: list[dict[str, Any]]) -> list[Bar]:
    large = [entry for entry in entries if entry["clients"] >= _LARGE]
    each = [entry["train_s"] / entry["clients"] for entry in large]
    peaks = [entry["later_mb"] for entry in large if entry["later_mb"] is not None]
    spread = 100 * (max(each) / min(each) - 1) if each else None
    range_mb = max(peaks) - min(peaks) if peaks else None
    name = f"W5, {_LARGE} clients or more"
    return [
        Bar(f"{name}: time per client differs by", spread, 20, "%"),
        Bar(f"{name}: peak memory differs by", range_mb, 50, "MB"),
    ]


def _of_sums(entries: list[dict[str, Any]]) -> Bar:
    # With a few clients, it is the call that costs.
    many = [entry["each_us"] for entry in entries if entry["clients"] >= _MANY]
    return Bar("W6, step by step, per client and intrinsic", _most(many), 40, "µs")


def _of_first_rounds(first_rounds: dict[str, Any]) -> list[Bar]:
    found = []
    tutorial = first_rounds.get("W1", {}).get(ours_key("tutorial"))
    if tutorial is not None:
        tracing = tutorial["total_s"] - tutorial["later_s"]
        found.append(Bar("W6, tracing and compiling the tutorial", tracing, 1.5, "s"))
    for name, rows in first_rounds.items():
        if THREADS in rows:
            ratio = rows[_PLACED]["total_s"] / rows[THREADS]["total_s"]
            title = f"first round of {name}, placed ÷ two threads by hand"
            found.append(Bar(title, ratio, _FIRST_ROUNDS[name], TIMES))
    return found


def _of_clusters(found: dict[str, Any]) -> list[Bar]:
    rows, sums = found["rows"], found["sum"]
    times = {key: row["remote_s"] / row["local_s"] for key, row in rows.items()}
    one_core = rows[clusters.FIRST]["remote_s"] / rows[clusters.FIRST]["one_core_s"]
    more_ms = 1000 * (sums["remote_s"] - sums["local_s"])
    first = found["first"]["remote"] / found["first"]["local"]
    return [
        Bar("W7, next to nothing to compute: remote − local", more_ms, 10, "ms"),
        Bar("W7, bytes beyond two models per group", beyond_models(found), 10, "kB"),
        Bar("W7, two workers ÷ one process", times[clusters.FIRST], 1.15, TIMES),
        Bar("W7, two workers ÷ one core", one_core, 0.625, TIMES),
        Bar("W7, each row, two workers ÷ one process", max(times.values()), 2, TIMES),
        Bar("W7, first round, two workers ÷ one process", first, 2, TIMES),
        Bar("W7, two workers started, and a first answer", sums["start_s"], 3, "s"),
    ]


def _of_aggregation(found: dict[str, Any]) -> list[Bar]:
    slot = found["slot"]["with_s"] / found["slot"]["without_s"]
    return [
        Bar("W8, FedAvg with `mean()` ÷ without an aggregator", slot, 1.05, TIMES),
        *(
            Bar(
                f"W8, `{rule['name']}` ÷ NumPy by hand",
                rule["ours_s"] / rule["by_hand_s"],
                2,
                TIMES,
            )
            for rule in found["rules"].values()
        ),
    ]


def beyond_models(found: dict[str, Any]) -> float:
    """Kilobytes of a round that are not its models: one down and up for each group."""
    sizes = found["bytes"]
    models = 2 * sizes["groups"] * sizes["model"]
    kilobytes: float = (sizes["down"] + sizes["up"] - models) / _KB
    return kilobytes


def _evaluation(table: dict[str, Any]) -> float | None:
    return _most(
        _quotient(_time(table, key, "eval_s"), _time(table, key)) for key in ALL_PLACED
    )


def _ratio(table: dict[str, Any], keys: Iterable[str], reference: str) -> float | None:
    """Training of the slowest of some rows, divided by that of another."""
    slowest = _most(_time(table, key) for key in keys)
    return _quotient(slowest, _time(table, reference))


def _time(table: dict[str, Any], key: str, what: str = "train_s") -> float | None:
    """Seconds of a row, if it is there and right."""
    found: float | None = table["rows"].get(key, {}).get(what)
    return found


def _quotient(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one / other


def _most(values: Iterable[float | None]) -> float | None:
    """The largest; unknown if one of them is."""
    found = list(values)
    known = [value for value in found if value is not None]
    return max(known) if found and len(known) == len(found) else None
