# SPDX-License-Identifier: Apache-2.0
"""What notebooks show of types, placed values, histories and errors."""

import math
import re
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import CLIENTS, SERVER
from fedlearn_edu.errors import FedLearnError, NotationError
from fedlearn_edu.language.federated_value import FederatedValue
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.simulation.partitions.skew import describe_skew
from fedlearn_edu.viz import colors
from fedlearn_edu.viz.displays import (
    draw_error,
    draw_placed,
    draw_type,
    history_table,
    run_table,
    skew_table,
)
from tests.viz.html_reader import Reader, check_html

# Types: the notation, with placements in their colors.

NOTATIONS = (
    "float32",
    "float32[?,784]",
    "string",
    "<>",
    "<a=int32,<b=bool,c=float32[3]>>",
    "<x=float32[?,784],y=int32[?]>*",
    "{<x=float32[?],y=int32>*}@CLIENTS",
    "float32@SERVER",
    "int32@CLIENTS",
    "(<model=float32[10]@SERVER,data={int32*}@CLIENTS> -> float32[10]@SERVER)",
    "( -> bool)",
    "(<T,(U -> T)> -> {U}@CLIENTS)",
)


@pytest.mark.parametrize("text", NOTATIONS)
def test_the_notation_is_there_as_text(text: str) -> None:
    type_ = fl.parse_type(text)
    reader = check_html(draw_type(type_))
    assert str(type_) in reader.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("float32[784,10]", "31.4 kB"),
        ("{float32[784,10]}@CLIENTS", "31.4 kB at each client"),
        ("float32@CLIENTS", "4 B at each client, the same for all"),
        ("int64@SERVER", "8 B at the server"),
        ("float32*", "how many bytes a value has depends on the data"),
        ("string@SERVER", "at the server; how many bytes a value has depends on"),
    ],
)
def test_sizes_are_said_as_far_as_they_are_known(text: str, said: str) -> None:
    assert said in check_html(draw_type(fl.parse_type(text))).text


def test_functions_and_letters_have_no_size() -> None:
    assert check_html(draw_type(fl.parse_type("T"))).text == "T"
    text = check_html(draw_type(fl.parse_type("(int32 -> bool)"))).text
    assert text == "(int32 -> bool)2 partsparameter int32 · 4 Bresult bool · 1 B"


def test_only_placed_parts_are_colored() -> None:
    html = draw_type(fl.parse_type("(<a=int32@SERVER,b={bool}@CLIENTS> -> int32)"))
    underlined = [f"border-bottom:2px solid {c}" in html for c in COLORS]
    assert underlined == [True, True]
    html = draw_type(fl.parse_type("<a=int32,b=bool>"))
    assert not any(color in html for color in COLORS)


COLORS = (colors.SERVER, colors.CLIENTS)


def test_long_and_deep_lists_are_folded() -> None:
    few, many = (
        fl.to_type([(f"f{i}", np.int32) for i in range(count)]) for count in (8, 9)
    )
    assert ("open" in draw_type(few), "open" in draw_type(many)) == (True, False)
    deep = draw_type(fl.parse_type("<a=<b=int32>>"))
    assert (deep.count("<details"), deep.count("<details open")) == (2, 1)
    assert "9 fields" in check_html(draw_type(many)).text


# Placed values: a table of participants, for every reader.

F32 = np.float32


