# SPDX-License-Identifier: Apache-2.0
"""Refused arguments: wrong calls, each with the whole message it gets.

The text files beside this module are sessions in the form of a doctest. In them, a
statement prepares what follows, and an expression must be refused. To add one, write
`>>> call` and a blank line, run `pytest tests/refusals --update-golden`, and read what
the call is told.
"""

import difflib
import re
from doctest import DocTestParser, Example
from pathlib import Path
from typing import Any

import pytest

from fedlearn_edu.language import intrinsic
from tests.slips.slip import whole_message

MAX_LINES = 12
SESSIONS = [
    pytest.param(file, id=file.stem, marks=[pytest.mark.tensorflow] * in_tensorflow)
    for file in sorted(Path(__file__).parent.glob("*.txt"))
    for in_tensorflow in [file.stem.endswith("_in_tensorflow")]
]


@pytest.fixture(autouse=True)
def only_intrinsics_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lessons, pages and other tests define is in no message."""
    known = intrinsic._registry.items()
    ours = {n: d for n, d in known if n.startswith(("federated_", "sequence_"))}
    monkeypatch.setattr(intrinsic, "_registry", ours)


@pytest.mark.parametrize("session", SESSIONS)
def test_each_call_is_refused_with_its_message(
    session: Path, request: pytest.FixtureRequest
) -> None:
    text = session.read_text(encoding="utf-8")
    found = replayed(text, session.stem)
    if request.config.getoption("--update-golden"):
        session.write_text(found, encoding="utf-8")
        return
    lines = (text.splitlines(), found.splitlines())
    diff = "\n".join(difflib.unified_diff(*lines, "told", "found", lineterm=""))
    assert not diff, f"{session.name}:\n{diff}\npytest --update-golden, if wanted"


def replayed(text: str, name: str) -> str:
    """The session with the messages that its expressions get now."""
    names: dict[str, Any] = {"__name__": name}
    parts = DocTestParser().parse(text)
    told = [isinstance(part, Example) and _told(part, name, names) for part in parts]
    found = ""
    for at, part in enumerate(parts):
        found += _written(part) if isinstance(part, Example) else part
        # Calls one under the other are told the same: once.
        shared = parts[at + 1 :][:1] == [""] and told[at + 2 :][:1] == told[at : at + 1]
        found += "" if shared else told[at] or ""
    return found


def _written(example: Example) -> str:
    first, *others = example.source.splitlines()
    lines = [f">>> {first}", *(f"... {line}".rstrip() for line in others)]
    return "".join(f"{line}\n" for line in lines)


def _told(example: Example, session: str, names: dict[str, Any]) -> str:
    """The message that an expression gets; nothing for a statement."""
    try:
        expression = compile(example.source.strip(), session, "eval")
    except SyntaxError:
        exec(compile(example.source, session, "exec"), names)
        return ""
    try:
        eval(expression, names)
    except Exception as error:
        if type(error) in (AssertionError, NameError):
            raise  # of the session itself
        lines = re.sub(r"line \d+ of", "line N of", whole_message(error)).splitlines()
        assert len(lines) <= MAX_LINES, f"a long message: {lines}"
        return "".join(f"{line.rstrip() or '<BLANKLINE>'}\n" for line in lines)
    pytest.fail(f"{session}: not refused: {example.source}", pytrace=False)
