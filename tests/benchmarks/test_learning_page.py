# SPDX-License-Identifier: Apache-2.0
"""The page of results says what the record says, and figures are told apart."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.architecture.repository import ROOT
from tests.benchmarks.results import MACHINE

pytestmark = pytest.mark.tensorflow  # describing the machine asks for its version


def made_up(scaffold: float = 0.9, rounds: int | None = 44) -> dict[str, Any]:
    from benchmarks.learning.algorithms import ALGORITHMS, CENTRAL

    ends = dict.fromkeys([*ALGORITHMS, CENTRAL], 0.8)
    ends |= {"SCAFFOLD": scaffold, "FedAdam": 0.85, "FedProx": 0.79}
    reached = 0.97 if rounds else 0.96
    runs = [{"seed": 0, "rounds": rounds, "seconds": 90.0, "accuracy": [0.9, reached]}]
    return {
        "machine": MACHINE,
        "seeds": [0, 1],
        "algorithms": {
            name: {
                "settings": "rate 0.1",
                "accuracy": [[end - 0.01] * 100, [end + 0.01] * 100],
                "seconds_per_round": [0.02, 0.03],
            }
            for name, end in ends.items()
        },
        "paper": {
            kind: {"published": published, "runs": runs}
            for kind, published in (("IID", 87), ("non-IID", 664))
        },
        "network": {"second_round_s": 36.0, "accuracy": [0.9, 0.95]},
        "memory": {
            "clients": 1000,
            "per_round": 100,
            "smallest": 12,
            "largest": 137,
            "megabytes": {"5": 800.0, "50": 804.0},
            "seconds_per_round": 0.125,
        },
    }


def test_page_says_what_was_measured(tmp_path: Path) -> None:
    from benchmarks.learning.page import write

    (tmp_path / "images").mkdir()
    write(made_up(), tmp_path)
    text = (tmp_path / "results.md").read_text("utf-8")
    for said in (
        "over\n2 seeds",
        "Some Processor, 2 cores",
        "| SCAFFOLD | rate 0.1 | 90.00 ± 1.41 | 90.00 ± 1.41 |",
        "| 25 |",
        "SCAFFOLD > FedAdam > FedAvg holds under every seed",
        "FedProx is 1.00 points worse than FedAvg",
        "It does not help here",
        "| IID | 87 | 44 | 0.51 | 1.5 |",
        "takes 36 s for one round",
        "95.0 % of the test images after two",
        "about 1.0 hours",
        "800, 804: +0.5% from round 5",
    ):
        assert said in text, said
    assert "{" not in text
    for name in ("results_algorithms.png", "results_paper.png"):
        with Image.open(tmp_path / "images" / name) as image:
            assert image.width == 1500
            assert image.info["Description"]


def test_figures_that_were_missed_are_told() -> None:
    from benchmarks.learning.page import figures

    assert all(reached for _, reached in figures(made_up()))
    found = dict(figures(made_up(scaffold=0.84, rounds=None)))
    assert list(found.values()) == [False, False, False, True]
    assert "2NN, IID: 87 rounds to 97 % or fewer: not reached" in found
    late = dict(figures(made_up(rounds=88)))
    assert list(late.values())[1:3] == [False, True]
    grown = made_up()
    grown["memory"]["megabytes"]["50"] = 850.0
    assert list(dict(figures(grown)).values())[-1] is False


def test_what_was_not_measured_is_not_on_the_page(tmp_path: Path) -> None:
    from benchmarks.learning.page import figures, write

    only = {key: made_up()[key] for key in ("machine", "seeds", "memory")}
    write(only, tmp_path)
    text = (tmp_path / "results.md").read_text("utf-8")
    assert "A thousand clients" in text
    assert "first table" not in text
    assert [what for what, _ in figures(only)] == [
        "memory after round 50 within 5 % of round 5: +0.5%"
    ]


def test_prose_that_praises_needs_numbers_that_do() -> None:
    from benchmarks.learning.page import _what_it_says

    found = made_up(scaffold=0.8)["algorithms"]
    found["FedProx"]["accuracy"] = [[0.9] * 100] * 2
    text = _what_it_says(found)
    assert "does **not** hold" in text
    assert "Here it helps" in text


def test_page_in_the_repository_is_the_one_made_of_the_record() -> None:
    from benchmarks.learning.page import page

    record = json.loads((ROOT / "benchmarks/learning/results.json").read_text("utf-8"))
    assert (ROOT / "docs/results.md").read_text("utf-8") == page(record)


def test_readme_quotes_the_record() -> None:
    from benchmarks.learning.page import mean_at

    record = json.loads((ROOT / "benchmarks/learning/results.json").read_text("utf-8"))
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    [head] = [number for number, line in enumerate(lines) if "| FedProx |" in line]
    names = [cell.strip() for cell in lines[head].strip("|").split("|")]
    quoted = [cell.strip() for cell in lines[head + 2].strip("|").split("|")]
    keys = {"FedAvg": "FedAvg, E = 1", "all data in one place": "centralised"}
    for name, share in zip(names, quoted, strict=True):
        entry = record["algorithms"][keys.get(name, name)]
        assert share == f"{mean_at(entry, 50):.1f} %", name
