# SPDX-License-Identifier: Apache-2.0
"""The results as Markdown: for the terminal, and for `docs/performance.md`."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.bars import TIMES, Bar, bars
from benchmarks.rows import THREADS

START = "<!-- made by `python -m benchmarks --write` -->"
END = "<!-- end of what is made -->"
_SUM = "sum of four floats, two at each worker"
_SMALL_UNITS = (TIMES, "s", "GB", "kB")  # two digits behind the point


def report(results: dict[str, Any]) -> str:
    """Everything that was measured, the bars last."""
    parts = [_machine(results)]
    parts += [_rounds(name, table) for name, table in results["tables"].items()]
    if "memory" in results:
        parts.append(_memory(results["memory"]))
    if results.get("first_rounds"):
        parts.append(_first_rounds(results["first_rounds"]))
    if "growth" in results:
        parts.append(_growth(results["growth"]))
    if "overhead" in results:
        parts.append(_overhead(results["overhead"]))
    if "clusters" in results:
        parts.append(_clusters(results["clusters"]))
    if "aggregation" in results:
        parts.append(_aggregation(results["aggregation"]))
    parts.append(_bars(bars(results)))
    return "\n\n".join(parts)


def put_into(page: str, results: dict[str, Any]) -> str:
    """A page with a new report between its marks."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n{report(results)}\n\n{END}{after}"


def wrong_rows(results: dict[str, Any]) -> list[str]:
    """What did not find the losses or the sums it should."""
    rows = [
        f"{name}: {row['name']}"
        for name, table in results["tables"].items()
        for row in table["rows"].values()
        if not row["right"]
    ]
    entries = {"W5": results.get("growth", [])}
    entries["W6"] = results.get("overhead", {}).get("sums", [])
    rows += [
        f"{name}: {entry['clients']:,} clients"
        for name, found in entries.items()
        for entry in found
        if not entry["right"]
    ]
    found = results.get("clusters", {}).get("rows", {}).values()
    rows += [f"W7: {row['name']}" for row in found if not row["right"]]
    found = results.get("aggregation", {}).get("rules", {}).values()
    return rows + [f"W8: {row['name']}" for row in found if not row["right"]]


def _machine(results: dict[str, Any]) -> str:
    machine = results["machine"]
    memory, jax = machine["memory_gb"], machine.get("jax")
    parts = [
        f"{machine['processor']}, {machine['cores']} cores",
        *([f"{memory} GB of memory"] if memory else []),
        f"{machine['system']}, load {machine['load_before']} before",
        f"Python {machine['python']}, TensorFlow {machine['tensorflow']}, "
        f"NumPy {machine['numpy']}",
        *([f"JAX {jax}"] if jax else []),
    ]
    data = "MNIST" if results["data"] == "mnist" else "the digits of the package"
    note = " Sizes are small: no time means anything." if results["quick"] else ""
    took = f"the run took {results['took_s'] / 60:.1f} minutes"
    skipped = "" if jax else " JAX is not installed: its rows are left out."
    return f"{', '.join(parts)}.\nData: {data}; {took}.{note}{skipped}"


def _rounds(name: str, table: dict[str, Any]) -> str:
    rows, reference = table["rows"], table["rows"][table["reference"]]
    evaluates = any("eval_s" in row for row in rows.values())
    whats = ("train_s", "eval_s") if evaluates else ("train_s",)
    lines = []
    for row in rows.values():
        cells = [row["name"]]
        for what in whats:
            cells += [_ms(row.get(what)), _times(row.get(what), reference.get(what))]
        lines.append([*cells, _loss(row, table["expected"])])
    heads = [f"{name}: {table['title']}", "training, ms", TIMES]
    heads += ["evaluation, ms", TIMES] if evaluates else []
    count = len(table["expected"])
    heads.append(f"loss after {count} round{'s' if count > 1 else ''}")
    return _table(heads, lines)


def _loss(row: dict[str, Any], expected: Sequence[float]) -> str:
    """The last loss that was checked, or the one that is most wrong."""
    losses = row["losses"]
    if not row["right"]:
        pairs = zip(losses, expected, strict=False)
        found, other = max(pairs, key=lambda pair: abs(pair[0] - pair[1]))
        return f"wrong: {found:.4f}, not {other:.4f}"
    early = "" if len(losses) == len(expected) else f" after {len(losses)}"
    return f"{losses[-1]:.4f}{early}"


