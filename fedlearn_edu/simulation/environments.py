# SPDX-License-Identifier: Apache-2.0
"""Environments: a stack of executors, and computations that are bound to it.

    environment.create_computation(total)(data)     runs here, wherever you are
    with environment: total(data)                   runs here, and closes it

An environment is a context with an end: after `close()` nothing runs there any more.
"""

import threading
from typing import Any, Self, final, overload

from fedlearn_edu.contexts import factories
from fedlearn_edu.contexts.arguments import Cardinalities
from fedlearn_edu.contexts.execution import SyncExecutionContext
from fedlearn_edu.contexts.factories import ExecutorFactory, LocalExecutorFactory
from fedlearn_edu.errors import (
    ContextError,
    TypeMismatchError,
    describe,
    short_traceback,
)
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.language.computation import (
    Computation,
    PolymorphicComputation,
    check_closed,
)
from fedlearn_edu.language.context_stack import Context
from fedlearn_edu.simulation.outline import StackOutline, outline_of


@final
class Environment(Context, ExecutorFactory):
    """Runs the computations that are bound to it, on a stack of executors of its own.

    Use it as long as you like, and `close()` it; or let a `with` block do that, inside
    of which all computations run here. It is also a factory of its stacks, as what the
    ancestor calls `local_executor_factory` is: a context can be built around it.

    Attributes:
        outline: the layers of the stack.
        is_closed: whether it refuses calls.
    """

    @short_traceback
    def __init__(self, factory: LocalExecutorFactory) -> None:
        self._context = SyncExecutionContext(factory)
        if type(factory) is not LocalExecutorFactory:
            raise TypeMismatchError(
                "an environment is built around a factory of local stacks",
                expected="for example framework.local_executor_factory()",
                found=describe(factory),
                do="framework.SyncExecutionContext(factory) takes any factory",
            )
        self.outline: StackOutline = outline_of(factory)
        self._factory = factory
        self.on_callers_thread = factory.on_callers_thread
        self.default_num_clients = factory.default_num_clients
        self.fuses, self.tape = factory.fuses, factory.tape
        self._lock = threading.Lock()
        self._calls_under_way = 0
        self.is_closed = False

    @overload
    def create_computation(self, computation: Computation) -> Computation: ...

    @overload
    def create_computation(
        self, computation: PolymorphicComputation
    ) -> PolymorphicComputation: ...

    @short_traceback
    def create_computation(self, computation: Any) -> Any:
        """The same computation, bound: wherever it is called, it runs here.

        >>> import numpy as np
        >>> import fedlearn_edu as fl
        >>> total = fl.federated_computation(
        ...     lambda x: fl.federated_sum(x), fl.type_at_clients(np.int32)
        ... )
        >>> environment = local_executor_factory()
        >>> int(environment.create_computation(total)([1, 2, 3]))
        6

        Raises:
            TypeMismatchError: if it is no computation.
            ContextError: if it is bound to another environment, or this one is closed.
        """
        self._check_open("create_computation")
        if not isinstance(computation, Computation | PolymorphicComputation):
            raise _no_computation(computation)
        if computation.home is self:
            return computation
        if computation.home is not None:
            raise ContextError(
                f"{computation.__name__} is bound to another environment already",
                expected="a computation that is bound to none",
                found=repr(computation),
                do="pass the computation itself, not what the other environment made "
                "of it",
            )
        if isinstance(computation, Computation):
            check_closed(computation)
        return computation.at_home_in(self)

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """Runs one call on the stack, once it is known to be open."""
        with self._lock:
            self._check_open(computation.__name__)
            self._calls_under_way += 1
        try:
            result = self._context.invoke(computation, argument)
        except Exception:
            self._end_call()
            raise
        # What was interrupted may still be at work: such a call stays under way, and
        # the stacks are left to the garbage collector.
        self._end_call()
        return result

    def create_executor(
        self, cardinalities: Cardinalities, runtimes: frozenset[str] = frozenset()
    ) -> Executor:
        """A stack for these participants."""
        self._check_open("create_executor")
        return self._factory.create_executor(cardinalities, runtimes)

    def clean_up_executor(self, cardinalities: Cardinalities) -> None:
        """Closes and forgets the stacks for these participants."""
        self._factory.clean_up_executor(cardinalities)

    def forget_executor(self, cardinalities: Cardinalities) -> None:
        """Forgets the stacks for these participants; calls under way keep them."""
        self._factory.forget_executor(cardinalities)

    def native(self, cardinalities: Cardinalities) -> frozenset[str]:
        """The intrinsics such a stack implements."""
        return self._factory.native(cardinalities)

    def close(self) -> None:
        """Refuses calls from now on, and releases the stacks.

        A call that is under way, in another thread, is finished first. Closing again
        does nothing.
        """
        with self._lock:
            self.is_closed = True
            is_idle = not self._calls_under_way
        if is_idle:
            self._factory.close()

    def __enter__(self) -> Self:
        self._check_open("`with`")
        return super().__enter__()

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        self.close()

    def __repr__(self) -> str:
        closed = ", closed" if self.is_closed else ""
        operators = f"sequence operators: {self.outline.has_sequence_operators}"
        return f"<environment{closed}, {operators}>\n{self.outline.to_text()}"

    def _end_call(self) -> None:
        with self._lock:
            self._calls_under_way -= 1
            is_last = self.is_closed and not self._calls_under_way
        if is_last:
            self._factory.close()

    def _check_open(self, what: str) -> None:
        if self.is_closed:
            has_operators = self._factory.support_sequence_ops
            anew = (
                "build_inprocess_environment"
                if has_operators
                else "local_executor_factory"
            )
            raise ContextError(
                "this environment is closed",
                expected="an open environment",
                found=f"{what}, after close() or the end of its `with` block",
                do=f"build a new one: simulation.{anew}()",
            )


@short_traceback
def local_executor_factory(
    default_num_clients: int = 0,
    max_fanout: int = 100,
    clients_per_thread: int = 1,
    **options: Any,
) -> Environment:
    """An environment whose stack has no sequence layer, like TFF's default.

    Takes what `framework.local_executor_factory` takes, which makes only the factory;
    `build_inprocess_environment` runs sequence operators, too.
    """
    # NB(TFF): there, the factory has this name; an environment can be used as one.
    return Environment(
        factories.local_executor_factory(
            default_num_clients, max_fanout, clients_per_thread, **options
        )
    )


@short_traceback
def build_inprocess_environment(num_clients: int | None = None) -> Environment:
    """An environment that runs everything: its stack has the sequence layer.

    Args:
        num_clients: how many clients there are when no argument says it; `None` is 0.
    """
    count = 0 if num_clients is None else num_clients
    factories.check_count(
        "num_clients", count, 0, "how many clients there are without data"
    )
    return Environment(
        factories.local_executor_factory(count, support_sequence_ops=True)
    )


def _no_computation(thing: object) -> TypeMismatchError:
    do = "pass the computation, and call what you get: create_computation(f)(data)"
    if callable(thing):
        do = "decorate it first: federated_computation, tf_computation, np_computation"
    return TypeMismatchError(
        "create_computation takes a computation",
        expected="what federated_computation, tf_computation or np_computation makes",
        found=describe(thing),
        do=do,
    )
