# SPDX-License-Identifier: Apache-2.0
"""The stacks that every conformance case runs on, by readable names."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fedlearn_edu.framework import (
    AsyncExecutionContext,
    ExecutorFactory,
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


def _stack(
    name: str,
    runtime: str = "numpy",
    *,
    factory: Callable[..., ExecutorFactory] = local_executor_factory,
    context: Callable[[ExecutorFactory], Context] = SyncExecutionContext,
    is_full: bool = False,
    **options: Any,
) -> Stack:
    """A stack of a factory with these options, with the sequence layer if not said."""
    options = {"support_sequence_ops": True, **options}
    return Stack(
        name,
        lambda: context(factory(**options)),
        runtime,
        options["support_sequence_ops"],
        options.get("max_fanout", NEVER),
        is_full,
    )


STACKS = (
    _stack("local-numpy", support_sequence_ops=False),
    _stack("local-numpy-sequence", leaf="numpy", is_full=True),
    _stack("composing-2", max_fanout=2, is_full=True),
    _stack("composing-3", max_fanout=3),
    _stack("composing-2-plain", max_fanout=2, support_sequence_ops=False),
    _stack("recorded", tape=Tape()),
    _stack("recorded-composing-2", tape=Tape(), max_fanout=2),
    _stack("sized", factory=sizing_executor_factory),
    _stack("stepwise", factory=thread_debugging_executor_factory),
    _stack("async", context=AsyncExecutionContext),
    _stack(
        "local-tensorflow", "tensorflow", leaf="tensorflow", support_sequence_ops=False
    ),
    _stack("local-tensorflow-sequence", "tensorflow", leaf="tensorflow", is_full=True),
    _stack("threaded", "tensorflow", clients_per_thread=1),
    _stack("composing-2-tensorflow", "tensorflow", leaf="tensorflow", max_fanout=2),
    _stack("unfused-tensorflow", "tensorflow", leaf="tensorflow", fuse=False),
    _stack(
        "unfused-composing-2-tensorflow",
        "tensorflow",
        leaf="tensorflow",
        max_fanout=2,
        fuse=False,
    ),
    _stack("unfused-mixed", "mixed", fuse=False),
    _stack("mixed", "mixed"),
    _stack("mixed-composing-2", "mixed", max_fanout=2),
    _stack("mixed-recorded", "mixed", tape=Tape()),
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
