# SPDX-License-Identifier: Apache-2.0
"""The page of results says what the record says, and figures are told apart."""

import json
from typing import Any

import pytest

from tests.architecture.repository import ROOT
from tests.benchmarks.results import MACHINE

pytestmark = pytest.mark.tensorflow  # describing the machine asks for its version


def made_up(scaffold: float = 0.9, rounds: int | None = 44) -> dict[str, Any]:
    from benchmarks.learning.algorithms import ALGORITHMS, CENTRAL
    from benchmarks.learning.attacked import RULES

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
        "poisoning": [
            {
                "data": "IID",
                "attack": "sign flip × 5",
                "accuracy": {rule: [0.9, 0.92] for rule in RULES}
                | {"mean": [0.02, 0.1]},
            }
        ],
        "privacy": [
            {"clients": 1000, "noise": 0.0, "epsilon": None, "accuracy": [0.89, 0.89]},
            {"clients": 1000, "noise": 2.0, "epsilon": 1.16, "accuracy": [0.88, 0.89]},
        ],
    }


def test_figures_that_were_missed_are_told() -> None:
    from benchmarks.learning.page import figures

    assert all(reached for _, reached in figures(made_up()))
    found = dict(figures(made_up(scaffold=0.84, rounds=None)))
    assert list(found.values())[:4] == [False, False, False, True]
    assert "2NN, IID: 87 rounds to 97 % or fewer: not reached" in found
    late = dict(figures(made_up(rounds=88)))
    assert list(late.values())[1:3] == [False, True]
    grown = made_up()
    grown["memory"]["megabytes"]["50"] = 850.0
    assert list(dict(figures(grown)).values())[3] is False
    poisoned = made_up()
    poisoned["poisoning"][0]["accuracy"]["mean"] = [0.8, 0.9]
    poisoned["privacy"][1]["accuracy"] = [0.8, 0.8]
    missed = [what for what, reached in figures(poisoned) if not reached]
    assert missed == [
        "IID, sign flip × 5, mean: 0.00 to 0.15: 0.850",
        "1,000 clients, what the most noise costs, in points of accuracy: 9.00, "
        "at most 1",
    ]


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
