# SPDX-License-Identifier: Apache-2.0
"""What calling a computation means right now: the stack of contexts.

`Computation.__call__` asks `current_context()`. While a Python function is traced the
answer is a tracing context, which records the call; otherwise it is an execution
context, which runs it. Here is the rule for which one is current.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from threading import current_thread, main_thread
from typing import Any, Self

from fedlearn_edu.errors import (
    ContextError,
    TypeMismatchError,
    describe,
    short_traceback,
)
from fedlearn_edu.former_names import answers


@answers("context", others=False)
class Context(ABC):
    """Gives calls of computations a meaning; current inside `with context:`.

    Attributes:
        has_placements: whether there are participants; leaf code knows none.
    """

    has_placements = True

    @abstractmethod
    def invoke(self, computation: Any, argument: Any) -> Any:
        """Handles one call of a `Computation`.

        Its `argument` is packed into one, and `None` if there is no parameter.
        """

    @property
    def _is_body(self) -> bool:
        """Whether it is that of one computation's body, traced or run as leaf code."""
        return not self.has_placements or isinstance(self, TracingContext)

    def __enter__(self) -> Self:
        _scopes.set((*_scopes.get(), self))
        if current_thread() is main_thread() and not self._is_body:
            _scopes_of_main_thread.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _scopes.set(_without_last(_scopes.get(), self))
        if current_thread() is main_thread() and not self._is_body:
            _scopes_of_main_thread[:] = _without_last(_scopes_of_main_thread, self)


def _without_last(contexts: Iterable[Context], gone: Context) -> tuple[Context, ...]:
    # Tasks and generators may leave in another order than they entered.
    kept = list(contexts)[::-1]
    if gone in kept:
        kept.remove(gone)
    return tuple(kept[::-1])


# The open `with` blocks of this thread or task; those that worker threads see, too; and
# the one default of the process, or a function that builds it when it is needed.
_scopes: ContextVar[tuple[Context, ...]] = ContextVar("scopes", default=())
_scopes_of_main_thread: list[Context] = []
_default: list[Callable[[], Context] | Context] = []
# Each says whether a foreign library is tracing here, and what a call means then.
tracers: list[Callable[[], Context | None]] = []


def current_context(home: Context | None = None) -> Context:
    """What a call means here: the first that there is, in this order.

    1. the body around it, which is traced or runs as leaf code;
    2. the graph that a foreign library is tracing;
    3. `home`, the context in which the computation always runs;
    4. the innermost `with` block; a thread that opened none is in that of the main
       thread, so that a worker started inside `with context:` runs in `context`;
    5. the default of the process.
    """
    # NB(TFF): there, each thread starts with no context at all.
    scope = _innermost_scope()
    if scope is not None and scope._is_body:
        return scope
    tracing = next(filter(None, (find() for find in tracers)), None)
    return tracing or home or scope or _default_context()


def _innermost_scope() -> Context | None:
    scopes: Sequence[Context] = _scopes.get()
    if not scopes and current_thread() is not main_thread():
        scopes = _scopes_of_main_thread
    return scopes[-1] if scopes else None


def _default_context() -> Context:
    if not _default:
        raise ContextError(
            "nobody is there to run this: no default context is installed",
            expected="a default context, or a call inside `with context:`",
            found="no context",
            do="fl.framework.set_default_context("
            "fl.framework.SyncExecutionContext(fl.framework.local_executor_factory()))",
        )
    default = _default[0]
    if not isinstance(default, Context):
        default = _default[0] = default()
    return default


@short_traceback
def set_default_context(context: Context | Callable[[], Context]) -> None:
    """Replaces the process-wide default, for all threads.

    Args:
        context: a context, or a function that builds one when it is first needed.
    """
    if not isinstance(context, Context) and not callable(context):
        raise TypeMismatchError(
            "the default context must be a context",
            expected="for example SyncExecutionContext(executor_fn=factory)",
            found=describe(context),
            do="wrap an executor factory: SyncExecutionContext(executor_fn=factory)",
        )
    _default[:] = [context]


class TracingContext(Context):
    """A context that records calls instead of running them."""


def current_tracing_context() -> TracingContext | None:
    """The tracing context this code runs in, `None` outside of a computation's body."""
    scoped = _scopes.get()
    if scoped and isinstance(scoped[-1], TracingContext):
        return scoped[-1]
    return None
