# SPDX-License-Identifier: Apache-2.0
"""A progress bar in notebooks and on terminals.

It goes to stdout; graders take any text on stderr for a failure. Files and pipes get
nothing.
"""

import sys
from typing import Any

from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.learning.run_state import Run


def progress_bar(rounds: int, done: int, is_wanted: bool) -> Any:
    """A bar of tqdm, for use in `with`; it may be one that shows nothing."""
    look = {"total": rounds, "initial": done, "desc": "rounds", "file": sys.stdout}
    from tqdm import tqdm

    if is_browser():  # where its monitor, a thread, cannot be
        tqdm.monitor_interval = 0
    if is_wanted and _in_notebook():
        from tqdm.notebook import tqdm as notebook_bar

        return notebook_bar(**look)
    return tqdm(**look, disable=not (is_wanted and sys.stdout.isatty()))


def advance(bar: Any, run: Run) -> None:
    """One more round: its loss, and an evaluation if there was one."""
    bar.set_postfix_str(latest(run), refresh=False)
    bar.update()


def latest(run: Run) -> str:
    """The loss and one evaluation, an accuracy if there is one.

    >>> from fedlearn_edu.learning.history import History
    >>> row = {
    ...     "round": 1,
    ...     "loss_per_example": 2.5,
    ...     "test.loss": 2,
    ...     "test.accuracy": 0.5,
    ... }
    >>> latest(Run(None, history=History.of([row])))
    'loss_per_example=2.5, test.accuracy=0.5'
    """
    row = run.history.last
    evaluated = [name for name in row if "." in name]
    accuracies = [name for name in evaluated if "accuracy" in name]
    losses = [name for name in row if "loss" in name and name not in evaluated]
    shown = [*losses[:1], *(accuracies or evaluated)[:1]]
    return ", ".join(f"{name}={row[name]:.4g}" for name in shown)


def _in_notebook() -> bool:
    """Whether this runs in a kernel; IPython in a terminal has none."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
