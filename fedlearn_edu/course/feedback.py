# SPDX-License-Identifier: Apache-2.0
"""A verdict as a table of what passed, then the first failure; in HTML and in text."""

from collections.abc import Iterable
from html import escape

from fedlearn_edu.course.exercise import Exercise, Failure
from fedlearn_edu.course.judging import FAILED, NOT_RUN, PASSED, Row, Verdict
from fedlearn_edu.errors import counted
from fedlearn_edu.viz.colors import ALARM, QUIET, TEST
from fedlearn_edu.viz.html import code, head, strong, table, tag

_SIGNS = {PASSED: "✓", FAILED: "✗", NOT_RUN: "–"}
_COLORS = {PASSED: TEST, FAILED: ALARM, NOT_RUN: QUIET}
_HEAD = "text-align:left;font-weight:bold;vertical-align:baseline;white-space:nowrap"
_CELL = "padding:2px 12px 2px 0;margin:0;background:none"
_LEFT = "text-align:left;overflow-wrap:anywhere"
_PRE = "font-family:monospace;white-space:pre;overflow-x:auto;margin:4px 0"


def summary(verdict: Verdict) -> str:
    """One line: how many cases pass, and what went wrong first."""
    passed = sum(row.outcome == PASSED for row in verdict.rows)
    name, count = verdict.exercise.name, len(verdict.rows)
    if verdict.failure is None:
        return f"{name}: right, {_all(verdict)}"
    if not verdict.is_answered:
        return verdict.failure.do
    told = verdict.failure.likely or verdict.failure.do
    after = f": {told}" if told else ""
    return f"{name}: not right yet, {passed} of {_pass(count)}{after}"


def as_text(verdict: Verdict) -> str:
    """The verdict for a terminal."""
    rows = [f"  {_SIGNS[row.outcome]} {row.name}" for row in verdict.rows]
    name, title = verdict.exercise.name, verdict.exercise.title
    lines = [f"{name}: {title}", *rows, ""]
    if verdict.failure is None:
        return "\n".join([*lines, f"Right. {_all(verdict).capitalize()}."])
    if not verdict.is_answered:
        return "\n".join([lines[0], verdict.failure.do])
    parts = _parts(verdict.failure)
    for word, text in parts:
        lines.append(f"  {word + ':':<14}" + text.replace("\n", "\n" + " " * 16))
    return "\n".join([*lines, _stuck(verdict)])


def as_html(verdict: Verdict) -> str:
    """The verdict for a notebook, in signs and words besides colors."""
    name, title = code(verdict.exercise.name), escape(verdict.exercise.title)
    rows = map(_row, verdict.rows) if verdict.is_answered else ()
    parts = [tag("div", tag("strong", f"{name}: {title}")), _table(rows)]
    if verdict.failure is None:
        parts.append(tag("div", strong("Right."), f" {_all(verdict).capitalize()}."))
    elif not verdict.is_answered:
        parts.append(tag("div", in_code(verdict.failure.do)))
    else:
        parts.append(_table(_part(*part) for part in _parts(verdict.failure)))
        parts.append(tag("div", in_code(_stuck(verdict))))
    look = _bordered(TEST if verdict.is_right else ALARM)
    label = escape(summary(verdict))
    return tag("div", *parts, role="group", aria_label=label, style=look)


def prose(text: str) -> str:
    """A sentence or two; lines that are indented are code, and so is `this`."""
    blocks: list[tuple[bool, list[str]]] = []
    for line in text.splitlines():
        is_code = line.startswith("    ") or (
            not line.strip() and bool(blocks) and blocks[-1][0]
        )
        if not blocks or blocks[-1][0] != is_code:
            blocks.append((is_code, []))
        blocks[-1][1].append(line[4:] if is_code else line)
    parts = [
        tag("pre", escape("\n".join(lines)), style=_PRE)
        if is_code
        else tag("div", in_code(" ".join(lines)))
        for is_code, lines in blocks
    ]
    return tag("div", *parts, style=_bordered(QUIET))


def _bordered(color: str) -> str:
    look = "padding-left:10px;margin:.5em 0;line-height:1.45"
    return f"border-left:6px solid {color};{look}"


def _all(verdict: Verdict) -> str:
    count = len(verdict.rows)
    return f"{'all ' * (count > 1)}{_pass(count)}"


def _pass(count: int) -> str:
    return counted(count, "check passes", "checks pass")


def hint_text(exercise: Exercise, rung: int) -> str:
    """One of its hints, by number from 1; it says when there is no other."""
    count = len(exercise.hints)
    last = ", the last" if rung == count else ""
    return f"Hint {rung} of {count}{last}: {exercise.hints[rung - 1]}"


def _stuck(verdict: Verdict) -> str:
    return f"Stuck? `hint.{verdict.exercise.name}()` in a cell of your own."


def _parts(failure: Failure) -> list[tuple[str, str]]:
    parts = [
        ("tried", failure.inputs),
        ("expected", failure.expected),
        ("got", failure.got),
        ("found", failure.found),
        ("where", failure.where),
        ("likely cause", failure.likely),
        ("do", failure.do),
    ]
    return [(word, text) for word, text in parts if text]


def _table(rows: Iterable[str]) -> str:
    return table((), rows, style=";margin:4px 0;width:auto")


def _row(row: Row) -> str:
    sign = tag("span", _SIGNS[row.outcome], aria_hidden="true")
    look = f"{_CELL};white-space:nowrap;text-align:left;padding-left:6px"
    look += f";border-left:4px solid {_COLORS[row.outcome]}"
    outcome = tag("td", f"{sign} {row.outcome}", style=look)
    return outcome + tag("td", in_code(row.name), style=f"{_CELL};{_LEFT}")


def _part(word: str, text: str) -> str:
    is_prose = word in ("likely cause", "do")
    shown = in_code(text) if is_prose else code(text, style="white-space:pre-wrap")
    return head(word, f"{_CELL};{_HEAD}") + tag("td", shown, style=f"{_CELL};{_LEFT}")


def in_code(text: str) -> str:
    """Sets what stands between backticks as code."""
    pieces = enumerate(text.split("`"))
    return "".join(code(piece) if i % 2 else escape(piece) for i, piece in pieces)
