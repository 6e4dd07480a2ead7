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
        is_full: whether it runs every case, not only a few, in `make test`.
    """

    name: str
    make: Callable[[], Context]
    runtime: str = "numpy"
    sequences: bool = True
    max_fanout: int = NEVER
    is_full: bool = False

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
    Stack("local-numpy-sequence", local(leaf="numpy"), is_full=True),
    Stack("composing-2", local(max_fanout=2), max_fanout=2, is_full=True),
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
    Stack(
        "local-tensorflow-sequence",
        local(leaf="tensorflow"),
        runtime="tensorflow",
        is_full=True,
    ),
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


# Together they use every primitive intrinsic.
SMOKE = frozenset(
    {
        "value_at_clients_is_at_each_of_them-many",
        "eval_at_clients_runs_at_each-nobody",
        "map_and_aggregate_in_one_step-many",
        "select_gives_the_wanted_slices-many",
        "least_and_greatest_integer-many",
        "aggregate_with_four_functions-many",
        "collect_integers-many",
        "reduce_subtracts_in_client_order-many",
        "mean_weighted-many",
        "secure_sum-many",
        "secure_modular_sum-many",
        "sequence_read_three_times",
        "client_data_mapped_inside_a_map",
        "federated_averaging-many",
        "capture_in_an_aggregation-many",
    }
)


def is_tried_first(stack: Stack, case: Case) -> bool:
    """Whether `make test` runs this case on this stack; few cases mix runtimes."""
    return stack.is_full or case.name in SMOKE or case.runtime == "mixed"


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