class Table(Reader):
    """The table of a placed value."""

    def __init__(self, placed: FederatedValue) -> None:
        self.caption = ""
        self.rows: list[list[str]] = []
        self.cells: list[tuple[str, dict[str, str]]] = []
        self.html = draw_placed(placed)
        super().__init__(self.html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        super().handle_starttag(tag, attrs)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.cells.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        super().handle_data(data)
        if "caption" in self.open:
            self.caption += data
        if {"td", "th"} & {*self.open}:
            self.rows[-1][-1] += data


SAME: Any = fl.federated_value(1, CLIENTS)
THREE = fl.place([1.0, 2.5, -4.0], CLIENTS)
MANY = fl.place(np.arange(1000), CLIENTS)
PAIRS = fl.place([OrderedDict(n=i, word="a") for i in range(3)], CLIENTS)
NOBODY = fl.place([], CLIENTS, F32)


@pytest.mark.parametrize(
    ("placed", "caption"),
    [
        (THREE, "3 clients: {float32}@CLIENTS"),
        (MANY, "1,000 clients: {int64}@CLIENTS"),
        (fl.place([True], CLIENTS), "1 client: {bool}@CLIENTS"),
        (NOBODY, "0 clients: {float32}@CLIENTS"),
        (fl.place(1, SERVER), "the server: int32@SERVER"),
        (SAME, "every client, the same: int32@CLIENTS"),
    ],
)
def test_caption_says_who_and_of_which_type(placed: Any, caption: str) -> None:
    assert Table(placed).caption == caption


def test_each_participant_has_a_row() -> None:
    numbers = [["client 0", "1.0"], ["client 1", "2.5"], ["client 2", "-4.0"]]
    assert Table(THREE).rows == [["who", "holds"], *numbers]
    assert Table(fl.place(1, SERVER)).rows[1:] == [["server", "1"]]
    assert Table(SAME).rows[1:] == [["every client", "1"]]
    assert Table(NOBODY).rows == [["who", "holds"], ["no client", ""]]


def test_long_group_is_folded() -> None:
    rows = Table(MANY).rows
    assert len(rows) == 11
    assert rows[8:] == [["client 7", "7"], ["…", "(991 more)"], ["client 999", "999"]]
    assert len(draw_placed(MANY)) < 10_000


def test_group_of_ten_is_not_folded() -> None:
    rows = Table(fl.place(range(10), CLIENTS)).rows
    assert [row[1] for row in rows[1:]] == [str(i) for i in range(10)]
    eleven = Table(fl.place(range(11), CLIENTS)).rows
    assert eleven[-2:] == [["…", "(2 more)"], ["client 10", "10"]]


def test_each_field_has_a_column() -> None:
    assert Table(PAIRS).rows[:2] == [
        ["who", "n int32", "word string"],
        ["client 0", "0", "b'a'"],
    ]
    unnamed = Table(fl.place([(1, 2.5)], CLIENTS))
    assert unnamed.rows == [
        ["who", "[0] int32", "[1] float32"],
        ["client 0", "1", "2.5"],
    ]


def test_many_fields_share_one_column() -> None:
    wide = fl.place([OrderedDict((name, 1) for name in "abcde")], CLIENTS)
    assert Table(wide).rows == [
        ["who", "holds"],
        ["client 0", "<a=1, b=1, c=1, d=1, e=1>"],
    ]
    assert Table(fl.place([()], CLIENTS)).rows[1:] == [["client 0", "<>"]]


def test_fold_goes_over_all_columns() -> None:
    table = Table(fl.place([(i, i) for i in range(20)], CLIENTS))
    (remark,) = [cell for cell in table.cells if "colspan" in cell[1]]
    assert remark[0] == "td"
    assert remark[1]["colspan"] == "2"


def test_arrays_are_cut_short() -> None:
    images = fl.place(np.zeros([3, 28, 28], F32), CLIENTS)
    assert Table(images).rows[1][1] == "float32[28,28]: 0.0, 0.0, 0.0, 0.0, …"
    model = OrderedDict(weights=np.zeros([784, 10], F32), bias=np.zeros(10, F32))
    assert Table(fl.place(model, SERVER)).rows == [
        ["who", "weights float32[784,10]", "bias float32[10]"],
        ["server", "float32[784,10]", "[0.0, 0.0, 0.0, 0.0, …]"],
    ]


def test_only_numbers_are_at_the_right() -> None:
    def sides(placed: FederatedValue) -> list[str]:
        cells = [style for tag, style in Table(placed).cells if tag == "td"]
        return ["right" if "align:right" in c["style"] else "left" for c in cells]

    assert sides(THREE) == ["right"] * 3
    assert sides(PAIRS) == ["right", "left"] * 3
    assert sides(fl.place([True], CLIENTS)) == ["left"]
    assert sides(fl.place([[1]], CLIENTS)) == ["left"]


def test_markup_in_the_data_is_only_text() -> None:
    evil = "<script>alert(1)</script>"
    placed = fl.place([OrderedDict(x=evil, y="a & b")], CLIENTS)
    table = Table(placed)
    assert "<script>" not in table.html
    assert table.rows == [
        ["who", "x string", "y string"],
        ["client 0", f"b'{evil}'", "b'a & b'"],
    ]


def test_every_heading_says_what_it_heads() -> None:
    for placed in (THREE, MANY, PAIRS, NOBODY):
        table = Table(placed)
        scopes = [cell["scope"] for tag, cell in table.cells if tag == "th"]
        assert scopes == ["col"] * len(table.rows[0]) + ["row"] * (len(table.rows) - 1)
        assert table.html.count("<caption") == 1


def test_it_can_be_read_on_white_on_black_and_on_a_phone() -> None:
    for placed in (THREE, PAIRS, MANY):
        table = Table(placed)
        styles = [value for _, name, value in table.attributes if name == "style"]
        found = dict(part.split(":", 1) for s in styles for part in s.split(";"))
        assert found["color"] == "inherit"  # the page's own
        assert "background" not in found
        assert found["overflow-x"] == "auto"
        assert "width" not in found
        assert re.fullmatch(r"min\(100%,\d\dch\)", found["min-width"])
        check_html(table.html)


def test_color_is_that_of_the_placement() -> None:
    assert colors.CLIENTS in draw_placed(THREE)
    assert colors.SERVER not in draw_placed(THREE)
    assert colors.SERVER in draw_placed(fl.place(1, SERVER))


def test_sequence_that_is_read_later_is_not_read_for_the_table() -> None:
    readings = []

    def elements() -> Any:
        readings.append(1)
        yield 1

    later = fl.place([elements], CLIENTS, fl.SequenceType(np.int32))
    assert Table(later).rows[1][1] == "a sequence that is read when it is needed"
    assert readings == []


# Histories, runs and skews: tables, and curves as pictures.


def history_of(rounds: int, **extra: float) -> History:
    return History.of(
        {"round": k, "clients": 10_000, "loss": 1 / k, "test_accuracy": 1 - 1 / k}
        | extra
        for k in range(1, rounds + 1)
    )


def test_one_row_for_each_round() -> None:
    reader = check_html(history_table(history_of(3)))
    assert reader.tags["tr"] == 4
    assert reader.tags["details"] == 0
    assert reader.text.startswith("History of 3 roundsroundclientsdroppedlateseconds")
    assert "10,000" in reader.text
    assert "0.3333" in reader.text
    assert reader.values("img", "alt") == [
        "test accuracy, after 3 rounds: run 66.7%. loss, after 3 rounds: run 0.3333."
    ]


@pytest.mark.parametrize(("rounds", "rows"), [(10, 11), (11, 12 + 12), (200, 12 + 201)])
def test_the_middle_of_a_long_history_is_folded(rounds: int, rows: int) -> None:
    reader = check_html(history_table(history_of(rounds)))
    assert reader.tags["tr"] == rows
    assert reader.tags["details"] == (rounds > 10)


def test_without_rounds_and_without_losses_there_is_no_curve() -> None:
    reader = check_html(history_table(History()))
    assert reader.text.startswith("History of 0 rounds")
    assert reader.tags["img"] == 0


def test_what_was_not_measured_is_empty_and_what_is_no_number_says_so() -> None:
    history = History.of(
        [{"round": 1, "loss": math.nan}, {"round": 2, "clients": 3}, {"round": 3}]
    )
    reader = check_html(history_table(history))
    assert reader.text.count("NaN") == 1
    assert reader.values("img", "alt") == [
        "loss, after 3 rounds: run has no number in any round."
    ]


def test_a_run_says_why_it_stopped() -> None:
    reader = check_html(run_table(Run(None, history=history_of(1), stopped="<enough>")))
    assert reader.text.startswith("Run of 1 round, stopped: <enough>")
    assert reader.values("img", "alt") == [
        "test accuracy, after 1 round: run 0.0%. loss, after 1 round: run 1."
    ]


def test_a_skew_is_a_row_for_each_client() -> None:
    skew = describe_skew([0, 0, 1, 1, 1, 1], [[0, 2, 3], [1], [4, 5]])
    reader = check_html(skew_table(skew))
    assert reader.tags["tr"] == 4
    assert reader.text == (
        "Skew of 3 clients: on average 2.0 examples, 1.30 effective labels, total "
        "variation 0.33clientexampleseffective labelstotal variationlabel 0label 1"
        "031.890.0012111.000.6710221.000.3302"
    )
    many = describe_skew([0] * 100, [[i] for i in range(100)])
    assert check_html(skew_table(many)).tags["details"] == 1


def test_rounds_that_are_not_in_order_are_a_table_without_curves() -> None:
    rows = [{"round": 2, "loss": 1.0}, {"round": 1, "loss": 2.0}]
    reader = check_html(history_table(History.of(rows)))
    assert reader.tags["tr"] == 3
    assert reader.tags["img"] == 0


# Errors: four parts set apart.


def whole_error() -> FedLearnError:
    return FedLearnError(
        "wrong <fruit>", expected="apple", found="pear", where="basket", do="swap it"
    )


def test_the_four_parts_are_rows_of_a_table() -> None:
    reader = check_html(draw_error(whole_error()))
    assert reader.tags["tr"] == reader.tags["th"] == reader.tags["td"] == 4
    assert reader.values("th", "scope") == ["row"] * 4
    assert reader.text == (
        "FedLearnError: wrong <fruit>expectedapplefoundpearwherebasketwhat to doswap it"
    )


def test_parts_that_are_not_known_are_left_out() -> None:
    reader = check_html(draw_error(FedLearnError("wrong", found="pear")))
    assert (reader.tags["tr"], reader.tags["table"]) == (1, 1)
    assert check_html(draw_error(FedLearnError("wrong"))).tags["table"] == 0


def test_notes_are_shown() -> None:
    error = whole_error()
    error.add_note("in the second round")
    assert check_html(draw_error(error)).text.endswith("in the second round")


def test_carets_stay_below_what_they_point_at() -> None:
    try:
        fl.parse_type("<a=int32,b=flot32>")
    except NotationError as error:
        html = draw_error(error)
    assert "white-space:pre-wrap;font-family:monospace" in html
    assert "\n" in check_html(html).text
