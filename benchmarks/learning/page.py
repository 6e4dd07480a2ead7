# SPDX-License-Identifier: Apache-2.0
"""From the record to `docs/results.md`: every number in it was measured.

Prose that interprets is chosen by what came out, so that the page cannot say what the
tables do not.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from benchmarks.learning import attacked, private
from benchmarks.learning.algorithms import CENTRAL, ROUNDS, ranking_holds
from benchmarks.learning.many_clients import FIRST
from benchmarks.learning.many_clients import ROUNDS as MEMORY_ROUNDS
from benchmarks.learning.paper import CNN_EPOCHS, PUBLISHED, RATE, TARGET
from benchmarks.learning.pictures import draw_algorithms, draw_paper
from fedlearn_edu.viz.style import save_png

_MEMORY_BAR = 0.05
_PROSE = Path(__file__).with_name("page.txt")


def write(results: dict[str, Any], docs: Path) -> None:
    """Writes the page and its pictures into the folder of the documentation."""
    (docs / "results.md").write_text(page(results), encoding="utf-8")
    pictures = docs / "images"
    if "algorithms" in results:
        figure = draw_algorithms(results["algorithms"])
        save_png(figure, pictures / "results_algorithms.png", _ALGORITHMS_IN_WORDS)
    if "paper" in results:
        figure = draw_paper(results["paper"])
        save_png(figure, pictures / "results_paper.png", _PAPER_IN_WORDS)


def page(results: dict[str, Any]) -> str:
    """The text of the page."""
    return "\n\n".join(_parts(results)) + "\n"


def figures(results: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """What was to be reached, and whether it was."""
    if "algorithms" in results:
        holds = ranking_holds(results["algorithms"])
        yield "SCAFFOLD > FedAdam > FedAvg after 50 rounds, every seed", holds
    for kind, entry in results.get("paper", {}).items():
        rounds = [run["rounds"] for run in entry["runs"]]
        fits = all(each is not None and each <= entry["published"] for each in rounds)
        found = ", ".join(
            "not reached" if each is None else f"{each}" for each in rounds
        )
        yield (
            f"2NN, {kind}: {entry['published']} rounds to 97 % or fewer: {found}",
            fits,
        )
    if "memory" in results:
        growth = _growth(results["memory"])
        yield (
            f"memory after round {MEMORY_ROUNDS} within 5 % of round {FIRST}: "
            f"{'only Linux tells' if growth is None else f'{growth:+.1%}'}",
            growth is None or abs(growth) <= _MEMORY_BAR,
        )
    yield from _figures_of_attacks(results)


def _parts(results: dict[str, Any]) -> Iterator[str]:
    yield _said(
        "head", seeds=len(results["seeds"]), machine=_machine(results["machine"])
    )
    if "algorithms" in results:
        yield from _algorithms(results["algorithms"])
    if "paper" in results:
        yield from _paper(results["paper"], results.get("network"))
    if "memory" in results:
        yield _memory(results["memory"])
    if "inversion" in results:
        yield from _inversion(results["inversion"])
    if "poisoning" in results:
        yield from _poisoning(results["poisoning"])
    if "privacy" in results:
        yield from _privacy(results["privacy"])


def _said(section: str, **numbers: Any) -> str:
    """The prose of a section of `page.txt`, with its numbers."""
    _, _, rest = _PROSE.read_text("utf-8").partition(f"<!-- {section} -->\n")
    text, _, _ = rest.partition("<!--")
    return text.strip().format(**numbers)


def _machine(machine: dict[str, Any]) -> str:
    return (
        f"{machine['processor']}, {machine['cores']} cores, "
        f"Python {machine['python']}, TensorFlow {machine['tensorflow']}"
    )


def _algorithms(found: dict[str, Any]) -> Iterator[str]:
    yield _said("algorithms_head")
    rows = [
        "| algorithm | settings | "
        + " | ".join(f"round {number}" for number in ROUNDS)
        + " | ms/round |",
        "| --- | --- |" + " ---: |" * (len(ROUNDS) + 1),
    ]
    for name, entry in found.items():
        cells = [_spread([run[n - 1] for run in entry["accuracy"]]) for n in ROUNDS]
        pace = f"{1000 * mean(entry['seconds_per_round']):,.0f}"
        rows.append(f"| {name} | {entry['settings']} | {' | '.join(cells)} | {pace} |")
    yield "\n".join(rows)
    yield _what_it_says(found)


def _spread(numbers: list[float], times: float = 100, digits: int = 2) -> str:
    """Mean ± standard deviation over the seeds, in percent unless said otherwise."""
    around = times * stdev(numbers) if len(numbers) > 1 else 0.0
    return f"{times * mean(numbers):.{digits}f} ± {around:.{digits}f}"


def _what_it_says(found: dict[str, Any]) -> str:
    at_50 = {name: mean_at(entry, 50) for name, entry in found.items()}
    prox = at_50["FedProx"] - at_50["FedAvg, E = 1"]
    lines = [
        "- After 50 rounds SCAFFOLD > FedAdam > FedAvg "
        + ("holds under every seed." if ranking_holds(found) else "does **not** hold."),
        f"- FedProx is {abs(prox):.2f} points {'better' if prox > 0 else 'worse'} than "
        f"FedAvg after 50 rounds. "
        + (
            "It does not help here: a pull back to the server's model makes steps "
            "shorter, and leaves the direction, in which each client goes to its own "
            "digit, as it was."
            if prox <= 0.1
            else "Here it helps."
        ),
        "- SCAFFOLD corrects that direction. It sends twice as many numbers, and each "
        "client has to keep something from round to round.",
        f"- Five local epochs instead of one are five times the work at the clients, "
        f"for {at_50['FedAvg, E = 5'] - at_50['FedAvg, E = 1']:+.2f} points after 50 "
        "rounds.",
        f"- FedSGD takes one step per round, at five times the rate, where a client of "
        f"FedAvg takes about sixty: {at_50['FedSGD']:.2f} % after 50 rounds.",
        f"- What is lost to having the data apart is what is missing to the last row, "
        f"{at_50[CENTRAL]:.2f} %: the same passes over the same images, in one place "
        "and mixed.",
    ]
    return "\n".join(lines)


def mean_at(entry: dict[str, Any], number: int) -> float:
    """Accuracy in % after a round, the mean over the seeds."""
    return 100 * float(mean(run[number - 1] for run in entry["accuracy"]))


def _paper(found: dict[str, Any], network: dict[str, Any] | None) -> Iterator[str]:
    yield _said("paper_head", published=PUBLISHED, target=TARGET, rate=RATE)
    rows = [
        "| clients hold | published rounds | ours, per seed | of the published | "
        "minutes per run |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for kind, entry in found.items():
        rounds = [run["rounds"] for run in entry["runs"]]
        reached = [each for each in rounds if each is not None]
        share = f"{mean(reached) / entry['published']:.2f}" if reached else "–"
        each = ", ".join("not reached" if r is None else f"{r}" for r in rounds)
        minutes = mean(run["seconds"] for run in entry["runs"]) / 60
        rows.append(
            f"| {kind} | {entry['published']} | {each} | {share} | {minutes:.1f} |"
        )
    yield "\n".join(rows)
    if network is not None:
        yield _said(
            "network",
            epochs=CNN_EPOCHS,
            seconds=network["second_round_s"],
            accuracy=100 * network["accuracy"][-1],
            hours=100 * network["second_round_s"] / 3600,
        )


def _growth(memory: dict[str, Any]) -> float | None:
    sizes = {int(number): size for number, size in memory["megabytes"].items()}
    first, last = sizes.get(FIRST), sizes.get(MEMORY_ROUNDS)
    return None if first is None or last is None else last / first - 1


def _memory(memory: dict[str, Any]) -> str:
    growth = _growth(memory)
    sizes = ", ".join(
        "–" if size is None else f"{size:,.0f}" for size in memory["megabytes"].values()
    )
    verdict = (
        "" if growth is None else f": {growth:+.1%} from round {FIRST} to the last"
    )
    return _said("memory", **memory, sizes=sizes, verdict=verdict, first=FIRST)


# ------------------------------------------------------------------ attacks


def _figures_of_attacks(results: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    if "inversion" in results:
        tried = results["inversion"]["zero"]
        error = max(tried["1"]["error"])
        yield f"inversion of one image, error <= 1e-6: {error:.1e}", error <= 1e-6
        found = [mean(tried[str(size)]["correlation"]) for size in attacked.BATCHES]
        expected = (1.0, 0.97, 0.93, 0.84)
        close = all(abs(a - b) <= 0.02 for a, b in zip(found, expected, strict=True))
        shown = ", ".join(f"{each:.3f}" for each in found)
        yield f"correlation 1, .97, .93, .84 of 1, 2, 4, 8 images: {shown}", close
    for (data, attack, rule), (low, high) in _POISONED.items():
        for row in results.get("poisoning", []):
            if (row["data"], row["attack"]) == (data, attack):
                found_here = mean(row["accuracy"][rule])
                what = f"{data}, {attack or 'nobody attacks'}, {rule}"
                reached = low <= found_here <= high
                yield f"{what}: {low:.2f} to {high:.2f}: {found_here:.3f}", reached
    if "privacy" in results:
        without, *_, most = [
            mean(row["accuracy"])
            for row in results["privacy"]
            if row["clients"] == private.CLIENTS[0]
        ]
        what = "1,000 clients, what the most noise costs, in points of accuracy"
        yield f"{what}: {100 * (without - most):.2f}, at most 1", without - most <= 0.01


# Between which two the mean over the seeds has to be.
_POISONED = {
    ("IID", "sign flip × 5", "mean"): (0.0, 0.15),
    ("IID", "sign flip × 5", "median"): (0.87, 1.0),
    ("IID", "sign flip × 5", "multi-Krum"): (0.88, 1.0),
    ("IID", "one replaces the model", "mean"): (0.0, 0.5),
    ("IID", "one replaces the model", "clipped mean"): (0.88, 1.0),
    ("one shard", "", "Krum"): (0.0, 0.15),
    ("two shards", "", "Krum"): (0.0, 0.3),
}


def _inversion(found: dict[str, Any]) -> Iterator[str]:
    yield _said("inversion", tries=attacked.TRIES)
    rows = [
        "| weights | batch | correlation | all labels found | largest error |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for weights, sizes in found.items():
        for size, entry in sizes.items():
            alike = _spread(entry["correlation"], 1, 3)
            error = f"{max(entry['error']):.0e}" if "error" in entry else ""
            labels = _spread(entry["labels"], 100, 0)
            rows.append(f"| {weights} | {size} | {alike} | {labels} % | {error} |")
    yield "\n".join(rows)


def _poisoning(found: list[dict[str, Any]]) -> Iterator[str]:
    yield _said(
        "poisoning",
        clients=attacked.CLIENTS,
        images=attacked.IMAGES,
        bad=len(attacked.BAD),
        rounds=attacked.ROUNDS,
    )
    rules = list(attacked.RULES)
    rows = [
        f"| clients hold | attack | {' | '.join(rules)} |",
        "| --- | --- |" + " ---: |" * len(rules),
    ]
    for row in found:
        cells = " | ".join(_spread(row["accuracy"][rule], 100, 1) for rule in rules)
        rows.append(f"| {row['data']} | {row['attack'] or 'nobody'} | {cells} |")
    yield "\n".join(rows)


def _privacy(found: list[dict[str, Any]]) -> Iterator[str]:
    yield _said("privacy", rounds=private.ROUNDS, clip=private.CLIP)
    rows = [
        "| clients | noise multiplier | ε | test accuracy |",
        "| ---: | ---: | ---: | ---: |",
    ]
    for row in found:
        epsilon = "∞" if row["epsilon"] is None else f"{row['epsilon']:.2f}"
        accuracy = _spread(row["accuracy"])
        rows.append(
            f"| {row['clients']:,} | {row['noise']:g} | {epsilon} | {accuracy} |"
        )
    yield "\n".join(rows)


_ALGORITHMS_IN_WORDS = (
    "Test accuracy over rounds for six algorithms and for training in one place: "
    "SCAFFOLD is nearest to the latter."
)
_PAPER_IN_WORDS = (
    "Test accuracy of the 2NN over rounds, IID and with two shards per client, with "
    "the number of rounds after which the paper reached 97 %."
)