def _first_rounds(first_rounds: dict[str, Any]) -> str:
    lines = []
    for name, rows in first_rounds.items():
        reference = rows.get(THREADS, {}).get("total_s")
        for row in rows.values():
            times = [f"{row[k]:.2f}" for k in ("define_s", "call_s", "total_s")]
            ratio = _times(row["total_s"], reference)
            lines.append([f"{name}: {row['name']}", *times, ratio])
    heads = ["first round, fresh process", "prepare, s", "call, s", "both, s", TIMES]
    return _table(heads, lines)


def _memory(memory: dict[str, float | None]) -> str:
    before, peak = (_figure(memory[name], "GB") for name in ("before_gb", "peak_gb"))
    return (
        f"W2, placed, two rounds in a fresh process: {peak} of memory at the peak; "
        f"{before} with TensorFlow and the data, before the first round."
    )


def _growth(entries: list[dict[str, Any]]) -> str:
    lines = [
        [
            f"{entry['clients']:,}",
            _ms(entry["train_s"]),
            f"{1e6 * entry['train_s'] / entry['clients']:.0f}",
            _mb(entry["first_mb"]),
            _mb(entry["later_mb"]),
        ]
        for entry in entries
    ]
    heads = ["W5: clients", "training, ms", "µs per client"]
    memory = ["first round, MB beyond the data", "later rounds, MB"]
    return _table([*heads, *memory], lines)


def _overhead(overhead: dict[str, Any]) -> str:
    lines = [
        [
            f"{entry['clients']:,}",
            _ms(entry["seconds"]),
            f"{entry['intrinsics']}",
            f"{entry['each_us']:.0f}",
        ]
        for entry in overhead["sums"]
    ]
    heads = ["W6: sum of a float, step by step: clients", "call, ms", "intrinsics"]
    loaded = "is" if overhead["import"]["loads_tensorflow"] else "is not"
    imported = f"{overhead['import']['seconds']:.2f} s; TensorFlow {loaded} loaded"
    table = _table([*heads, "µs per client and intrinsic"], lines)
    return f"{table}\n\n`import fedlearn_edu` takes {imported}."


def _clusters(found: dict[str, Any]) -> str:
    rows = [*found["rows"].values(), {"name": _SUM, **found["sum"]}]
    lines = []
    for row in rows:
        remote, others = row["remote_s"], (row["local_s"], row.get("one_core_s"))
        pairs = [(_ms(other), _times(remote, other)) for other in others]
        lines.append([row["name"], _ms(remote), *itertools.chain(*pairs)])
    heads = ["W7: a round with clients", "at two workers, ms", "in one process, ms"]
    sizes, first, start_s = found["bytes"], found["first"], found["sum"]["start_s"]
    down, up, model = (f"{sizes[key] / 1e3:.1f} kB" for key in ("down", "up", "model"))
    return (
        f"{_table([*heads, TIMES, 'on one core, ms', TIMES], lines)}\n\n"
        f"A round of W2 sends {down} and receives {up}: {sizes['groups']} groups, a "
        f"model of {model}.\n"
        f"The first one ends {first['remote']:.1f} s after the program begins, and "
        f"{first['local']:.1f} s without workers: all processes import TensorFlow "
        f"and read data.\n"
        f"Two workers answer {start_s:.1f} s after the call that starts them."
    )


def _aggregation(found: dict[str, Any]) -> str:
    slot = found["slot"]
    pairs = [
        (f"`{rule['name']}`", rule["ours_s"], rule["by_hand_s"])
        for rule in found["rules"].values()
    ]
    pairs.append(("FedAvg with `mean()`, and without", *slot.values()))
    lines = [
        [name, _ms(ours), _ms(other), _times(ours, other)]
        for name, ours, other in pairs
    ]
    head = f"W8: an aggregator of {found['clients']} updates"
    return _table([head, "ours, ms", "by hand, or without, ms", TIMES], lines)


def _bars(found: Sequence[Bar]) -> str:
    words = {True: "yes", False: "no", None: "not measured"}
    lines = [
        [bar.name, _figure(bar.measured, bar.unit), _limit(bar), words[bar.met]]
        for bar in found
    ]
    return _table(["figure to reach", "measured", "at most", "reached"], lines)


def _limit(bar: Bar) -> str:
    return f"{bar.limit:g} {bar.unit}"


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    digits = 2 if unit in _SMALL_UNITS else 0
    return f"{value:.{digits}f} {unit}"


def _ms(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{1000 * seconds:.1f}" if seconds < 0.1 else f"{1000 * seconds:,.0f}"


def _times(seconds: float | None, reference: float | None) -> str:
    if seconds is None or reference is None:
        return "–"
    return f"{seconds / reference:.2f}"


def _mb(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [heads, ["---", *["---:"] * (len(heads) - 1)], *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
