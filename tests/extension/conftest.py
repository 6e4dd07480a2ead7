# SPDX-License-Identifier: Apache-2.0
"""Leaves no trace of the intrinsics and runtimes these tests define.

The tests themselves use the two public faces and `fedlearn_edu.testing` only, as an
outsider would; `test_outsiders.py` checks that.
"""

from collections.abc import Iterator

import pytest

from fedlearn_edu.language import intrinsic as definition
from fedlearn_edu.runtimes.registry import RUNTIMES


@pytest.fixture(autouse=True)
def _same_registries_afterwards() -> Iterator[None]:
    registries = (definition._registry, RUNTIMES)
    before = [dict(registry) for registry in registries]
    yield
    for registry, entries in zip(registries, before, strict=True):
        registry.clear()  # type: ignore[attr-defined]
        registry.update(entries)  # type: ignore[attr-defined]
