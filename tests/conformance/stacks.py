# SPDX-License-Identifier: Apache-2.0
"""The stacks that every conformance case runs on, by readable names."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from fedlearn_edu.framework import (
    AsyncExecutionContext,
    SyncExecutionContext,
    Tape,
    infer_cardinalities,
    local_executor_factory,
    sizing_executor_factory,
    thread_debugging_executor_factory,
)
from fedlearn_edu.language.context_stack import Context
from fedlearn_edu.testing import Case
from fedlearn_edu.types import CLIENTS

NEVER = 1000


@dataclass(frozen=True)
class Stack:
    """One way to run programs.

    Attributes:
        name: the test id.
        make: builds the context.
        runtime: the leaf code it is tried with.
        sequences: whether it has the sequence layer.
        max_fanout: from this many clients on it is a hierarchy.
    """

    name: str
    make: Callable[[], Context]
    runtime: str = "numpy"
    sequences: bool = True
    max_fanout: int = NEVER

    @cached_property
    def context(self) -> Context:
        """The context, made once; later cases meet stacks that are warm."""
        return self.make()


def local(**options: object) -> Callable[[], Context]:
    """Makes a synchronous context over `local_executor_factory(**options)`."""
    options = {"support_sequence_ops": True, **options}
    return lambda: SyncExecutionContext(local_executor_factory(**options))  # type: ignore[arg-type]


STACKS = (
    Stack("local-numpy", local(support_sequence_ops=False), sequences=False),
    Stack("local-numpy-sequence", local(leaf="numpy")),
    Stack("composing-2", local(max_fanout=2), max_fanout=2),
    Stack("composing-3", local(max_fanout=3), max_fanout=3),
    Stack(
        "composing-2-plain",
        local(max_fanout=2, support_sequence_ops=False),
        sequences=False,
        max_fanout=2,
    ),
    Stack("recorded", local(tape=Tape())),
    Stack("recorded-composing-2", local(tape=Tape(), max_fanout=2), max_fanout=2),
    Stack(
        "sized",
        lambda: SyncExecutionContext(
            sizing_executor_factory(support_sequence_ops=True)
        ),
    ),
    Stack(
        "stepwise",
        lambda: SyncExecutionContext(
            thread_debugging_executor_factory(support_sequence_ops=True)
        ),
    ),
    Stack(
        "async",
        lambda: AsyncExecutionContext(
            local_executor_factory(support_sequence_ops=True)
        ),
    ),
    Stack(
        "local-tensorflow",
        local(leaf="tensorflow", support_sequence_ops=False),
        runtime="tensorflow",
        sequences=False,
    ),
    Stack("local-tensorflow-sequence", local(leaf="tensorflow"), runtime="tensorflow"),
    Stack("threaded", local(clients_per_thread=1), runtime="tensorflow"),
    Stack(
        "composing-2-tensorflow",
        local(max_fanout=2, leaf="tensorflow"),
        runtime="tensorflow",
        max_fanout=2,
    ),
    Stack(
        "unfused-tensorflow", local(leaf="tensorflow", fuse=False), runtime="tensorflow"
    ),
    Stack(
        "unfused-composing-2-tensorflow",
        local(max_fanout=2, leaf="tensorflow", fuse=False),
        runtime="tensorflow",
        max_fanout=2,
    ),
    Stack("unfused-mixed", local(fuse=False), runtime="mixed"),
    Stack("mixed", local(), runtime="mixed"),
    Stack("mixed-composing-2", local(max_fanout=2), runtime="mixed", max_fanout=2),
    Stack("mixed-recorded", local(tape=Tape()), runtime="mixed"),
)


def count_clients(case: Case) -> int:
    """How many clients the arguments imply; most cases take one structure of them."""
    parameter = case.computation.type_signature.parameter
    if parameter is None:
        return 0
    whole = len(case.arguments) == 1 and not case.keywords
    argument = (
        case.arguments[0] if whole else [*case.arguments, *case.keywords.values()]
    )
    return infer_cardinalities(argument, parameter).get(CLIENTS, 0)
