# SPDX-License-Identifier: Apache-2.0
"""The stacks on which laws of aggregators are tried, and the one that is quickest."""

from collections.abc import Iterator

import pytest

from tests.conformance.stacks import Stack
from tests.learning.runs import stack_named

STACKS = (
    *("reference", "local-tensorflow-sequence"),
    *("composing-2-tensorflow", "unfused-tensorflow"),
)


@pytest.fixture(params=STACKS)
def stack(request: pytest.FixtureRequest) -> Stack:
    """Each of them, one after the other."""
    return stack_named(request.param)


@pytest.fixture
def step_by_step() -> Iterator[None]:
    """For tests of what a round computes, not how: none is traced as a whole."""
    with stack_named("stepwise").context:
        yield
