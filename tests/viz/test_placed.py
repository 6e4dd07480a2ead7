# SPDX-License-Identifier: Apache-2.0
"""Notebooks show a placed value as a table of participants, for every reader."""

import re
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import CLIENTS, SERVER
from fedlearn_edu.language.federated_value import FederatedValue
from fedlearn_edu.viz import colors
from fedlearn_edu.viz.displays import draw_placed
from tests.viz.html_reader import Reader, check_html

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
    placed = fl.place([OrderedDict([(evil, evil), ('"&', "a & b")])], CLIENTS)
    table = Table(placed)
    assert "<script>" not in table.html
    assert table.rows == [
        ["who", f"{evil} string", '"& string'],
        ["client 0", f"b'{evil}'", "b'a & b'"],
    ]
    assert evil in table.caption


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
