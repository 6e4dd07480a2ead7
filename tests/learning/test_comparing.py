# SPDX-License-Identifier: Apache-2.0
"""`compare` treats all processes alike, and measures what they send by itself."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedlearn_edu import learning
from fedlearn_edu.learning import Comparison, History, aggregators, leaderboard
from fedlearn_edu.learning.comparison import Entry
from fedlearn_edu.simulation import ClientData, ClientSampling
from fedlearn_edu.viz.comparison import comparison_table
from tests.viz.html_reader import check_html

pytestmark = pytest.mark.tensorflow

MODEL_BYTES = 4 * (3 * 2 + 2)
AROUND_BYTES = 4 * 5  # round number down; weight and counts up


@cache
def model() -> Any:
    return learning.models.softmax_regression(features=3, classes=2)


@cache
def fed_avg(rate: float = 0.5, **how: Any) -> Any:
    return learning.build_fed_avg(model(), rate, **how)


def dealt(seed: int = 0, clients: int = 4) -> ClientData:
    x = np.random.default_rng(seed).standard_normal([24, 3]).astype(np.float32)
    return ClientData(x, (x[:, 0] > 0).astype(np.int32), np.arange(24).reshape(4, 6))


def compared(processes: Any = None, rounds: Any = 3, **how: Any) -> Comparison:
    processes = (
        {"slow": fed_avg(0.01), "fast": fed_avg()} if processes is None else processes
    )
    how = {"seeds": (0, 1), "batch_size": 2, **how}
    return learning.compare(processes, how.pop("data", dealt), dealt(9), rounds, **how)


@cache
def example() -> Comparison:
    return compared(client_sampling=ClientSampling(count=3, dropout=0.3))


@pytest.mark.thorough
def test_each_run_is_that_of_its_seed() -> None:
    """Data, order and cohorts: what `run` gives under that seed, and nothing else."""
    sampling = ClientSampling(count=3, dropout=0.3, seed=1)
    judge = learning.build_federated_evaluation(model()).on(dealt(9))
    alone = learning.run(
        fed_avg(),
        dealt(1),
        3,
        batch_size=2,
        client_sampling=sampling,
        evaluate={"test": judge},
        options=learning.Options(shuffle_seed=1),
    )
    found = example().entries["fast"].histories[1]
    for column in ("clients", "loss_per_example", "test.loss_per_example"):
        np.testing.assert_array_equal(found[column], alone.history[column])


def test_process_may_be_a_function_of_the_seed() -> None:
    asked: list[int] = []

    def build(seed: int) -> Any:
        asked.append(seed)
        return fed_avg()

    assert compared({"own": build}, 1).entries["own"].settings == fed_avg().settings
    assert asked == [0, 1]


def test_bytes_are_those_that_cross_and_not_those_that_are_claimed() -> None:
    few = fed_avg(aggregator=aggregators.quantize(bits=4))
    scaffold = learning.build_scaffold(model(), 4, 0.1)
    found = compared({"all": fed_avg(), "few": few, "twice": scaffold}, 1).entries
    down = {name: entry.bytes_down - MODEL_BYTES for name, entry in found.items()}
    assert found["all"].bytes_up == MODEL_BYTES + AROUND_BYTES
    assert found["few"].bytes_up < found["all"].bytes_up
    assert down == {"all": 4, "few": down["few"], "twice": MODEL_BYTES + 4}
    [history, _] = found["all"].histories
    assert history["bytes_up"].tolist() == [4 * found["all"].bytes_up]


def test_only_clients_that_finish_count() -> None:
    entry = example().entries["fast"]
    [history, _] = entry.histories
    assert sorted(set(history["clients"])) != [4]
    np.testing.assert_array_equal(
        history["bytes_down"], history["clients"] * entry.bytes_down
    )


def test_same_bytes_are_fewer_rounds_of_what_sends_more() -> None:
    scaffold = learning.build_scaffold(model(), 4, 0.1)
    processes = {"once": fed_avg(), "twice": scaffold}
    size = sum(4 * 5 * n for n in (MODEL_BYTES + 4, MODEL_BYTES + AROUND_BYTES))
    found = compared(processes, 9, max_bytes=size, seeds=[0])
    rounds = {name: len(each.histories[0]) for name, each in found.entries.items()}
    assert rounds["once"] == 5
    assert rounds["twice"] < 5
    assert (
        found.entries["twice"].sent("up") + found.entries["twice"].sent("down") <= size
    )


# ------------------------------------------------------------------ shown


def test_table_shows_every_process() -> None:
    reader = check_html(comparison_table(example()))
    for name in ("slow", "fast"):
        assert name in reader.text
        assert name in repr(example())


# ------------------------------------------------------------------ leaderboard


def test_files_merge_by_protocol(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl"
    example().save(ours, by="Ada")
    compared(rounds=1).save(theirs, by="Bob")
    example().save(theirs, by="Bob")
    board = leaderboard.merge([ours, theirs, ours])
    names = [[(g["process"], g["by"]) for g in group] for group in board.protocols]
    both = [("fast", "Ada"), ("fast", "Bob"), ("slow", "Ada"), ("slow", "Bob")]
    assert sorted(names[0]) == both
    assert [by for _, by in names[1]] == ["Bob", "Bob"]


def test_what_is_no_leaderboard_is_named(tmp_path: Path) -> None:
    for folder in (".", tmp_path):
        with pytest.raises(leaderboard.LeaderboardError, match="expected: a file"):
            example().save(folder)
    file = tmp_path / "notes.txt"
    file.write_text("[1]\n")
    with pytest.raises(leaderboard.LeaderboardError, match=r"notes\.txt, line 1"):
        leaderboard.merge([file])


@pytest.mark.parametrize(
    "odd",
    [
        b"half a line: {",
        b"\xff\xfe no text",
        b"[" * 9999,
        b'{"process": "p", "by": "", "finals": [1.0], "protocol": 3}',
        b"3",
        {"finals": [10**400]},
        {"bytes_up": 10**400},
    ],
)
def test_one_odd_line_is_named_and_the_others_stay(tmp_path: Path, odd: Any) -> None:
    file = tmp_path / "all.jsonl"
    example().save(file, by="Ada")
    if isinstance(odd, dict):
        line = json.loads(file.read_text().splitlines()[0])
        odd = json.dumps({**line, **odd}).encode()
    with file.open("ab") as appended:
        appended.write(odd)  # without an end, as of a program that was killed
    compared(rounds=1).save(file, by="Bob")
    board = leaderboard.merge([file])
    assert [len(lines) for lines in board.protocols] == [2, 2]
    [refused] = board.refused
    assert "all.jsonl, line 3: no line of a leaderboard" in refused


def test_names_of_any_characters_come_back(tmp_path: Path) -> None:
    names = ["Anna\u2028Ben", "\u2029", "a\x85b", "a\x0b\x0cb", "a\nb\r", "\ud800"]
    for name in names:
        example().save(tmp_path / "all.jsonl", by=name)
    board = leaderboard.merge([tmp_path / "all.jsonl"])
    assert sorted({line["by"] for line in board.protocols[0]}) == sorted(names)
    assert len(repr(board).splitlines()) == 2 + 2 * len(names)


@pytest.mark.parametrize("metric", ["loss_per_example", "accuracy_per_example"])
def test_what_is_no_number_comes_last_in_any_order(tmp_path: Path, metric: str) -> None:
    entries = {}
    for name, value in zip("abcde", [np.nan, 0.5, np.nan, 0.25, 0.5], strict=True):
        row = {f"test.{metric}": value, "bytes_down": 0.0, "bytes_up": 0.0}
        entries[name] = Entry(name, "", 0, 0, (History.of([row]),))
    protocol = replace(example().protocol, metric=metric)
    for file, names in (("one", "abcde"), ("other", "dbace")):
        Comparison({n: entries[n] for n in names}, protocol).save(tmp_path / file)
    best = ["b", "e", "d"] if "accuracy" in metric else ["d", "b", "e"]
    for files in (["one", "other"], ["other", "one"]):
        [lines] = leaderboard.merge([tmp_path / file for file in files]).protocols
        assert [line["process"] for line in lines] == [*best, "a", "c"]
