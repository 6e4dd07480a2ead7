# SPDX-License-Identifier: Apache-2.0
"""Environments: computations that are bound to a stack, and what closing it means."""

import pickle
import signal
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import cloudpickle
import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import simulation
from fedlearn_edu.errors import ContextError
from fedlearn_edu.language import context_stack
from fedlearn_edu.language.context_stack import current_context
from fedlearn_edu.simulation import Environment
from tests.executors.examples import CountingExecutor
from tests.patience import PATIENCE_S
from tests.programs import INT, INTS, at_once, increment, same, seven

fw = fl.framework
MAKERS: list[Callable[[], Environment]] = [
    simulation.local_executor_factory,
    simulation.build_inprocess_environment,
]

SUM = fl.federated_computation(lambda v: fl.federated_sum(v), INTS)
EVALUATED = fl.federated_computation(lambda: fl.federated_eval(seven, fl.CLIENTS))


@fl.federated_computation
def doubled(x: Any) -> Any:
    """Twice as much."""
    return x + x


# ------------------------------------------------------------------ running


def test_it_does_not_matter_which_context_is_current() -> None:
    before = current_context()
    three = simulation.build_inprocess_environment(3).create_computation(EVALUATED)
    assert three() == [7, 7, 7]
    with fw.SyncExecutionContext(fw.local_executor_factory(5)):
        assert (three(), EVALUATED()) == ([7] * 3, [7] * 5)
    with fw.AsyncExecutionContext(fw.local_executor_factory(5)):
        assert three() == [7] * 3
    with simulation.build_inprocess_environment(2):
        assert (three(), EVALUATED()) == ([7] * 3, [7] * 2)
    assert (EVALUATED(), current_context()) == ([], before)


def test_every_thread_runs_it_in_its_own_environment() -> None:
    three = simulation.build_inprocess_environment(3).create_computation(EVALUATED)
    total_of = simulation.local_executor_factory().create_computation(SUM)
    found = at_once(lambda i: (three(), total_of([i, i])), range(8))
    assert found == [([7] * 3, 2 * i) for i in range(8)]


@pytest.mark.parametrize("computation", [SUM, EVALUATED, increment, same], ids=repr)
def test_a_bound_computation_looks_like_the_computation(computation: Any) -> None:
    bound = simulation.local_executor_factory().create_computation(computation)
    assert bound is not computation
    assert repr(bound) == repr(computation)
    assert bound.__name__ == computation.__name__
    assert bound.__doc__ == computation.__doc__
    assert bound.type_signature == computation.type_signature
    assert bound.to_text() == computation.to_text()
    assert bound == computation


def test_a_polymorphic_computation_runs_for_every_type() -> None:
    environment = simulation.build_inprocess_environment(3)
    bound = environment.create_computation(doubled)
    assert repr(bound) == "<polymorphic computation doubled(x)>"
    assert bound.__doc__ == "Twice as much."
    with fw.AsyncExecutionContext(fw.local_executor_factory()):
        assert (bound(2), bound(x=2.5)) == (4, 5.0)
    assert bound(np.array([1, 2], np.int64)).tolist() == [2, 4]
    environment.close()
    with pytest.raises(ContextError, match="environment is closed") as caught:
        bound(2)
    assert "doubled" in str(caught.value.found)
    assert doubled(2) == 4


def test_the_numbers_of_the_factory_are_taken() -> None:
    environment = simulation.local_executor_factory(2, max_fanout=2, use_threads=False)
    assert environment.create_computation(EVALUATED)() == [7, 7]
    assert "from 2 clients on FederatedComposingStrategy" in repr(environment)
    environment = simulation.local_executor_factory(support_sequence_ops=True)
    assert "sequence operators: yes" in repr(environment)


def test_a_factory_of_your_own_choice_has_an_environment() -> None:
    factory = fw.sizing_executor_factory()
    assert Environment(factory).create_computation(SUM)([1, 2, 3]) == 6
    assert factory.get_size_info() != fw.sizing_executor_factory().get_size_info()


# ------------------------------------------------------------------ inside of bodies


