# SPDX-License-Identifier: Apache-2.0
"""`begin`: the last line of the first cell of every lesson.

It puts a stand-in into the notebook for every answer that is not there yet, and again
when the cell of an answer fails, or a check would look at an earlier attempt. From then
on a `NameError` says to run the cells above again, and warnings go to stdout.
"""

import builtins
import re
import sys
import warnings
from collections.abc import Callable, MutableMapping, Sequence
from contextlib import suppress
from typing import Any

import fedlearn_edu
from fedlearn_edu.course.exercise import Lesson, Unanswered, is_left_open
from fedlearn_edu.course.lessons import MODULES, load
from fedlearn_edu.errors import FedLearnError, short_traceback
from fedlearn_edu.viz.notebook import running_shell

RESTARTED = (
    "  do: if you restarted the kernel, run the cells above again (in JupyterLab: menu "
    "Run, Run All Above Selected Cell); if not, look for a slip in the name"
)


_watching: list[Callable[[Any], None]] = []
_warned: set[str] = set()
"""What the cell that runs was warned of."""


@short_traceback
def begin(lesson: str, namespace: MutableMapping[str, Any]) -> None:
    """Prepares a notebook for the exercises of a lesson. Answers that exist stay.

    >>> answers = {"average_of": "already written"}
    >>> begin("01_hello", answers)
    >>> answers["average_of"], answers["share_warm"]
    ('already written', <share_warm: not answered yet>)

    Args:
        lesson: its name, that of the notebook: `"04_intrinsics"`.
        namespace: where the answers will be: `globals()`.
    """
    names = [exercise.name for exercise in lesson_named(lesson).exercises]
    for name in names:
        namespace.setdefault(name, Unanswered(name))
    shell = running_shell()
    if shell is not None:
        shell.set_custom_exc((NameError, NotImplementedError, FedLearnError), _explain)
        warnings.showwarning = _warn
        _take_back_failed_answers(shell, names, namespace)


def lesson_named(name: str) -> Lesson:
    """The lesson of that name."""
    if name in MODULES:
        return load(name)
    raise FedLearnError(
        f"there is no lesson {name!r}",
        expected=", ".join(MODULES),
        found=name,
        do="take the name of the notebook, without .ipynb",
    )


def _take_back_failed_answers(
    shell: Any, names: Sequence[str], namespace: MutableMapping[str, Any]
) -> None:
    def after(result: Any) -> None:
        _warned.clear()
        if result.success or result.info is None:
            return
        for name in names:
            if _is_answer_to(name, result.info.raw_cell or ""):
                error = result.error_before_exec or result.error_in_exec
                namespace[name] = Unanswered(
                    name, None if _is_left_open(error) else error
                )

    while _watching:  # the first cell was run before
        with suppress(ValueError):  # in another shell
            shell.events.unregister("post_run_cell", _watching.pop())
    shell.events.register("post_run_cell", after)
    _watching.append(after)


def _is_left_open(error: BaseException | None) -> bool:
    while error is not None and not is_left_open(error):
        error = error.__cause__ or error.__context__
    return error is not None


def _is_answer_to(name: str, cell: str) -> bool:
    defines = rf"^(async )?(def|class) {name}\b|^{name}\s*=(?!=)"
    return "checkpoint(" not in cell and bool(re.search(defines, cell, re.MULTILINE))


def _explain(
    shell: Any, kind: type, error: Any, trace: Any, tb_offset: int | None = None
) -> None:
    if _is_left_open(error):
        error._render_traceback_ = lambda: ["not answered yet"]
    elif isinstance(error, NameError):
        if error.name in fedlearn_edu.__all__:
            error.add_note(f"  do: write fl.{error.name}")
        elif error.name is None or not hasattr(builtins, error.name):
            error.add_note(RESTARTED)
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _warn(
    message: Warning | str, category: type[Warning], *_place: object, **_more: object
) -> None:
    """On stdout: a grader gives no points to a cell that writes on stderr.

    Of all coroutines that are not awaited, after one forgotten `await`, the first.
    """
    line = f"{category.__name__}: {message}"
    if line.endswith("was never awaited"):
        line = "RuntimeWarning: a coroutine was never awaited: is an `await` missing?"
    if line not in _warned:
        _warned.add(line)
        sys.stdout.write(f"{line}\n")
