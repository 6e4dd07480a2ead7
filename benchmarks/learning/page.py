# SPDX-License-Identifier: Apache-2.0
"""From the record to the tables of `docs/performance.md`, and to figures to reach."""

from collections.abc import Iterator
from statistics import mean, stdev
from typing import Any

from benchmarks.learning.experiments import PUBLISHED, ROUNDS, RULES
from benchmarks.report import put_into, table_of

_FIGURE_ROUND = 50
# Between which two the mean over the seeds has to be: data, attack, rule.
_POISONED = {
    ("IID", "sign flip × 5", "mean"): (0.0, 0.15),
    ("IID", "sign flip × 5", "median"): (0.87, 1.0),
    ("IID", "sign flip × 5", "multi-Krum"): (0.88, 1.0),
    ("IID", "one replaces the model", "mean"): (0.0, 0.5),
    ("IID", "one replaces the model", "clipped mean"): (0.88, 1.0),
    ("one shard", "", "Krum"): (0.0, 0.15),
    ("two shards", "", "Krum"): (0.0, 0.3),
}


def written(page: str, results: dict[str, Any]) -> str:
    """The page with the tables of the record, each between its marks."""
    for name, table in _TABLES.items():
        if name in results:
            marks = f"<!-- {name} -->", f"<!-- /{name} -->"
            page = put_into(page, table(results[name]), *marks)
    return page


def mean_at(entry: dict[str, Any], number: int) -> float:
    """Accuracy in % after a round, the mean over the seeds."""
    return 100 * float(mean(run[number - 1] for run in entry["accuracy"]))


def figures(results: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """What was to be reached, and whether it was."""
    if "algorithms" in results:
        names = ("SCAFFOLD", "FedAdam", "FedAvg, E = 1")
        runs = zip(*(results["algorithms"][n]["accuracy"] for n in names), strict=True)
        after = [[run[_FIGURE_ROUND - 1] for run in seed] for seed in runs]
        holds = all(best > middle > last for best, middle, last in after)
        yield "SCAFFOLD > FedAdam > FedAvg after 50 rounds, every seed", holds
    for kind, rounds in results.get("paper", {}).items():
        fits = all(each is not None and each <= PUBLISHED[kind] for each in rounds)
        found = _rounds(rounds)
        yield f"2NN, {kind}: {PUBLISHED[kind]} rounds or fewer: {found}", fits
    for (data, attack, rule), (low, high) in _POISONED.items():
        for row in results.get("poisoning", []):
            if (row["data"], row["attack"]) == (data, attack):
                reached = mean(row["accuracy"][rule])
                what = f"{data}, {attack or 'no attack'}, {rule}"
                what += f": {low:.2f} to {high:.2f}: {reached:.3f}"
                yield what, low <= reached <= high


def _algorithms(found: dict[str, Any]) -> str:
    heads = ["after rounds", *map(str, ROUNDS)]
    lines = [
        [f"{name}: {entry['settings']}", *(f"{mean_at(entry, n):.1f}" for n in ROUNDS)]
        for name, entry in found.items()
    ]
    return table_of(heads, lines)


def _paper(found: dict[str, list[int | None]]) -> str:
    parts = [
        f"{kind}: {PUBLISHED[kind]} rounds published, ours {_rounds(rounds)}"
        for kind, rounds in found.items()
    ]
    return f"{'; '.join(parts)}."


def _rounds(rounds: list[int | None]) -> str:
    return ", ".join("not reached" if each is None else f"{each}" for each in rounds)


def _poisoning(found: list[dict[str, Any]]) -> str:
    lines = [
        [f"{row['data']}, {row['attack'] or 'no attack'}"]
        + [_spread(row["accuracy"][rule]) for rule in RULES]
        for row in found
    ]
    return table_of(["data, attack", *RULES], lines)


def _privacy(found: list[dict[str, Any]]) -> str:
    lines = [
        [
            f"{row['clients']:,}",
            f"{row['noise']:g}",
            "∞" if row["epsilon"] is None else f"{row['epsilon']:.2f}",
            _spread(row["accuracy"]),
        ]
        for row in found
    ]
    return table_of(["clients", "noise multiplier", "ε", "accuracy"], lines)


def _spread(shares: list[float]) -> str:
    """A mean in percent; what seeds make of it, if that is more than one point."""
    around = 100 * stdev(shares) if len(shares) > 1 else 0.0
    return f"{100 * mean(shares):.1f}" + (f" ± {around:.0f}" if around > 1 else "")


_TABLES: dict[str, Any] = {
    "algorithms": _algorithms,
    "paper": _paper,
    "poisoning": _poisoning,
    "privacy": _privacy,
}