def test_it_is_a_factory_of_its_stacks_until_it_is_closed() -> None:
    environment = simulation.local_executor_factory(default_num_clients=4)
    context = fw.SyncExecutionContext(environment)
    with context:
        assert SUM([1, 2, 3]) == 6
        assert len(EVALUATED()) == 4
    environment.close()
    with context, pytest.raises(ContextError, match="this environment is closed"):
        SUM([1, 2])


def test_in_a_body_it_is_the_computation_it_was() -> None:
    environment = simulation.build_inprocess_environment(3)
    bound = environment.create_computation(increment)
    both = environment.create_computation(doubled)

    @fl.federated_computation(INTS)
    def program(v: Any) -> Any:
        mapped = fl.federated_map(bound, fl.federated_map(both, v))
        return fl.federated_sum(mapped)

    @fl.federated_computation(np.int32)
    def called(x: Any) -> Any:
        return bound(both(x))

    environment.close()  # nothing above runs there
    assert program([1, 2, 3]) == 15
    assert called(3) == 7
    assert bound.to_text() in program.to_text()


def test_it_is_an_argument_where_a_function_is_wanted() -> None:
    environment = simulation.build_inprocess_environment()
    twice = fl.federated_computation(lambda f: f(f(1)), fl.FunctionType(INT, INT))
    for function in (increment, doubled):
        bound = environment.create_computation(function)
        assert twice(bound) == twice(function)
        assert environment.create_computation(twice)(bound) == twice(function)


def test_it_needs_no_default_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_stack, "_default", [])
    assert simulation.local_executor_factory().create_computation(SUM)([1, 2]) == 3


def test_a_bound_computation_travels_as_the_computation() -> None:
    """An environment is threads and memory of one process."""
    environment = simulation.build_inprocess_environment(3)
    copy = pickle.loads(cloudpickle.dumps(environment.create_computation(EVALUATED)))
    environment.close()
    assert copy == EVALUATED
    assert copy() == []


# ------------------------------------------------------------------ `with`, and closing


def test_inside_its_block_intrinsics_run_there() -> None:
    tape = fw.Tape()
    with simulation.local_executor_factory(tape=tape) as environment:
        placed = fl.place([1.0, 2.0, 6.0], fl.CLIENTS)
        assert float(fl.federated_mean(placed)) == 3.0
        assert tape.events
        environment.close()
        with pytest.raises(ContextError, match="environment is closed") as caught:
            fl.federated_mean(placed)
    assert "federated_mean" in str(caught.value.found)


def test_blocks_in_each_other_close_it_once_and_an_error_does() -> None:
    failing = simulation.build_inprocess_environment()
    with pytest.raises(KeyError, match="mine"), failing:
        raise KeyError("mine")
    assert failing.is_closed
    with simulation.build_inprocess_environment(3) as environment:
        with environment:
            assert EVALUATED() == [7] * 3
        with pytest.raises(ContextError, match="environment is closed"):
            EVALUATED()
    assert EVALUATED() == []


class Counted:
    """An environment whose leaf executors count how often they are closed."""

    def __init__(self, **options: Any) -> None:
        self.leaves: list[CountingExecutor] = []
        self.environment = simulation.local_executor_factory(leaf=self._leaf, **options)

    def _leaf(self) -> CountingExecutor:
        self.leaves.append(CountingExecutor())
        return self.leaves[-1]

    def times_closed(self) -> set[int]:
        return {leaf.times_closed for leaf in self.leaves}


def test_closing_closes_all_stacks_once() -> None:
    counted = Counted()
    bound = counted.environment.create_computation(SUM)
    assert [bound([1] * count) for count in (1, 2, 3)] == [1, 2, 3]
    assert len(counted.leaves) >= 9
    assert counted.times_closed() == {0}
    counted.environment.close()
    counted.environment.close()
    assert counted.times_closed() == {1}


