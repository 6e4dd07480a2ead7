# SPDX-License-Identifier: Apache-2.0
"""Words of HTML, prose and results; `test_judging.py` has verdicts as text."""

from typing import Any

import numpy as np

from fedlearn_edu import Struct
from fedlearn_edu.course.exercise import shown
from fedlearn_edu.course.feedback import as_html, prose
from fedlearn_edu.course.judging import judge
from tests.course.examples import doubles


def test_html_says_in_words_what_colors_say() -> None:
    html = as_html(judge(doubles(), lambda numbers: numbers))
    for word in ("passed", "failed", "tried", "expected", "got"):
        assert word in html
    assert 'aria-label="doubles: not right yet, 2 of 3 checks pass: ' in html
    assert "not run" in as_html(judge(doubles(), 3))


def test_prose_sets_code() -> None:
    html = prose("Use `x` < 3:\n    def f():\n\n        ...\nThen go on.")
    assert "<div>Use <code>x</code> &lt; 3:</div>" in html
    assert ">def f():\n\n    ...</pre>" in html
    assert "<div>Then go on.</div>" in html


def test_results_are_shown_as_one_would_write_them() -> None:
    assert shown([np.float32(0.5), 2, "a", b"b"]) == "[0.5, 2, 'a', b'b']"
    assert shown({"x": (1, np.arange(3))}) == "{x: (1, [0, 1, 2])}"
    assert shown(np.str_("text")) == "'text'"
    assert shown(np.eye(28)) == "28×28 numbers from 0.0 to 1.0"
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
