# SPDX-License-Identifier: Apache-2.0
"""What learners press and fill in: a button for hints, and a prediction."""

import os
from collections.abc import Callable
from html import escape
from typing import Any, final

import ipywidgets as widgets


@final
class HintButton(widgets.VBox):  # type: ignore[misc]
    """Shows the next hint below the last one, until there is none."""

    def __init__(self, next_hint: Callable[[], tuple[str, bool]]) -> None:
        """Asks `next_hint` for its HTML, and for whether another one follows."""
        wide = {"width": "max-content"}  # or its longest words are cut
        self.button = widgets.Button(description="Give me a hint", layout=wide)
        self.hints = widgets.HTML()
        self._next_hint = next_hint
        self.button.on_click(self._press)
        super().__init__([self.button, self.hints])

    def _press(self, _: widgets.Button) -> None:
        html, is_more = self._next_hint()
        self.hints.value += html
        self.button.description = (
            "Another hint" if is_more else "That was the last hint"
        )
        self.button.disabled = not is_more

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Nothing where it cannot be pressed: on a page, and in a graded copy."""
        if os.environ.get("NBGRADER_EXECUTION"):
            return {"text/plain": ""}
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        return {**bundle, "text/html": "", "text/plain": ""}


@final
class PredictionView(widgets.VBox):  # type: ignore[misc]
    """The question, and what to answer with: buttons, or a line.

    Attributes:
        answer: the widget that takes it.
        text: the question in words, for pages without a front end.
    """

    def __init__(
        self,
        question: str,
        choices: tuple[str, ...],
        before: str | None,
        note: Callable[[str], None],
        prose: Callable[[str], str] = escape,
    ) -> None:
        """Shows the answer `before`, if there is one, and tells `note` of others."""
        self._prose = prose
        self.text = f"{question} ({' / '.join(choices)})" if choices else question
        self._tell, self._noted = note, widgets.HTML()
        if choices:
            known = before if before in choices else None
            self.answer: Any = widgets.ToggleButtons(options=choices, value=known)
            self.answer.style.button_width = "auto"
        else:
            self.answer = widgets.Text(value=before or "", continuous_update=False)
            self.answer.placeholder = "your prediction, then Enter"
        self.answer.tooltip = question
        self.answer.observe(self._note, "value")
        super().__init__([widgets.HTML(prose(question)), self.answer, self._noted])

    def _note(self, change: dict[str, Any]) -> None:
        said = (change["new"] or "").strip()
        if said:
            self._tell(said)
            self._noted.value = f"Noted: “{escape(said)}”. Go on, and compare."

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        return {**bundle, "text/html": self._prose(self.text), "text/plain": self.text}
