# SPDX-License-Identifier: Apache-2.0
"""What of a solution or of a hidden test is still to be read in a release."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

_BLOCK = re.compile(r"### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)### END \1", re.DOTALL)


def leaks(source: Any, release: Any) -> Iterator[str]:
    """Lines that only a solution or a hidden test has, and markers of either.

    A line that the lesson also has elsewhere, `return model` say, is no secret; but it
    may not stand in the release once more than the lesson has it elsewhere.
    """
    secret = Counter(line for cell in source.cells for line in _secret_lines(cell))
    allowed = Counter(line for cell in source.cells for line in _lines(cell.source))
    found = Counter(line for cell in release.cells for line in _lines(cell.source))
    for line, times in secret.items():
        if found[line] > allowed[line] - times:
            yield f"the release has {line!r}"
    for cell in release.cells:
        for marker in ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN TESTS"):
            if marker in cell.source:
                yield f"{cell.id} has {marker!r}"
        if cell.get("outputs") or cell.get("execution_count"):
            yield f"{cell.id} has outputs"


def unmarked_answers(source: Any) -> Iterator[str]:
    """Answer cells without a block, and check cells that hide nothing."""
    for cell in source.cells:
        metadata = cell.metadata.get("nbgrader", {})
        needs = [
            kind
            for kind, key in [("SOLUTION", "solution"), ("HIDDEN TESTS", "grade")]
            if metadata.get(key)
        ]
        kinds = sorted({kind for kind, _ in _BLOCK.findall(cell.source)})
        if kinds != needs:
            yield f"{cell.id}: needs {needs or 'no block'}, has {kinds or 'none'}"


def _secret_lines(cell: Any) -> list[str]:
    return [line for _, body in _BLOCK.findall(cell.source) for line in _lines(body)]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
