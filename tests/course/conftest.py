# SPDX-License-Identifier: Apache-2.0
"""What lessons define stays among their tests, and nobody's progress is touched."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fedlearn_edu.course import records
from fedlearn_edu.language import intrinsic as definition

_of_lessons: dict[str, definition.IntrinsicDef] = {}


@pytest.fixture(autouse=True)
def _intrinsics_of_lessons_stay_here() -> Iterator[None]:
    """A reference answer is made once, so what it defined has to come back for it."""
    before = dict(definition._registry)
    definition._registry.update(_of_lessons)
    yield
    _of_lessons.update(definition._registry)
    definition._registry.clear()
    definition._registry.update(before)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of progress for this test; nothing was said yet."""
    path = tmp_path / "deep" / "progress.json"
    monkeypatch.setenv(records.VARIABLE, str(path))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    records._say_once.cache_clear()
    return path
