# SPDX-License-Identifier: Apache-2.0
"""A verdict as a table of what passed, then the first failure; in HTML and in text."""

from html import escape

from fedlearn_edu.course.exercise import Exercise, Failure
from fedlearn_edu.course.judging import FAILED, NOT_RUN, PASSED, Row, Verdict
from fedlearn_edu.errors import counted
from fedlearn_edu.viz.colors import ALARM, QUIET, TEST

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
    rows = "".join(map(_row, verdict.rows)) if verdict.is_answered else ""
    color = TEST if verdict.is_right else ALARM
    if verdict.failure is None:
        after = f"<div><strong>Right.</strong> {_all(verdict).capitalize()}.</div>"
    elif not verdict.is_answered:
        after = f"<div>{_code(verdict.failure.do)}</div>"
    else:
        parts = "".join(_part(*part) for part in _parts(verdict.failure))
        after = f"{_table(parts)}<div>{_code(_stuck(verdict))}</div>"
    title = f"<code>{verdict.exercise.name}</code>: {escape(verdict.exercise.title)}"
    return (
        f'<div role="group" aria-label="{escape(summary(verdict))}" style="border-left:'
        f'6px solid {color};padding-left:10px;margin:.5em 0;line-height:1.45">'
        f"<div><strong>{title}</strong></div>{_table(rows)}{after}</div>"
    )


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
    inside = "".join(
        f'<pre style="{_PRE}">{escape(chr(10).join(lines))}</pre>'
        if is_code
        else f"<div>{_code(' '.join(lines))}</div>"
        for is_code, lines in blocks
    )
    return (
        f'<div style="border-left:6px solid {QUIET};padding-left:10px;margin:.5em 0;'
        f'line-height:1.45">{inside}</div>'
    )


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


def _table(rows: str) -> str:
    return (
        '<table style="border-collapse:collapse;margin:4px 0;width:auto"><tbody>'
        f"{rows}</tbody></table>"
    )


def _row(row: Row) -> str:
    sign = f'<span aria-hidden="true">{_SIGNS[row.outcome]}</span>'
    look = f"{_CELL};white-space:nowrap;text-align:left;border-left:4px solid"
    return (
        f'<tr><td style="{look} {_COLORS[row.outcome]};padding-left:6px">{sign} '
        f'{row.outcome}</td><td style="{_CELL};{_LEFT}">{_code(row.name)}</td></tr>'
    )


def _part(word: str, text: str) -> str:
    shown = (
        _code(text)
        if word in ("likely cause", "do")
        else f'<code style="white-space:pre-wrap">{escape(text)}</code>'
    )
    return (
        f'<tr><th scope="row" style="{_CELL};{_HEAD}">{word}</th>'
        f'<td style="{_CELL};{_LEFT}">{shown}</td></tr>'
    )


def _code(text: str) -> str:
    """Sets what stands between backticks as code."""
    pieces = escape(text).split("`")
    return "".join(
        f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces)
    )
