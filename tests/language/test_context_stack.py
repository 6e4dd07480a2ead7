# SPDX-License-Identifier: Apache-2.0
"""Which context is current: the innermost scope, else the default, in every thread."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ContextError
from fedlearn_edu.framework import Context
from fedlearn_edu.language import context_stack
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.context_stack import current_context, set_default_context
from tests.programs import INT, increment


class Named(Context):
    def __init__(self, name: str) -> None:
        self.name = name

    def invoke(self, computation: Computation, argument: Any) -> Any:
        return self.name


@pytest.fixture
def default() -> Iterator[Named]:
    """A default context for one test."""
    before = list(context_stack._default)
    context = Named("default")
    set_default_context(context)
    yield context
    context_stack._default[:] = before


def in_a_thread(work: Callable[[], Any]) -> Any:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


def test_the_innermost_scope_is_current(default: Named) -> None:
    assert increment(1) == "default"
    with Named("outer"):
        assert increment(1) == "outer"
        with Named("inner") as inner:
            assert increment(1) == "inner"
            assert current_context() is inner
        assert increment(1) == "outer"
    assert increment(1) == "default"


def test_a_scope_ends_also_when_its_body_fails(default: Named) -> None:
    with pytest.raises(KeyError), Named("scoped"):
        raise KeyError
    assert increment(1) == "default"


def test_a_worker_thread_sees_the_scope_of_the_main_thread(default: Named) -> None:
    with Named("scoped"):
        assert in_a_thread(lambda: increment(1)) == "scoped"
    assert in_a_thread(lambda: increment(1)) == "default"


def test_the_scope_of_a_worker_thread_is_its_own(default: Named) -> None:
    def work() -> tuple[Any, Any]:
        with Named("worker"):
            inside = increment(1)
        return inside, increment(1)

    with Named("scoped"):
        assert in_a_thread(work) == ("worker", "scoped")
        assert increment(1) == "scoped"


def test_a_task_of_the_main_thread_is_not_in_the_scope_of_another(
    default: Named,
) -> None:
    async def both() -> Any:
        inside, over = asyncio.Event(), asyncio.Event()

        async def scoped() -> None:
            with Named("scoped"):
                inside.set()
                await over.wait()

        async def beside() -> Any:
            await inside.wait()
            over.set()
            return increment(1)

        _, found = await asyncio.gather(scoped(), beside())
        return found

    assert asyncio.run(both()) == "default"


def test_scopes_may_end_in_another_order_than_they_began(default: Named) -> None:
    def suspended() -> Iterator[None]:
        with Named("of a generator"):
            yield

    generator = suspended()
    next(generator)
    with Named("inner"):
        list(generator)
        assert increment(1) == in_a_thread(lambda: increment(1)) == "inner"
    assert increment(1) == in_a_thread(lambda: increment(1)) == "default"


def test_tracing_in_the_main_thread_is_nobody_elses_business(default: Named) -> None:
    seen = []

    def body(x: Any) -> Any:
        seen.append(in_a_thread(lambda: increment(1)))
        return x

    fl.federated_computation(body, INT)
    assert seen == ["default"]


def test_a_default_may_be_built_when_it_is_first_needed(default: Named) -> None:
    built = []

    def build() -> Context:
        built.append(1)
        return Named("built")

    set_default_context(build)
    assert not built
    assert [increment(1), increment(1)] == ["built", "built"]
    assert len(built) == 1


def test_without_a_default_a_call_says_what_to_do(default: Named) -> None:
    context_stack._default.clear()
    with pytest.raises(ContextError, match="set_default_context"):
        increment(1)
