# SPDX-License-Identifier: Apache-2.0
"""The results as one table, for the terminal and for `docs/performance.md`."""

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.against import HERE, SLOWER, THERE

START = "<!-- made by `python -m benchmarks --write` -->"
END = "<!-- end of what is made -->"


def report(results: dict[str, Any]) -> str:
    """A column for each workload: milliseconds, and how many times the reference."""
    found = results["workloads"]
    data = "MNIST" if results["data"] == "mnist" else "the digits of the package"
    parts = [f"{results['machine']}; {data}."]
    if results["quick"]:
        parts.append("Sizes are small: no time means anything.")
    rows = dict.fromkeys(row for table in found.values() for row in table["rows"])
    heads = ["ms (×)", *(name.replace("first round", "first") for name in found)]
    lines = [[row, *(_cell(table, row) for table in found.values())] for row in rows]
    parts.append(table_of(heads, lines))
    if "W7" in found:
        sizes = found["W7"]["bytes"]
        down, up, model = (f"{sizes[k] / 1e3:.1f} kB" for k in ("down", "up", "model"))
        parts.append(
            f"W7 sends {down} in a round and receives {up}; a model has {model}."
        )
    if "import_s" in results:
        seconds = results["import_s"]
        parts.append(
            f"`import fedlearn_edu` takes {seconds:.2f} s, without TensorFlow."
        )
    return "\n\n".join(parts)


def comparison(found: dict[str, Any]) -> str:
    """The seconds of two checkouts, row by row, and what has become slower."""
    lines = []
    for name, row, here, there in _pairs(found):
        ratio = here / there
        verdict = "slower" if ratio >= SLOWER else ""
        lines.append([f"{name}: {row}", _ms(here), _ms(there), f"{ratio:.2f}", verdict])
    return table_of(["", "here, ms", "there, ms", "×", ""], lines)


def wrong_rows(workloads: dict[str, Any]) -> list[str]:
    """What did not find the losses it should."""
    return [
        f"{name}: {row}: {entry['losses']}, not {entry['expected']}"
        if "losses" in entry
        else f"{name}: {row}"
        for name, table in workloads.items()
        for row, entry in table["rows"].items()
        if not entry["right"]
    ]


def slower_rows(found: dict[str, Any]) -> list[str]:
    """What takes longer here than there."""
    pairs = _pairs(found)
    return [f"{name}: {row}" for name, row, a, b in pairs if a >= SLOWER * b]


def put_into(page: str, text: str, start: str = START, end: str = END) -> str:
    """A page with a new text between its marks."""
    before, _, rest = page.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n\n{text}\n\n{end}{after}"


def table_of(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    rows = [heads, ["---", *["---:"] * (len(heads) - 1)], *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _pairs(found: dict[str, Any]) -> Iterable[tuple[str, str, float, float]]:
    for name, table in found[HERE].items():
        for row, here in table["rows"].items():
            there = found[THERE][name]["rows"][row]
            if "seconds" in here and "seconds" in there:
                yield name, row, here["seconds"], there["seconds"]


def _cell(table: dict[str, Any], row: str) -> str:
    entry, reference = table["rows"].get(row), table["rows"][table["reference"]]
    if entry is None:
        return ""
    if "seconds" not in entry or "seconds" not in reference:
        return "wrong"
    return f"{_ms(entry['seconds'])} ({entry['seconds'] / reference['seconds']:.2f})"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f}" if seconds < 0.1 else f"{1000 * seconds:,.0f}"
