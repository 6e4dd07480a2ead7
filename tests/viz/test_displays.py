# SPDX-License-Identifier: Apache-2.0
"""What notebooks show of types, values, histories, executors and errors, as text.

Each display keeps what `check_html` asks for, and the golden file of its subject has
what a reader, or a screen reader, gets of it: a line for each row.
"""

import math
import re
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import CLIENTS, SERVER, simulation
from fedlearn_edu.errors import FedLearnError, NotationError
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.simulation.partitions.skew import describe_skew
from fedlearn_edu.viz import colors, displays, executors
from tests.extension.own_strategy import OneRoomStrategy
from tests.viz.html_reader import Reader, check_html
from tests.viz.stacks import Mine, by_hand, fw, participant

TYPES = (
    *("float32", "float32[784,10]", "float32[?,784]", "string", "<>", "T"),
    *("<a=int32,<b=bool,c=float32[3]>>", "<x=float32[?,784],y=int32[?]>*"),
    *("{<x=float32[?],y=int32>*}@CLIENTS", "{float32[784,10]}@CLIENTS"),
    *("float32@SERVER", "string@SERVER", "float32@CLIENTS", "float32*"),
    "(<model=float32[10]@SERVER,data={int32*}@CLIENTS> -> float32[10]@SERVER)",
    *("(int32 -> bool)", "( -> bool)", "(<T,(U -> T)> -> {U}@CLIENTS)"),
)
EVIL = "<script>alert(1)</script>"
THREE = fl.place([1.0, 2.5, -4.0], CLIENTS)
MANY = fl.place(np.arange(1000), CLIENTS)
PAIRS = fl.place([OrderedDict(n=i, word="a") for i in range(3)], CLIENTS)
NOBODY = fl.place([], CLIENTS, np.float32)
AT_SERVER = fl.place(1, SERVER)
MODEL = OrderedDict(
    weights=np.zeros([784, 10], np.float32), bias=np.zeros(10, np.float32)
)
PLACED: dict[str, Any] = {
    "three": THREE,
    "many": MANY,
    "ten": fl.place(range(10), CLIENTS),
    "eleven": fl.place(range(11), CLIENTS),
    "one": fl.place([True], CLIENTS),
    "nobody": NOBODY,
    "the server": AT_SERVER,
    "the same": fl.federated_value(1, CLIENTS),
    "fields": PAIRS,
    "without names": fl.place([(1, 2.5)], CLIENTS),
    "many fields": fl.place([OrderedDict((n, 1) for n in "abcde")], CLIENTS),
    "no field": fl.place([()], CLIENTS),
    "images": fl.place(np.zeros([3, 28, 28], np.float32), CLIENTS),
    "a model": fl.place(MODEL, SERVER),
    "markup": fl.place([OrderedDict(x=EVIL, y="a & b")], CLIENTS),
}


def history_of(*rounds: int) -> History:
    return History.of(
        {"round": k, "clients": 10_000, "loss": 1 / k, "test_accuracy": 1 - 1 / k}
        for k in rounds
    )


UNMEASURED: Any = [
    {"round": 1, "loss": math.nan},
    {"round": 2, "clients": 3},
    {"round": 3},
]
SKEW = describe_skew([0, 0, 1, 1, 1, 1], [[0, 2, 3], [1], [4, 5]])


def histories() -> dict[str, str]:
    return {
        "three rounds": displays.history_table(history_of(1, 2, 3)),
        "eleven rounds": displays.history_table(history_of(*range(1, 12))),
        "no rounds": displays.history_table(History()),
        "not measured": displays.history_table(History.of(UNMEASURED)),
        "not in order": displays.history_table(history_of(2, 1)),
        "a run": displays.run_table(
            Run(None, history=history_of(1), stopped="<enough>")
        ),
        "a skew": displays.skew_table(SKEW),
    }


def error(*notes: str, **parts: str) -> str:
    found = FedLearnError("wrong <fruit>", **parts)
    for note in notes:
        found.add_note(note)
    return displays.draw_error(found)


FOUR = {"expected": "apple", "found": "pear", "where": "basket", "do": "swap it"}
ERRORS = {
    "four parts": error(**FOUR),
    "one part": error(found="pear"),
    "none": error(),
    "a note": error("in the second round", **FOUR),
}


def leaf() -> Any:
    return fw.NumPyExecutor()


