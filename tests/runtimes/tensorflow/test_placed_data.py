# SPDX-License-Identifier: Apache-2.0
"""Data placed once are converted once, however often and by whom they are used."""

import pickle
from collections import Counter, OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import CLIENTS, SERVER
from fedlearn_edu.framework import SyncExecutionContext, Tape, sizing_executor_factory
from fedlearn_edu.runtimes.registry import RUNTIMES
from fedlearn_edu.testing import assert_same
from fedlearn_edu.types.sequences import Cached
from tests.programs import local, mapped

pytestmark = pytest.mark.tensorflow

F32, I32 = np.float32, np.int32
VECTOR, ROW = (F32, [None]), (F32, [3])
FLOATS = fl.SequenceType(F32)
MANY = 10

# From an id to the options of a stack.
STACKS: dict[str, dict[str, Any]] = {
    "flat": {},
    "hierarchy": {"max_fanout": 2},
    "tensorflow-only": {"leaf": "tensorflow"},
    "callers-thread": {"use_threads": False},
}


@pytest.fixture(params=STACKS)
def unfused_tape(request: pytest.FixtureRequest) -> Any:
    """The same for a stack that takes every step by itself."""
    tape = Tape()
    options = {"support_sequence_ops": True, "tape": tape, **STACKS[request.param]}
    with local(**options, fuse=False):
        yield tape


@pytest.fixture
def _apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """No client works together with others: `test_groups.py` is about those."""
    apart = replace(RUNTIMES["tensorflow"], batched=None)
    monkeypatch.setitem(RUNTIMES, "tensorflow", apart)


@pytest.fixture(params=STACKS)
def tape(request: pytest.FixtureRequest, _apart: None) -> Any:
    """What a stack records; the stack is that of the default calls in the test."""
    tape = Tape()
    options = {"support_sequence_ops": True, "tape": tape, **STACKS[request.param]}
    with local(**options):
        yield tape


def conversions(tape: Tape, use: Callable[[], Any]) -> Counter[str]:
    """How often `use` had data of each type converted, by whom it was."""
    tape.clear()
    use()
    events = [event for event in tape if event.what == "convert"]
    assert {event.layer for event in events} <= {"leaf"}
    return Counter(f"{event.participant}: {event.type}" for event in events)


def at_each(count: int, *types: str) -> Counter[str]:
    """One conversion of each type at each client."""
    return Counter(f"clients[{i}]: {type_}" for i in range(count) for type_ in types)


@fl.tf_computation(VECTOR)
def total(x: Any) -> Any:
    """The sum of a vector, by TensorFlow."""
    return fl.tf.reduce_sum(x)


@fl.tf_computation(FLOATS)
def read_by_graph(xs: Any) -> Any:
    """The sum of a dataset, by one graph."""
    return xs.reduce(F32(0), lambda a, x: a + x)


@fl.tf_computation(F32)
def square(x: Any) -> Any:
    """One element, by TensorFlow."""
    return x * x


TOTALS = mapped(total)
READ = mapped(read_by_graph)
STEP_BY_STEP = fl.federated_computation(
    lambda v: fl.sequence_map(square, v), fl.type_at_clients(FLOATS)
)


MODEL = OrderedDict(w=VECTOR, b=F32)
APPLIED = mapped(fl.tf_computation(lambda m: fl.tf.reduce_sum(m["w"]) * m["b"], MODEL))
AT_SERVER = fl.federated_computation(
    lambda m: fl.federated_map(total, m), fl.type_at_server(VECTOR)
)
# A program, data and their placement, the result, and what is converted for it.
FIRST_CALLS: dict[str, tuple[Any, Any, Any, Any, Counter[str]]] = {
    "tensors": (
        *(TOTALS, [[1.0, 2.0], [3.0], [4.0]], CLIENTS, [3.0, 3.0, 4.0]),
        at_each(3, "float32[?]"),
    ),
    "structures, part by part": (
        *(APPLIED, [{"w": [1.0, 2.0], "b": 2.0}, {"w": [], "b": 1.0}], CLIENTS),
        *([6.0, 0.0], at_each(2, "float32[?]", "float32")),
    ),
    "at the server": (
        *(AT_SERVER, [1.0, 2.0], SERVER, F32(3)),
        Counter({"server: float32[?]": 1}),
    ),
    "datasets": (
        *(READ, [[1.0, 2.0], [], [3.0]], CLIENTS, [3.0, 0.0, 3.0]),
        at_each(3, "float32*"),
    ),
}


@pytest.mark.parametrize("name", FIRST_CALLS)
def test_placed_data_are_converted_by_the_first_call_only(
    name: str, tape: Tape
) -> None:
    program, plain, placement, result, converted = FIRST_CALLS[name]
    member = program.type_signature.parameter.member
    data = fl.place(plain, placement, member)
    assert conversions(tape, lambda: assert_same(program(data), result)) == converted
    assert conversions(tape, lambda: [program(data) for _ in range(MANY)]) == Counter()
    assert_same(program(data), result)


def test_elements_that_are_read_one_by_one_are_converted_once(
    unfused_tape: Tape,
) -> None:
    tape = unfused_tape
    data = fl.place([[1.0, 2.0], [], [3.0]], CLIENTS, FLOATS)
    expected = [[1.0, 4.0], [], [9.0]]
    first = conversions(tape, lambda: assert_same(STEP_BY_STEP(data), expected))
    assert first == Counter({"clients[0]: float32": 2, "clients[2]: float32": 1})
    later = conversions(tape, lambda: [STEP_BY_STEP(data) for _ in range(MANY)])
    assert later == Counter()
    assert_same(STEP_BY_STEP(data), expected)


