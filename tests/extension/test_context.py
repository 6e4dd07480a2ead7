# SPDX-License-Identifier: Apache-2.0
"""An outsider gives calls a meaning of their own: a context with one method."""

from typing import Any, final

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.framework import (
    Computation,
    Context,
    ReferenceContext,
    local_executor_factory,
)
from fedlearn_edu.testing import assert_conforms, assert_same

INTS = fl.type_at_clients(np.int32)
TOTAL = fl.federated_computation(fl.federated_sum, INTS)


@final
class Explaining(Context):
    """Runs nothing: says what would be run."""

    def invoke(self, computation: Computation, argument: Any) -> Any:
        return f"{computation.__name__}{computation.type_signature} of {argument}"


@final
class Listening(Context):
    """Notes every call, and lets another context do the work."""

    def __init__(self, inner: Context) -> None:
        self._inner = inner
        self.heard: list[str] = []

    def invoke(self, computation: Computation, argument: Any) -> Any:
        self.heard.append(f"{computation.__name__}: {computation.type_signature}")
        return self._inner.invoke(computation, argument)


@final
class Twofold(Context):
    """A wrong context: every number comes out doubled."""

    def invoke(self, computation: Computation, argument: Any) -> Any:
        result = ReferenceContext().invoke(computation, argument)
        return result * 2 if isinstance(result, np.number) else result


def test_own_context_says_what_a_call_means() -> None:
    with Explaining():
        said = TOTAL([1, 2])
    assert said == "federated_sum({int32}@CLIENTS -> int32@SERVER) of [1, 2]"
    assert_same(TOTAL([1, 2]), 3)


def test_own_context_conforms_when_it_delegates() -> None:
    context = Listening(ReferenceContext())
    report = assert_conforms(context)
    assert report.refused == ()
    assert len(context.heard) == len(report.agreed)


def test_own_context_that_errs_is_found_out() -> None:
    with pytest.raises(AssertionError, match="cases differ from the reference"):
        assert_conforms(Twofold())


def test_tracing_goes_on_inside_own_context() -> None:
    """Definitions record, whatever the context; only the outermost call is run."""
    context = Listening(ReferenceContext())
    with context:
        program = fl.federated_computation(lambda v: TOTAL(v) + TOTAL(v), INTS)
        assert context.heard == []
        assert_same(program([1, 2]), 6)
    assert len(context.heard) == 1


def test_conformance_is_asked_of_contexts_only() -> None:
    factory: Any = local_executor_factory()
    with pytest.raises(TypeError, match="a property of a context") as caught:
        assert_conforms(factory)
    assert "SyncExecutionContext" in str(caught.value)
