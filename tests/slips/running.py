# SPDX-License-Identifier: Apache-2.0
"""Slips that show when a program runs, or when its stack is built."""

from contextlib import chdir
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import learning, simulation
from fedlearn_edu.language import context_stack
from tests.learning.small import mean_process, small_data
from tests.slips.slip import calls, slip


def on(factory: Any) -> Any:
    return fl.framework.SyncExecutionContext(factory)


@fl.federated_computation(fl.type_at_clients(fl.SequenceType(np.float32)))
def totals(data: Any) -> Any:
    return fl.sequence_sum(data)


@fl.federated_computation(fl.type_at_clients(np.float32))
def mean(x: Any) -> Any:
    return fl.federated_mean(x)


@slip(281, RuntimeError, "StopIteration", "client 1", "next(it, None)", "first_of")
def a_client_without_elements() -> None:
    def first_of(values: Any) -> Any:
        return next(iter(values))

    first = fl.np_computation(first_of, fl.SequenceType(np.float32))
    fl.federated_map(
        first, fl.place([[1.0], []], fl.CLIENTS, fl.SequenceType(np.float32))
    )


@slip(283, RuntimeError, "on your own thread")
def a_time_limit_on_ones_own_thread() -> None:
    factory = fl.framework.thread_debugging_executor_factory()
    with on(factory), fl.timeout(10):
        mean([1.0])


@slip(110, NotImplementedError, "support_sequence_ops=True", "sequence_reduce")
def sequences_on_a_stack_without() -> None:
    with on(fl.framework.local_executor_factory()):
        totals([[1.0], [2.0]])


@slip(150, RuntimeError, "build a new one", "build_inprocess_environment")
def a_closed_environment() -> None:
    with simulation.build_inprocess_environment() as environment:
        bound = environment.create_computation(totals)
    bound([[1.0], [2.0]])


@slip(151, RuntimeError, "pass the computation itself")
def a_computation_of_another_environment() -> None:
    local = simulation.local_executor_factory().create_computation(totals)
    simulation.build_inprocess_environment().create_computation(local)


@slip(350, ValueError, "one run at a time", "shut down its kernel")
def two_runs_in_one_folder() -> None:
    def run(judge: Any = None) -> None:
        saved = learning.Checkpoints("my_run")
        options = learning.Options(checkpoints=saved, progress=False)
        learning.run(mean_process(), small_data(), 1, evaluate=judge, options=options)

    with TemporaryDirectory() as folder, chdir(folder):
        run({"once more": lambda _: run()})


class Forgetful(fl.framework.FederatingStrategy):
    """A strategy that nobody taught anything."""

    def close(self) -> None:
        pass

    async def embed(self, value: Any, type_: Any) -> Any:
        return value

    async def compute(self, representation: Any, type_: Any) -> Any:
        return representation


@slip(111, NotImplementedError, "@implements")
def a_strategy_without_the_intrinsic() -> None:
    with on(fl.framework.local_executor_factory(strategy=Forgetful)):
        mean([1.0])


@slip(129, AttributeError, "never had computation.fit")
def a_computation_taken_for_a_model() -> None:
    model: Any = mean
    model.fit([1.0])


@slip(126, RuntimeError, "set_default_context")
def no_default_context() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context_stack, "_default", [])
        mean([1.0])


@slip(119, ValueError, "default_num_clients")
def an_equal_value_at_no_clients() -> None:
    @fl.federated_computation
    def everywhere() -> Any:
        return fl.federated_value(1.0, fl.CLIENTS)

    everywhere()


@slip(120, ValueError, "0 to 10", "12", "client 2")
def a_value_out_of_the_promised_range() -> None:
    @fl.federated_computation(fl.type_at_clients(np.int32))
    def total(x: Any) -> Any:
        return fl.federated_secure_sum(x, 10)

    total([1, 2, 12])


@slip(121, ZeroDivisionError, "at client 2", "ratio", theirs=True)
def an_error_in_the_learners_own_code() -> None:
    @fl.np_computation(np.int32)
    def ratio(x: Any) -> Any:
        return np.int32(10 // int(x))

    ratios = fl.federated_computation(
        lambda x: fl.federated_map(ratio, x), fl.type_at_clients(np.int32)
    )
    ratios([1, 2, 0])


@slip(122, TypeError, "root's result", "float32")
def leaf_code_that_changes_its_type() -> None:
    @fl.np_computation(np.float32)
    def root(x: Any) -> Any:
        return np.sqrt(x) if x > 0 else "none"

    root(-1.0)


@slip(123, ValueError, "numpy, tensorflow")
def a_runtime_that_does_not_exist() -> None:
    with on(fl.framework.local_executor_factory(leaf="torch")):
        mean([1.0])


@slip(228, TypeError, "SyncExecutionContext(executor_fn, timeout)", "num_clients")
def a_keyword_that_a_context_does_not_take() -> None:
    fl.framework.SyncExecutionContext(num_clients=3)  # type: ignore[call-arg]


@slip(229, RecursionError, "too deeply", "side by side")
def a_structure_that_is_too_deep() -> None:
    deep: Any = np.float32
    for _ in range(300):
        deep = [deep]
    fl.to_type(deep)


calls(
    (112, ValueError, "an_intrinsic_that_is_not_defined",
     lambda: fl.framework.intrinsic_named("federated_median"), "federated_mean"),
    (128, ImportError, "a_former_name_in_an_import",
     lambda: exec("from fedlearn_edu.framework import LambdaExecutor", {}),
     "now called", "fl.framework.ReferenceResolvingExecutor"),
)  # fmt: skip