def test_intrinsics_outside_of_bodies_convert_once(tape: Tape) -> None:
    data = fl.place([[1.0, 2.0], [3.0]], CLIENTS, VECTOR)
    assert conversions(tape, lambda: fl.federated_map(total, data)) == at_each(
        2, "float32[?]"
    )
    again = conversions(tape, lambda: [fl.federated_map(total, data) for _ in "abc"])
    assert again == Counter()
    assert conversions(tape, lambda: TOTALS(data)) == Counter()


def test_zipped_with_a_model_the_data_are_not_converted_again(tape: Tape) -> None:
    """Only what moves is: here the model, from the server to each client."""
    step = fl.tf_computation(lambda w, x: w * fl.tf.reduce_sum(x), F32, VECTOR)
    program = fl.federated_computation(
        lambda m, v: fl.federated_map(step, (fl.federated_broadcast(m), v)),
        fl.type_at_server(F32),
        fl.type_at_clients(VECTOR),
    )
    model, data = fl.place(2.0, SERVER), fl.place([[1.0, 2.0], [3.0]], CLIENTS, VECTOR)
    assert_same(program(model, data), [6.0, 6.0])
    again = conversions(tape, lambda: [program(model, data) for _ in range(MANY)])
    assert not any("float32[?]" in key or "server" in key for key in again)


def test_results_stay_right_as_the_data_go_from_runtime_to_runtime() -> None:
    data: Any = fl.place([np.array([1, 2, 3], F32), np.array([4, 5, 6], F32)], CLIENTS)
    exact = fl.tf_computation(lambda x: x[::-1], ROW)
    spoil = fl.np_computation(_spoil, ROW)
    wide = fl.np_computation(lambda x: x + F32(1), VECTOR)
    wider = mapped(wide)
    for _ in range(3):
        assert fl.federated_map(exact, data) == [[3, 2, 1], [6, 5, 4]]
        assert fl.federated_map(spoil, data) == [[0, 0, 0]] * 2
        assert_same(TOTALS(data), [6.0, 15.0])
        assert_same(wider(data), [np.array([2, 3, 4], F32), np.array([5, 6, 7], F32)])
    assert data == [[1, 2, 3], [4, 5, 6]]


def _spoil(x: Any) -> Any:
    x[:] = 0
    return x


def test_forms_do_not_pile_up() -> None:
    data = fl.place([[1.0, 2.0], [3.0]], CLIENTS, FLOATS)

    def forms() -> int:
        sequences = list(data._cached)
        parts = [*sequences, *(element for s in sequences for element in s.plain)]
        assert all(isinstance(part, Cached) for part in parts)
        return sum(len(part._forms) for part in parts)

    READ(data), STEP_BY_STEP(data), fl.sequence_sum(data)
    settled = forms()
    for _ in range(MANY):
        READ(data), STEP_BY_STEP(data), fl.sequence_sum(data)
    assert forms() == settled <= 2 * 5


def test_clients_on_several_threads_convert_once_each() -> None:
    data = fl.place([[float(i)] * 3 for i in range(20)], CLIENTS, VECTOR)
    expected = [F32(3 * i) for i in range(20)]
    with local(max_fanout=7):
        assert_same(TOTALS(data), expected)
        forms = [id(form) for one in data._cached for form in one._forms.values()]
        with ThreadPoolExecutor(max_workers=4) as pool:
            for result in pool.map(TOTALS, [data] * 8):
                assert_same(result, expected)
        assert forms == [
            id(form) for one in data._cached for form in one._forms.values()
        ]


def test_bytes_count_although_nothing_is_converted() -> None:
    """What a client receives is counted whenever it is embedded, as for plain data."""
    factory = sizing_executor_factory()
    data = fl.place([[1.0, 2.0], [3.0]], CLIENTS, VECTOR)
    sizes = []
    with SyncExecutionContext(factory):
        for argument in (data, data, [[1.0, 2.0], [3.0]]):
            factory.reset_size_info()
            TOTALS(argument)
            sizes.append(factory.get_size_info())
    assert sizes[0] == sizes[1] == sizes[2]
    assert (sizes[0].bytes_down, sizes[0].bytes_up) == (12, 8)


def test_datasets_of_the_users_stay_what_they_are(tape: Tape) -> None:
    """There is nothing to convert: a dataset is what a graph reads."""
    tf = fl.tf
    dataset = tf.data.Dataset.from_tensor_slices([1.0, 2.0])
    data = fl.place([dataset, dataset.take(1)], CLIENTS)
    assert conversions(tape, lambda: assert_same(READ(data), [3.0, 1.0])) == Counter()
    assert_same(STEP_BY_STEP(data), [[1.0, 4.0], [1.0]])


def test_placed_data_in_another_process_are_converted_there() -> None:
    data = fl.place([[1.0, 2.0]], CLIENTS, VECTOR)
    TOTALS(data)
    travelled = pickle.loads(pickle.dumps(data))
    assert not travelled._cached[0]._forms
    assert_same(TOTALS(travelled), [F32(3)])


@pytest.mark.parametrize("is_writeable", [False, True])
def test_memory_of_users_is_not_shared(is_writeable: bool) -> None:
    """As that of images that were read from a file, and lie as `place` lays them."""
    memory = np.ones(64 * 41, np.uint8)
    start = -memory.ctypes.data % 64
    images = memory[start : start + 64 * 40].reshape(40, 64)
    memory.flags.writeable = images.flags.writeable = is_writeable
    same = fl.tf_computation(lambda s: s, fl.SequenceType((np.uint8, [64])))
    found = same(list(images))
    if is_writeable:
        images[:] = 7
    assert all((row == 1).all() for row in found)
