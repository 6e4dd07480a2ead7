# SPDX-License-Identifier: Apache-2.0
"""What an intrinsic means outside of bodies is said by the current context."""

import asyncio
import warnings
from collections.abc import Callable
from typing import Any, final

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import CLIENTS, SERVER
from fedlearn_edu.framework import (
    AsyncExecutionContext,
    Computation,
    Context,
    ReferenceContext,
    local_executor_factory,
)
from fedlearn_edu.testing import assert_same
from tests.extension.test_context import Listening
from tests.programs import local

F32, I32 = np.float32, np.int32
p: Any = fl.place([1.0, 2.0, 4.0], CLIENTS)
d: Any = fl.place([[1, 2], [3]], CLIENTS)
# Equal at all clients, however many there are.
e: Any = fl.federated_value(F32(5), CLIENTS)
HALF = fl.np_computation(lambda x: x / F32(2), F32)
FOUR = fl.np_computation(lambda: I32(4))
# As in a notebook, a name for what a type checker takes for a Value.
ft: Any = fl


def in_async(program: Callable[[], Any], **options: Any) -> Any:
    """What a coroutine function returns in an asynchronous context."""
    factory = local_executor_factory(support_sequence_ops=True, **options)

    async def run() -> Any:
        with AsyncExecutionContext(factory):
            return await program()

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what is never awaited warns
        return asyncio.run(run())


def test_asynchronous_intrinsics_are_awaited() -> None:
    async def program() -> Any:
        mean = await ft.federated_mean(p)
        centered = await (p - mean.value)
        first = await (await ft.federated_zip((p, centered)))[0]
        return mean, centered, first, await ft.sequence_sum([1, 2, 3])

    mean, centered, first, total = in_async(program)
    assert mean == 2.3333335
    assert centered.type_signature == p.type_signature
    assert first == p
    assert_same(total, I32(6))


def test_result_that_is_not_there_yet_has_to_be_awaited_first() -> None:
    async def number() -> Any:
        return F32(1)

    later = number()
    with pytest.raises(TypeError, match="await it first"):
        ft.federated_value(later, CLIENTS)
    later.close()


@pytest.mark.parametrize(
    "context",
    [
        ReferenceContext(),
        local(support_sequence_ops=True),
        local(max_fanout=2, support_sequence_ops=True),
        local(use_threads=False, support_sequence_ops=True),
    ],
    ids=["reference", "local", "hierarchy", "callers-thread"],
)
def test_every_context_gives_the_same(context: Context) -> None:
    with context:
        assert ft.federated_mean(p) == 2.3333335
        assert ft.federated_sum(p + e) == 22
        assert ft.sequence_sum(d) == [3, 3]
        assert_same(ft.sequence_map(HALF, [1.0, 2.0]), [F32(0.5), F32(1)])
        assert ft.federated_secure_sum(ft.sequence_sum(d), 3) == 6


def count_is_needed() -> list[Callable[[], Any]]:
    return [
        lambda: ft.federated_sum(e),
        lambda: ft.federated_map(HALF, e),
        lambda: ft.federated_eval(FOUR, CLIENTS),
        lambda: ft.federated_zip((e, e)),
        lambda: e + 1,
        lambda: ft.federated_collect(e),
    ]


@pytest.mark.parametrize(
    "context", [ReferenceContext(), local()], ids=["reference", "local"]
)
def test_number_of_clients_has_to_be_known(context: Context) -> None:
    with context:
        for use in count_is_needed():
            with pytest.raises(ValueError, match="how many clients there are") as error:
                use()
            assert "place([…, …], CLIENTS) says it" in str(error.value)
            assert "default_num_clients=3" in str(error.value)


@pytest.mark.parametrize(
    "context",
    [
        ReferenceContext(default_num_clients=3),
        local(default_num_clients=3),
        local(3, max_fanout=2),
    ],
    ids=["reference", "local", "hierarchy"],
)
def test_default_number_of_clients_is_enough(context: Context) -> None:
    with context:
        results = [use() for use in count_is_needed()]
        assert results[0] == 15
        assert results[1] == [2.5] * 3
        assert results[2] == [4, 4, 4]
        assert results[3] == [(5, 5)] * 3
        assert results[4] == [6] * 3
        assert results[5] == [5] * 3
        # Data say it themselves.
        two = ft.place([1.0, 2.0], CLIENTS)
        assert ft.federated_sum(two + e) == 13


def test_what_is_equal_everywhere_needs_no_number() -> None:
    assert ft.federated_value(3, CLIENTS) == 3
    assert ft.federated_broadcast(ft.place(3, SERVER)) == 3
    pair = ft.federated_value((1, 2.0), CLIENTS)
    assert pair[1].type_signature == fl.type_at_clients(F32, all_equal=True)
    assert pair[1] == 2


def test_server_needs_no_clients() -> None:
    at_server = ft.place(3.0, SERVER)
    assert ft.federated_map(HALF, at_server) == 1.5
    assert at_server * 2 - 1 == 5
    assert ft.federated_zip((at_server, at_server)) == (3, 3)
    assert ft.federated_eval(FOUR, SERVER) == 4


def test_own_context_hears_of_intrinsics_as_of_computations() -> None:
    context = Listening(ReferenceContext(default_num_clients=2))
    with context:
        assert ft.federated_sum(p) == 7
        assert (p + e) == [6, 7, 9]
        assert ft.federated_mean(p, weight=p) == 3
        assert_same(ft.sequence_sum([1, 2]), I32(3))
        assert ft.federated_eval(FOUR, CLIENTS) == [4, 4]
    assert context.heard == [
        "federated_sum: ({float32}@CLIENTS -> float32@SERVER)",
        "add: (<left={float32}@CLIENTS,right=float32@CLIENTS> -> {float32}@CLIENTS)",
        "federated_mean: (<value={float32}@CLIENTS,weight={float32}@CLIENTS>"
        " -> float32@SERVER)",
        "sequence_sum: (int32* -> int32)",
        "federated_eval: ( -> {int32}@CLIENTS)",
    ]


@final
class Hinting(Context):
    """An outsider's that tells intrinsics from computations."""

    def invoke(self, computation: Computation, argument: Any) -> Any:
        return 0 if computation.is_eager else "a call"


def test_own_context_may_tell_intrinsics_from_computations() -> None:
    total = fl.federated_computation(fl.federated_sum, fl.type_at_clients(F32))
    with Hinting():
        assert total(p) == "a call"
        assert ft.federated_sum(p) == 0
        assert isinstance(ft.federated_sum(p), fl.FederatedValue)
        assert ft.sequence_sum([1, 2]) == 0


def test_own_context_that_returns_something_else_is_named() -> None:
    @final
    class Wrong(Context):
        def invoke(self, computation: Computation, argument: Any) -> Any:
            return "seven"

    with Wrong(), pytest.raises(TypeError, match="cannot become") as caught:
        ft.federated_sum(p)
    assert "what the context returned for federated_sum" in str(caught.value)


def test_scope_is_that_of_the_call() -> None:
    """Placed values belong to no context: what is placed here can be used there."""
    outer, inner = Listening(ReferenceContext()), Listening(ReferenceContext())
    with outer:
        here = p + 1
        with inner:
            there = here * 2
        assert there - 1 == [3, 5, 9]
    assert (len(outer.heard), len(inner.heard)) == (2, 1)
