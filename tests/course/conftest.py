# SPDX-License-Identifier: Apache-2.0
"""What lessons define stays among their tests."""

from collections.abc import Iterator

import pytest

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