leaf.__name__ = EVIL
PLAIN = simulation.local_executor_factory()
CUSTOM = fw.CustomExecutorFactory(lambda _: by_hand(1), ["federated_map"])
ONE_ROOM = OneRoomStrategy.factory({SERVER: participant(), CLIENTS: []})
GROUPS = fw.local_executor_factory(max_fanout=3)
STACKS = {
    "an environment": executors.draw_environment(
        simulation.build_inprocess_environment(3)
    ),
    "no sequences": executors.draw_environment(PLAIN),
    "a leaf of yours": executors.draw_environment(
        simulation.Environment(fw.local_executor_factory(leaf=leaf))
    ),
    "a hundred by hand": executors.draw_executor(by_hand(100)),
    "an executor of yours": executors.draw_executor(Mine()),
    "a strategy of yours": executors.draw_executor(
        fw.FederatingExecutor(ONE_ROOM, participant())
    ),
    "groups": executors.draw_executor(GROUPS.create_executor({CLIENTS: 7})),
    "a factory": executors.draw_factory(fw.local_executor_factory()),
    "a context": executors.draw_context(
        fw.SyncExecutionContext(fw.local_executor_factory())
    ),
    "an awaited context": executors.draw_context(
        fw.AsyncExecutionContext(fw.local_executor_factory())
    ),
    "a factory by hand": executors.draw_custom(CUSTOM),
    "a context by hand": executors.draw_context(fw.SyncExecutionContext(CUSTOM)),
}
SUBJECTS: dict[str, Callable[[], dict[str, str]]] = {
    "types": lambda: {t: displays.draw_type(fl.parse_type(t)) for t in TYPES},
    "placed": lambda: {n: displays.draw_placed(each) for n, each in PLACED.items()},
    "histories": histories,
    "errors": lambda: ERRORS,
    "stacks": lambda: STACKS,
}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_display_is_read_as_its_golden_file(
    subject: str, golden: Callable[[str, str], None]
) -> None:
    told = []
    for name, html in SUBJECTS[subject]().items():
        reader = check_html(html)
        assert EVIL not in html
        assert set(reader.values("th", "scope")) <= {"col", "row"}
        assert len(reader.values("th", "scope")) == reader.tags["th"]
        told.append("\n".join([f"--- {name}", *reader.lines]))
    golden(f"displays/{subject}.txt", "\n\n".join(told))


# What the lines of text do not tell.

COLORS = (colors.SERVER, colors.CLIENTS)


def test_only_what_is_placed_has_the_color_of_its_placement() -> None:
    def draw(text: str) -> str:
        return displays.draw_type(fl.parse_type(text))

    placed = draw("(<a=int32@SERVER,b={bool}@CLIENTS> -> int32)")
    assert all(f"border-bottom:2px solid {color}" in placed for color in COLORS)
    assert not any(color in draw("<a=int32,b=bool>") for color in COLORS)
    for value, found in ((THREE, [False, True]), (AT_SERVER, [True, False])):
        html = displays.draw_placed(value)
        assert [color in html for color in COLORS] == found


def test_long_and_deep_lists_are_folded() -> None:
    few, many = (
        displays.draw_type(fl.to_type([(f"f{i}", np.int32) for i in range(count)]))
        for count in (8, 9)
    )
    assert ("open" in few, "open" in many) == (True, False)
    assert "9 fields" in check_html(many).text
    deep = displays.draw_type(fl.parse_type("<a=<b=int32>>"))
    assert (deep.count("<details"), deep.count("<details open")) == (2, 1)
    skew = describe_skew([0] * 100, [[i] for i in range(100)])
    assert Reader(displays.skew_table(skew)).tags["details"] == 1


@pytest.mark.parametrize(("rounds", "rows"), [(10, 11), (11, 12 + 12), (200, 12 + 201)])
def test_the_middle_of_a_long_history_is_folded(rounds: int, rows: int) -> None:
    reader = Reader(displays.history_table(history_of(*range(1, rounds + 1))))
    assert reader.tags["tr"] == rows
    assert reader.tags["details"] == (rounds > 10)


@pytest.mark.parametrize("placed", [THREE, PAIRS, MANY])
def test_table_can_be_read_on_white_on_black_and_on_a_phone(placed: Any) -> None:
    reader = Reader(displays.draw_placed(placed))
    styles = [value for _, name, value in reader.attributes if name == "style"]
    found = dict(part.split(":", 1) for s in styles for part in s.split(";"))
    assert found["color"] == "inherit"  # the page's own
    assert found["overflow-x"] == "auto"
    assert not {"background", "width"} & set(found)
    assert re.fullmatch(r"min\(100%,\d\dch\)", found["min-width"])


def test_sequence_that_is_read_later_is_not_read_for_the_table() -> None:
    readings = []

    def elements() -> Any:
        readings.append(1)
        yield 1

    later = fl.place([elements], CLIENTS, fl.SequenceType(np.int32))
    told = "a sequence that is read when it is needed"
    assert told in check_html(displays.draw_placed(later)).text
    assert readings == []


def test_carets_stay_below_what_they_point_at() -> None:
    with pytest.raises(NotationError) as caught:
        fl.parse_type("<a=int32,b=flot32>")
    html = displays.draw_error(caught.value)
    assert "white-space:pre-wrap" in html
    assert "font-family:monospace" in html
    assert "\n" in check_html(html).text


def test_clients_are_one_pile_and_a_missing_layer_is_drawn_with_dashes() -> None:
    def count(words: str, *names: str) -> list[int]:
        return [STACKS[name].count(words) for name in names]

    assert count("box-shadow", "an environment", "a hundred by hand") == [1, 1]
    assert "box-shadow" not in executors.draw_executor(by_hand(1))
    assert "box-shadow" not in executors.draw_executor(participant())
    assert count("dashed", "an environment") == [0]
    assert "dashed" in STACKS["no sequences"]


def test_closed_environment_says_so() -> None:
    with simulation.local_executor_factory() as environment:
        assert "closed" not in executors.draw_environment(environment)
    found = Reader(executors.draw_environment(environment)).text
    assert "Environment, closed, sequence" in found
