# SPDX-License-Identifier: Apache-2.0
"""Notebooks show an error object with its four parts set apart."""

from types import SimpleNamespace

from IPython.core.formatters import DisplayFormatter

import fedlearn_edu as fl
from fedlearn_edu.errors import FedLearnError, NotationError
from fedlearn_edu.viz import notebook
from fedlearn_edu.viz.displays import draw_error
from tests.viz.html_reader import check_html


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


def test_every_kind_of_error_is_shown_in_a_notebook() -> None:
    shell = SimpleNamespace(display_formatter=DisplayFormatter())
    notebook.show_objects(shell)
    error = NotationError("wrong", do="spell it")
    data, _ = shell.display_formatter.format(error)
    assert data["text/html"] == draw_error(error)
    assert "NotationError: " in check_html(data["text/html"]).text
    data, _ = shell.display_formatter.format(ValueError("not ours"))
    assert "text/html" not in data
