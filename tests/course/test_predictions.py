# SPDX-License-Identifier: Apache-2.0
"""`predict` and `reveal`, and the button for hints: what learners press."""

import pytest

from fedlearn_edu.course import predictions, reveal
from fedlearn_edu.course.feedback import prose
from fedlearn_edu.viz.asking import HintButton, PredictionView


@pytest.fixture(autouse=True)
def said(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    kept: dict[str, str] = {}
    monkeypatch.setattr(predictions, "_said", kept)
    return kept


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        (None, "The answer: 1 degree."),
        ("1 degree", "✓ You said “1 degree”, and so it is."),
        ("3 degrees", "You said “3 degrees”. The answer: “1 degree”."),
    ],
)
def test_what_was_said_comes_back_after_the_run(
    chosen: str | None,
    told: str,
    said: dict[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    choices = ("3 degrees", "1 degree")
    view = PredictionView("How far?", choices, None, lambda s: said.update(rise=s))
    view.answer.value = chosen
    assert (chosen or "") in view.children[-1].value
    reveal("rise", "1 degree")
    assert capsys.readouterr().out.strip() == told
    again = PredictionView("How far?", choices, said.get("rise"), print)
    assert again.answer.value == chosen


def test_line_is_filled_in_and_empty_ones_do_not_count(said: dict[str, str]) -> None:
    view = PredictionView("How many?", (), None, lambda s: said.update(count=s))
    view.answer.value = "  "
    assert said == {}
    view.answer.value = " <ten> "
    assert said == {"count": "<ten>"}
    assert "&lt;ten&gt;" in view.children[-1].value


def test_page_without_a_front_end_has_the_question() -> None:
    bundle = PredictionView(
        "Which `x`?", ("a", "b"), None, print, prose
    )._repr_mimebundle_()
    assert bundle["text/plain"] == "Which `x`? (a / b)"
    assert "<code>x</code>? (a / b)" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_button_gives_one_hint_per_press_and_says_which_is_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hints = iter([("first", True), ("second", False)])
    view = HintButton(lambda: next(hints))
    view.button.click()
    assert "first" in view.hints.value
    assert not view.button.disabled
    view.button.click()
    assert "first" in view.hints.value
    assert "second" in view.hints.value
    assert view.button.disabled
    assert "last" in view.button.description
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert view._repr_mimebundle_() == {"text/plain": ""}
