# SPDX-License-Identifier: Apache-2.0
"""What calling a computation means right now: the stack of contexts.

`Computation.__call__` asks `current_context()`. While a Python function is traced the
answer is a tracing context, which records the call; otherwise it is an execution
context, which runs it. No context lives here, only the rule which one is current.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, Self

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.language.messages import computations as messages

if TYPE_CHECKING:
    from fedlearn_edu.language.computation import Computation


class Context(ABC):
    """Gives calls of computations a meaning; current inside `with context:`.

    Attributes:
        has_placements: whether there are participants; leaf code knows none.
    """

    has_placements = True

    @abstractmethod
    def invoke(self, computation: "Computation", argument: Any) -> Any:
        """Handles one call; `argument` is packed, `None` if there is no parameter."""

    def run_intrinsic(self, computation: "Computation", argument: Any) -> Any:
        """Handles an intrinsic used outside of any body, as a computation of its own.

        Without a definition of its own: like any other call.
        """
        return self.invoke(computation, argument)

    @property
    def _is_shared(self) -> bool:
        """Whether worker threads of the main thread are in its scope, too."""
        return self.has_placements and not is_tracing(self)

    def __enter__(self) -> Self:
        _scopes.set((*_scopes.get(), self))
        if current_thread() is main_thread() and self._is_shared:
            _main_thread_scopes.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        # Tasks and generators may leave in another order than they entered.
        _scopes.set(_without_last(_scopes.get(), self))
        if current_thread() is main_thread() and self._is_shared:
            _main_thread_scopes[:] = _without_last(_main_thread_scopes, self)


def _without_last(contexts: Iterable[Context], gone: Context) -> tuple[Context, ...]:
    kept = list(contexts)[::-1]
    if gone in kept:
        kept.remove(gone)
    return tuple(kept[::-1])


_scopes: ContextVar[tuple[Context, ...]] = ContextVar("scopes", default=())
_main_thread_scopes: list[Context] = []
_default: list[Callable[[], Context] | Context] = []
# Each says whether a foreign library is tracing here, and what a call means then.
tracers: list[Callable[[], Context | None]] = []


def current_context(home: Context | None = None) -> Context:
    """What a call means here: for the body around it, else `home`, else in the scope.

    The scope is the innermost `with` block, else the process-wide default. A thread
    that opened no scope of its own sees those of the main thread, so that a worker
    thread started inside `with context:` runs in `context`.
    """
    # NB(TFF): there, each thread starts with no context at all.
    scoped = _scopes.get()
    if scoped and (is_tracing(scoped[-1]) or not scoped[-1].has_placements):
        return scoped[-1]
    for context in filter(None, (find() for find in tracers)):
        return context
    if home is not None:
        return home
    if scoped:
        return scoped[-1]
    if current_thread() is not main_thread() and _main_thread_scopes:
        return _main_thread_scopes[-1]
    if not _default:
        raise messages.no_context()
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
        raise messages.not_a_context(context)
    _default[:] = [context]


class TracingContext(Context):
    """A context that records calls instead of running them.

    Attributes:
        has_values: whether the body sees Values; leaf code sees tensors.
    """

    has_values = False


def current_tracing_context() -> TracingContext | None:
    """The tracing context this code runs in, `None` outside of a computation's body."""
    scoped = _scopes.get()
    if scoped and isinstance(scoped[-1], TracingContext):
        return scoped[-1]
    return None


def is_tracing(context: Context) -> bool:
    """Whether calls are recorded, not run, in `context`."""
    return isinstance(context, TracingContext)
