# SPDX-License-Identifier: Apache-2.0
"""A verdict reads well as text, and as HTML that holds no HTML of an answer."""

from typing import Any

import numpy as np

from fedlearn_edu import Struct
from fedlearn_edu.course.exercise import Case, shown
from fedlearn_edu.course.feedback import as_html, as_text, prose, summary
from fedlearn_edu.course.judging import judge
from tests.course.examples import doubles, right


def test_text_of_a_right_answer() -> None:
    assert as_text(judge(doubles(), right)).splitlines() == [
        "doubles: twice each number",
        "  ✓ is a function of 1 argument",
        "  ✓ three",
        "  ✓ none at all",
        "",
        "Right. All 3 checks pass.",
    ]
    assert summary(judge(doubles(), right)) == "doubles: right, all 3 checks pass"
    one = judge(doubles(cases=(), title="one check"), right)
    assert as_text(one).endswith("Right. 1 check passes.")
    assert summary(one) == "doubles: right, 1 check passes"


def test_text_of_a_wrong_answer() -> None:
    verdict = judge(doubles(), lambda numbers: [n * n for n in numbers])
    line = "doubles: not right yet, 2 of 3 checks pass"
    assert summary(verdict) == f"{line}: you squared"
    assert summary(judge(doubles(), lambda numbers: numbers)) == line
    assert as_text(verdict).splitlines() == [
        "doubles: twice each number",
        "  ✓ is a function of 1 argument",
        "  ✗ three",
        "  ✓ none at all",
        "",
        "  tried:        doubles([1.0, 2.0, 3.0])",
        "  expected:     [2.0, 4.0, 6.0]",
        "  got:          [1.0, 4.0, 9.0]",
        "  likely cause: you squared",
        "Stuck? `hint.doubles()` in a cell of your own.",
    ]


def test_html_says_in_words_what_colors_say() -> None:
    html = as_html(judge(doubles(), lambda numbers: numbers))
    for word in ("passed", "failed", "tried", "expected", "got"):
        assert word in html
    assert 'aria-label="doubles: not right yet, 2 of 3 checks pass"' in html
    assert "not run" in as_html(judge(doubles(), 3))


def test_html_of_an_answer_is_shown_and_not_run() -> None:
    exercise = doubles(cases=(Case("a <b> case", (["<i>"],)),), title="<u>")
    html = as_html(judge(exercise, lambda numbers: "<script>alert(1)</script>"))
    for tag in ("<script", "<b>", "<i>", "<u>"):
        assert tag not in html
    assert "&lt;script&gt;" in html
    odd = type("<img>", (), {})
    assert "<img>" not in as_html(judge(doubles(), odd()))


def test_prose_sets_code() -> None:
    html = prose("Use `x` < 3:\n    def f():\n\n        ...\nThen go on.")
    assert "<div>Use <code>x</code> &lt; 3:</div>" in html
    assert ">def f():\n\n    ...</pre>" in html
    assert "<div>Then go on.</div>" in html


def test_results_are_shown_as_one_would_write_them() -> None:
    assert shown([np.float32(0.5), 2, "a", b"b"]) == "[0.5, 2, 'a', b'b']"
    assert shown({"x": (1, np.arange(3))}) == "{x: (1, [0, 1, 2])}"
    assert shown(np.str_("text")) == "'text'"
    assert shown(np.zeros([28, 28])).startswith("28×28 numbers [[0.0, 0.0, 0.0")
    assert shown([1.05, -6.000000000000001, -0.0, 1e22, np.nan, 3.0]) == (
        "[1.05, -6.0, 0.0, 1e+22, nan, 3.0]"
    )
    numbers = np.array([0.02817468419244984, -0.0, 123456789.0])
    assert shown(numbers) == "[0.0281747, 0.0, 123456789.0]"
    close = [784000.5, 16777217.0, 16777216.0, 784000.0, 2.0**53 + 2]
    assert (
        shown(close) == "[784000.5, 16777217.0, 16777216.0, 784000.0, 9.007199255e+15]"
    )
    assert shown(np.float32(-0.0)) == "0.0"
    assert shown(object()) == "an object"
    assert shown(Struct([("a", 1)])) == "<a=1>"
    circle: list[Any] = []
    circle.append(circle)
    assert shown(circle), "a list that holds itself"