@pytest.fixture
def gate() -> Any:
    """Leaf code that waits: `reached` is set when it does, `opened` lets it go on."""
    reached, opened = threading.Event(), threading.Event()

    def passing(x: Any) -> Any:
        reached.set()
        assert opened.wait(PATIENCE_S)
        return x + np.int32(1)

    opened.set()  # leaf code is tried when it is defined
    computation = fl.np_computation(passing, np.int32)
    opened.clear()
    reached.clear()
    yield SimpleNamespace(computation=computation, reached=reached, opened=opened)
    opened.set()


def test_a_call_in_another_thread_is_finished_first(gate: Any) -> None:
    counted, results = Counted(), []
    bound = counted.environment.create_computation(gate.computation)
    thread = threading.Thread(target=lambda: results.append(bound(1)))
    thread.start()
    assert gate.reached.wait(PATIENCE_S)
    counted.environment.close()
    with pytest.raises(ContextError, match="environment is closed"):
        bound(2)
    assert counted.times_closed() == {0}
    gate.opened.set()
    thread.join(PATIENCE_S)
    assert results == [2]
    assert counted.times_closed() == {1}


@pytest.mark.parametrize("fails", [False, True])
def test_a_computation_may_close_the_environment_it_runs_in(fails: bool) -> None:
    @fl.np_computation(np.int32)
    def last_words(x: Any) -> Any:
        if x == 5:
            environment.close()
            if fails:
                raise KeyError("mine")
        return x

    counted = Counted()
    environment = counted.environment
    bound = environment.create_computation(last_words)
    with pytest.raises(KeyError, match="mine") if fails else nullcontext():
        assert [bound(4), bound(5)] == [4, 5]
    assert counted.times_closed() == {1}
    with pytest.raises(ContextError, match="environment is closed"):
        bound(6)


def test_what_was_interrupted_is_left_alone(gate: Any) -> None:
    """It may still be at work, and its executors must not vanish below it."""
    counted = Counted()

    def interrupt() -> None:
        assert gate.reached.wait(PATIENCE_S)
        ident = threading.main_thread().ident
        assert ident is not None
        time.sleep(0.1)  # until it waits: just before that, it would not hear
        signal.pthread_kill(ident, signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt), counted.environment:
        gate.computation(1)
    interrupting.join(PATIENCE_S)
    assert counted.environment.is_closed
    assert counted.times_closed() == {0}


@pytest.mark.parametrize("computation", [SUM, doubled], ids=["SUM", "doubled"])
def test_its_own_environment_takes_a_bound_computation(computation: Any) -> None:
    own, other = (make() for make in MAKERS)
    bound = own.create_computation(computation)
    assert own.create_computation(bound) is bound
    assert other.create_computation(computation) is not bound


@pytest.mark.parametrize("count", [0, 1, 4])
def test_the_number_of_clients_is_for_calls_without_data(count: int) -> None:
    environment = simulation.build_inprocess_environment(count)
    assert environment.create_computation(EVALUATED)() == [7] * count
    placed = fl.place([1, 2, 3], fl.CLIENTS, np.int32)
    total_of = environment.create_computation(SUM)
    assert [total_of([1, 2, 3]), total_of(placed), total_of(placed)] == [6] * 3


# ------------------------------------------------------------------ looks


def test_the_text_says_whether_sequence_operators_run() -> None:
    without, with_operators = (repr(make()).splitlines() for make in MAKERS)
    assert without[0] == "<environment, sequence operators: no>"
    assert with_operators[0] == "<environment, sequence operators: yes>"
    assert len(with_operators) == len(without) + 1
    environment = simulation.local_executor_factory()
    environment.close()
    assert repr(environment).startswith("<environment, closed, sequence operators: no>")


# ------------------------------------------------------------------ TensorFlow


@pytest.mark.tensorflow
def test_in_tensorflow_code_it_is_part_of_the_graph() -> None:
    tf = fl.tf
    environment = simulation.local_executor_factory()
    square = environment.create_computation(fl.tf_computation(tf.square, np.float32))
    environment.close()

    @fl.tf_computation(np.float32)
    def fourth_power(x: Any) -> Any:
        return square(square(x))

    assert fourth_power(2.0) == 16.0
