# SPDX-License-Identifier: Apache-2.0
"""What a program may rely on, whatever its leaf code does."""

import asyncio
import multiprocessing
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import framework
from fedlearn_edu.errors import ComputationFailedError
from tests.patience import PATIENCE_S
from tests.programs import local, mapped

Pair = namedtuple("Pair", "a b")
VECTOR = fl.to_type((np.float32, [3]))


@fl.np_computation(VECTOR)
def add_one_in_place(x: Any) -> Any:
    x += 1
    return x


def test_leaf_code_cannot_change_its_callers_array() -> None:
    mine = np.zeros(3, np.float32)
    assert add_one_in_place(mine).tolist() == [1.0, 1.0, 1.0]
    assert mine.tolist() == [0.0, 0.0, 0.0]


def test_one_client_cannot_change_what_another_client_received() -> None:
    @fl.federated_computation(fl.type_at_server(VECTOR))
    def everywhere(x: Any) -> Any:
        return fl.federated_map(add_one_in_place, fl.federated_broadcast(x))

    factory = framework.local_executor_factory(default_num_clients=3)
    with framework.SyncExecutionContext(factory):
        results = everywhere(np.zeros(3, np.float32))
    assert [result.tolist() for result in results] == [[1.0, 1.0, 1.0]] * 3


def test_changing_a_result_does_not_change_the_program() -> None:
    five = fl.federated_computation(lambda: np.full(2, 5, np.int32))
    first = five()
    first += 1
    assert five().tolist() == [5, 5]


SIGNALS: list[tuple[Any, str, str]] = [
    (lambda: sys.exit(3), "tried to end the program", "an error such as ValueError"),
    (lambda: next(iter([])), "raised Python's own StopIteration", "next(it, None)"),
    (StopAsyncIteration, "raised Python's own StopAsyncIteration", "next(it, None)"),
    (GeneratorExit, "raised Python's own GeneratorExit", "an error such as"),
    (asyncio.CancelledError, "raised Python's own CancelledError", "an error such as"),
    (KeyboardInterrupt, "tried to end the program", "an error such as ValueError"),
]
CONTEXTS: dict[str, Callable[[], Any]] = {
    "local": lambda: local(),
    "groups of groups": lambda: local(max_fanout=2),
    "on this thread": lambda: framework.SyncExecutionContext(
        framework.thread_debugging_executor_factory()
    ),
    "async": lambda: framework.AsyncExecutionContext(
        framework.local_executor_factory()
    ),
    "reference": framework.ReferenceContext,
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize(("signal", "problem", "cure"), SIGNALS)
def test_leaf_code_cannot_signal_to_who_runs_it(
    context: str, signal: Any, problem: str, cure: str
) -> None:
    """It would end the loop of all calls, a coroutine, or a loop without a word."""

    def send(x: Any) -> Any:
        if x == 7:
            raise signal()
        return x

    leaf = fl.np_computation(send, np.int32)
    everywhere = mapped(leaf)

    def run(*data: int) -> Any:
        found = everywhere(list(data))
        return asyncio.run(found) if asyncio.iscoroutine(found) else found

    with CONTEXTS[context]():
        with pytest.raises(ComputationFailedError, match=f"send {problem}") as caught:
            run(1, 2, 7, 3)
        assert cure in str(caught.value)
        assert (context == "reference") != ("at client 2" in str(caught.value))
        assert run(1, 2) == [1, 2]


def test_a_field_of_placed_data_may_be_called_cached() -> None:
    placed = fl.place([{"cached": 1}, {"cached": 2}], fl.CLIENTS)
    assert placed.cached.members == [1, 2]


def test_generator_argument_may_call_computations_itself() -> None:
    double = fl.np_computation(lambda x: x * np.int32(2), np.int32)
    total = fl.federated_computation(fl.sequence_sum, fl.SequenceType(np.int32))
    assert total(double(i) for i in range(3)) == 6


@pytest.mark.tensorflow
def test_generator_behind_a_dataset_may_call_computations_itself() -> None:
    double = fl.np_computation(lambda x: x * np.int32(2), np.int32)

    def generate() -> Iterator[Any]:
        for i in range(3):
            yield double(i)

    spec = fl.tf.TensorSpec([], fl.tf.int32)
    dataset = fl.tf.data.Dataset.from_generator(generate, output_signature=spec)
    total = fl.tf_computation(
        lambda ds: ds.reduce(0, lambda a, b: a + b), fl.SequenceType(np.int32)
    )
    assert total(dataset) == 6


def _mean_in_child(queue: Any) -> None:
    queue.put(float(_mean([1.0, 2.0, 6.0])))


_mean = fl.federated_computation(fl.federated_mean, fl.type_at_clients(np.float32))


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_forked_process_computes_after_its_parent_did() -> None:
    assert _mean([1.0, 2.0, 6.0]) == 3.0
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_mean_in_child, args=(queue,))
    child.start()
    child.join(PATIENCE_S)
    assert child.exitcode == 0
    assert queue.get() == 3.0
