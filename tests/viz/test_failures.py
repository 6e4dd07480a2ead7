# SPDX-License-Identifier: Apache-2.0
"""Notebooks show an error object with its four parts set apart."""

import fedlearn_edu as fl
from fedlearn_edu.errors import FedLearnError, NotationError
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
