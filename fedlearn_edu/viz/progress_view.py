# SPDX-License-Identifier: Apache-2.0
"""Progress under the cell that asked for it: it moves on when a check passes."""

from collections.abc import Callable
from typing import Any, final

import ipywidgets as widgets


@final
class ProgressView(widgets.HTML):  # type: ignore[misc]
    """What a function draws, drawn anew by `refresh`.

    Attributes:
        text: the same in words, for pages without a front end.
    """

    def __init__(self, draw: Callable[[], tuple[str, str]]) -> None:
        """Shows what `draw` returns: HTML, and plain text."""
        super().__init__(layout=widgets.Layout(width="100%"))
        self.text, self._draw_now = "", draw
        self.refresh()

    def refresh(self) -> None:
        """Draws the current state."""
        self.value, self.text = self._draw_now()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget; without a front end its current HTML, and text."""
        self.refresh()
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        return {**bundle, "text/html": self.value, "text/plain": self.text}
