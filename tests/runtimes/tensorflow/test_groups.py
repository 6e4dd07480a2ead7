# SPDX-License-Identifier: Apache-2.0
"""All clients in one graph: what comes out, and when each goes alone."""

import gc
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from fedlearn_edu.errors import ComputationFailedError, TypeMismatchError
from fedlearn_edu.executors.batched import Entries, Group
from fedlearn_edu.framework import SyncExecutionContext, Tape, local_executor_factory
from fedlearn_edu.runtimes.tensorflow import groups
from fedlearn_edu.runtimes.tensorflow.columns import columns
from fedlearn_edu.testing import assert_same
from tests.programs import local, mapped

pytestmark = pytest.mark.tensorflow

F32, I32 = np.float32, np.int32
BATCH = OrderedDict(y=(I32, [None]), x=(F32, [None, 2]))
BATCHES = fl.SequenceType(BATCH)
START = np.array([0.1, 1e6], F32)
AT_CLIENTS, AT_SERVER = fl.type_at_clients, fl.type_at_server


def batches(*sizes: int) -> list[Any]:
    """Batches of the given numbers of examples, all different."""
    numbers = iter(range(1, 1000))

    def example() -> list[int]:
        return [next(numbers), next(numbers)]

    rows = [[example() for _ in range(size)] for size in sizes]
    return [
        OrderedDict(
            y=np.array([r[0] for r in b], I32), x=np.array(b, F32).reshape(-1, 2)
        )
        for b in rows
    ]


def together(program: Any, *arguments: Any, **options: Any) -> tuple[Any, list[str]]:
    """The result of a program, and what clients have done together for it."""
    tape = Tape()
    factory = local_executor_factory(support_sequence_ops=True, tape=tape, **options)
    with SyncExecutionContext(factory):
        result = program(*arguments)
    return result, [event.detail for event in tape if event.what == "batched_call"]


def check(program: Any, *arguments: Any, expected: int = 1) -> None:
    """Together the clients give what they give one by one, in so many calls."""
    alone = local_executor_factory(support_sequence_ops=True, fuse=False)
    with SyncExecutionContext(alone):
        wanted = program(*arguments)
    found, calls = together(program, *arguments)
    assert_same(found, wanted)
    assert len(calls) == expected


@pytest.mark.parametrize("numbers", [[[1, 2], [3, 4]], [[5], [6, 7, 8], [9, 10]]])
def test_placed_data_are_laid_out_once(numbers: Any) -> None:
    numbers_type = fl.SequenceType(F32)
    total = fl.tf_computation(lambda s: s.reduce(0.0, tf.add), numbers_type)
    program = fl.federated_computation(
        lambda v: fl.federated_sum(fl.federated_map(total, v)), AT_CLIENTS(numbers_type)
    )
    placed = fl.place(numbers, fl.CLIENTS, numbers_type)
    tape = Tape()

    def conversions() -> int:
        tape.clear()
        assert program(placed) == sum(map(sum, numbers))
        return [e.type for e in tape if e.what == "convert"].count("float32*")

    with local(tape=tape):
        assert (conversions(), conversions()) == (1, 0)


def test_other_clients_are_not_taken_for_the_placed_ones() -> None:
    """Two groups of the same size may begin with the same client."""
    double = fl.tf_computation(lambda x: x * 2.0, F32)
    program = mapped(double)
    placed = fl.place([1.0, 2.0, 3.0], fl.CLIENTS, F32)
    swapped = fl.place([1.0, 3.0, 2.0], fl.CLIENTS, F32)
    one, two, three = placed._cached
    object.__setattr__(swapped, "_cached", (one, three, two))
    for _ in range(2):
        assert together(program, placed)[0] == [2, 4, 6]
        assert together(program, swapped)[0] == [2, 6, 4]


def test_groups_of_whatever_sizes_share_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Mock(wraps=groups._run_all)
    monkeypatch.setattr(groups, "_run_all", spy)
    total = fl.tf_computation(
        lambda data: data.reduce(0.0, lambda s, b: s + tf.reduce_sum(b["x"])), BATCHES
    )
    program = mapped(total)
    # The sizes of the batches of each client, how many clients, and graphs up to then.
    rounds = (
        ((2, 2), 2, 1),
        ((2, 2), 2, 1),
        ((3, 3, 3), 4, 2),
        ((5,), 7, 2),
        ((2, 2), 2, 2),
    )
    with local():
        for sizes, count, graphs in rounds:
            data = [batches(*sizes)] * count
            wanted = sum(batch["x"].sum() for batch in data[0])
            assert program(data) == [wanted] * count
            assert spy.call_count == graphs


def test_random_numbers_differ_between_clients() -> None:
    """Also where no client has anything of its own to draw with, and in a loop."""
    draw = fl.tf_computation(lambda x: x + tf.random.uniform([]), F32)
    lone = fl.tf_computation(lambda: tf.random.uniform([]))
    add = fl.tf_computation(lambda a, b: a + b, F32, F32)
    numbers = fl.SequenceType(F32)
    walk = fl.tf_computation(
        lambda s, k: s.map(lambda x: x + tf.random.uniform([])).reduce(k, tf.add),
        numbers,
        F32,
    )

    @fl.federated_computation(AT_CLIENTS(F32), AT_SERVER(F32), AT_SERVER(numbers))
    def program(v: Any, k: Any, s: Any) -> Any:
        k, s = fl.federated_broadcast(k), fl.federated_broadcast(s)
        plus = fl.federated_computation(lambda x: add(x, lone()), F32)
        several = fl.federated_map(draw, v), fl.federated_map(plus, v)
        return *several, fl.federated_map(draw, k), fl.federated_map(walk, [s, k])

    found, calls = together(program, [0.0] * 5, 0.0, [0.0, 0.0])
    for each in found:
        assert len(set(map(float, each))) == 5
    assert len(calls) == 4


def test_clients_may_return_nothing() -> None:
    nothing = fl.tf_computation(lambda x: (), F32)
    assert together(mapped(nothing), [1.0, 2.0]) == ([(), ()], [])


def test_data_of_a_round_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def noted(*held: Any) -> Any:
        found = columns(*held)
        made.append(weakref.ref(found[0].tensors[0]))
        return found

    monkeypatch.setattr(groups, "columns", noted)
    together(mapped(fl.tf_computation(lambda x: x + 1.0, F32)), [1.0, 2.0])
    gc.collect()
    assert [tensor() for tensor in made] == [None]


in_a_variable = fl.tf_computation(lambda x: tf.Variable(0.0).assign_add(x), F32)


@pytest.mark.parametrize(
    "body",
    [
        lambda x: tf.Variable(0.0).assign_add(x),
        lambda x: tf.function(lambda v: v.assign_add(x))(tf.Variable(0.0)),
        lambda x: in_a_variable(x),
    ],
    ids=["made", "handed-in", "of-another"],
)
def test_a_variable_belongs_to_one_client(body: Any) -> None:
    check(mapped(fl.tf_computation(body, F32)), [1.0, 2.0, 3.0, 4.0])


# Those that add are one operation for all clients.
FOLDS = {
    "sum": lambda s, x: [s[0] + x[0], s[1] + x[1]],
    "difference": lambda s, x: [s[0] - x[0], s[1] - x[1]],
    "crossed": lambda s, x: [s[1] + x[0], s[0] + x[1]],
    "one of two": lambda s, x: [s[0] + x[0], s[1]],
}


@pytest.mark.parametrize("fold", FOLDS)
def test_a_fold_of_a_group_has_the_bits_of_a_loop_over_its_clients(fold: str) -> None:
    pair = fl.to_type([(F32, [2]), (F32, [2])])
    twice = fl.tf_computation(lambda x: [x[0] + x[0], x[1] + x[1]], pair)
    step = fl.federated_computation(FOLDS[fold], pair, pair)
    same = fl.federated_computation(lambda s: s, pair)

    def body(v: Any) -> Any:
        members, zero = fl.federated_map(twice, v), [START, START]
        return fl.federated_aggregate(members, zero, step, step, same)

    program = fl.federated_computation(body, AT_CLIENTS(pair))
    values = np.random.default_rng(0).normal(size=[50, 2, 2]).astype(F32)
    found, calls = together(program, [list(value) for value in values])
    state = [START, START]
    for value in values:
        state = FOLDS[fold](state, value + value)
    assert_same(found, state, relative=0)
    assert len(calls) == 1


def test_a_sum_of_nothing_is_nothing() -> None:
    twice = fl.tf_computation(lambda x: x + x, (F32, [0]))
    total = fl.federated_computation(
        lambda v: fl.federated_sum(fl.federated_map(twice, v)), AT_CLIENTS((F32, [0]))
    )
    check(total, [np.zeros([0], F32)] * 3)


def test_values_of_different_shapes_go_alone() -> None:
    size = fl.tf_computation(lambda x: tf.size(x), (F32, [None]))
    check(mapped(size), [[1.0], [1.0, 2.0]], expected=0)


@pytest.mark.parametrize(
    "make",
    [
        lambda data: lambda: iter(data),
        lambda data: tf.data.Dataset.from_tensor_slices(data).take_while(
            lambda x: x > 0
        ),
    ],
    ids=["generator function", "dataset of unknown length"],
)
def test_sequences_that_are_read_lazily_go_alone(make: Callable[[Any], Any]) -> None:
    floats = np.array([1, 2, 3], F32)
    add = fl.tf_computation(lambda a, b: a + b, F32, F32)
    program = fl.federated_computation(
        lambda v: fl.federated_map(
            fl.federated_computation(
                lambda s: fl.sequence_reduce(s, 0.0, add), fl.SequenceType(F32)
            ),
            v,
        ),
        AT_CLIENTS(fl.SequenceType(F32)),
    )
    found, calls = together(program, [make(floats), make(floats)])
    assert found == [6, 6]
    assert calls == []


FLOATS = fl.SequenceType(F32)
once = fl.tf_computation(lambda s: s.reduce(0.0, lambda a, x: a * 0.9 + x), FLOATS)
twice = fl.tf_computation(
    lambda s: [s.reduce(0.0, lambda a, x: a * 0.9 + x) for _ in range(2)], FLOATS
)
numbers = tf.data.Dataset.from_tensor_slices(np.arange(40, dtype=F32))


@pytest.mark.parametrize(
    ("read", "data", "calls"),
    [
        (once, numbers.shuffle(40), 1),
        (twice, numbers, 1),
        (twice, numbers.shuffle(40), 0),
    ],
    ids=["once", "the-same-twice", "others-each-time"],
)
def test_datasets_are_read_together_if_each_reading_is_one(
    read: Any, data: Any, calls: int
) -> None:
    found, made = together(mapped(read), [data, data])
    assert len(made) == calls
    for client in found if read is twice else []:
        assert bool(client[0] == client[1]) is bool(calls)


def test_data_that_no_loop_reads_are_not_read_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(groups, "columns", Mock(side_effect=AssertionError))
    pairs = fl.tf_computation(
        lambda s: s.batch(2).reduce(0.0, lambda a, x: a + x[0]), FLOATS
    )
    assert together(mapped(pairs), [numbers.take(4)] * 2) == ([2.0, 2.0], [])


def test_data_of_other_shapes_do_not_part_the_clients_for_good() -> None:
    rows, three = fl.SequenceType((F32, [None, None])), (F32, [3])

    def step(w: Any, x: Any) -> Any:
        return w - tf.linalg.matvec(x, tf.linalg.matvec(x, w), transpose_a=True)

    product = fl.tf_computation(lambda s, w: s.reduce(w, step), rows, three)
    program = fl.federated_computation(
        lambda s, w: fl.federated_map(product, [s, fl.federated_broadcast(w)]),
        AT_CLIENTS(rows),
        AT_SERVER(three),
    )
    with local():
        assert program([[], []], np.ones(3, F32))[0].tolist() == [1, 1, 1]
    check(program, [[np.ones([3, 3], F32)]] * 2, np.ones(3, F32))


def test_sequence_intrinsics_in_leaf_code_leave_clients_together() -> None:
    total = fl.tf_computation(lambda s: fl.sequence_sum(s), FLOATS)
    check(mapped(total), [[1.0, 2.0], [3.0]])
    with pytest.raises(TypeMismatchError, match="without end"):
        total(numbers.repeat())


def test_python_code_in_a_dataset_runs_once() -> None:
    ran: list[float] = []

    def note(x: Any) -> Any:
        ran.append(float(x))
        return x

    noted = numbers.take(3).map(
        lambda x: tf.ensure_shape(tf.numpy_function(note, [x], tf.float32), [])
    )
    together(mapped(once), [noted, noted])
    assert len(ran) == 6


def test_a_function_of_nothing_is_traced_once_for_all_it_captures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spy = Mock(wraps=groups._run_all)
    monkeypatch.setattr(groups, "_run_all", spy)
    double, nothing = fl.tf_computation(lambda x: x * 2.0, F32), fl.to_type([])

    @fl.federated_computation(F32, AT_CLIENTS(nothing))
    def program(x: Any, v: Any) -> Any:
        return fl.federated_map(
            fl.federated_computation(lambda _: double(x), nothing), v
        )

    with local():
        for x in (1.0, 2.0, 3.0):
            assert program(x, [(), ()]) == [2 * x] * 2
    assert spy.call_count == 1


def test_what_folds_may_have_the_name_of_an_operation() -> None:
    plus = fl.tf_computation(lambda x: x + 1.0, F32)
    vector = fl.to_type((F32, [None]))

    @fl.tf_computation(vector, F32)
    def append(s: Any, x: Any) -> Any:
        return tf.concat([s, [2.0 * x]], 0)

    join = fl.tf_computation(lambda a, b: tf.concat([a, b], 0), vector, vector)
    same = fl.tf_computation(lambda s: s, vector)

    @fl.federated_computation(AT_CLIENTS(F32))
    def program(v: Any) -> Any:
        zero = np.zeros([0], F32)
        return fl.federated_aggregate(
            fl.federated_map(plus, v), zero, append, join, same
        )

    found, _ = together(program, [1.0, 2.0])
    assert list(found) == [4.0, 6.0]


def test_large_clients_go_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    double = fl.tf_computation(lambda x: x * 2.0, (F32, [1000]))
    program = mapped(double)
    data = [np.ones(1000, F32)] * 3
    monkeypatch.setattr(groups, "GROUP_STEP_BYTES", 12_000)
    check(program, data, expected=1)
    monkeypatch.setattr(groups, "GROUP_STEP_BYTES", 11_999)
    check(program, data, expected=0)
    monkeypatch.setattr(groups, "GROUP_STEP_BYTES", 12_000)
    monkeypatch.setattr(groups, "LARGE_STEP_BYTES", 3999)
    check(program, data, expected=0)


def test_clients_whose_results_differ_in_size_go_alone() -> None:
    odd = fl.tf_computation(lambda x: x[x % 2 == 1], (I32, [None]))
    append = fl.tf_computation(
        lambda s, x: tf.concat([s, x], 0), (I32, [None]), (I32, [None])
    )
    same = fl.tf_computation(lambda s: s, (I32, [None]))

    def body(v: Any) -> Any:
        mapped = fl.federated_map(odd, v)
        zero = np.zeros([0], I32)
        return fl.federated_aggregate(mapped, zero, append, append, same)

    type_ = AT_CLIENTS((I32, [None]))
    data = [[1, 2, 3], [2, 4, 6], [5, 7, 9]]
    check(fl.federated_computation(body, type_), data, expected=0)
    mapped = fl.federated_computation(lambda v: fl.federated_map(odd, v), type_)
    check(mapped, data, expected=0)


def _in_graph(fn: Any) -> Any:
    return fl.tf_computation(
        lambda x: tf.reshape(tf.numpy_function(fn, [x], tf.float32), []), F32
    )


@pytest.mark.parametrize(
    "leaf", [_in_graph, lambda fn: fl.np_computation(fn, F32)], ids=["graph", "numpy"]
)
def test_after_an_error_no_python_code_runs_again(leaf: Any) -> None:
    """Of a client's function, and of the generator that makes its data."""
    ran: list[float] = []

    def note(x: Any) -> Any:
        ran.append(float(x))
        return x

    noted = leaf(note)
    ran.clear()
    check = fl.tf_computation(
        lambda x: tf.debugging.check_numerics(1.0 / (x - 3.0), "division by zero"), F32
    )
    total = fl.tf_computation(
        lambda s: s.reduce(0.0, lambda a, x: a + x), fl.SequenceType(F32)
    )
    program = fl.federated_computation(
        lambda w: fl.federated_map(check, fl.federated_map(total, w)),
        AT_CLIENTS(fl.SequenceType(F32)),
    )
    mapped = fl.federated_computation(
        lambda v: fl.federated_map(check, fl.federated_map(noted, v)), AT_CLIENTS(F32)
    )
    with pytest.raises(ComputationFailedError, match=r"by zero[\s\S]*client 1"):
        mapped([6.0, 3.0, 7.0])
    assert sorted(ran) == [3.0, 6.0, 7.0]
    ran.clear()

    def elements(first: float) -> Any:
        return lambda: map(note, np.array([first, 0.5], F32))

    with pytest.raises(ComputationFailedError, match=r"by zero[\s\S]*client 0"):
        program([elements(2.5), elements(12.0)])
    assert sorted(ran) == [0.5, 0.5, 2.5, 12.0]


def test_a_graph_from_another_process_is_run_alone() -> None:
    """Only what it was traced from can be traced again, over rows."""
    import pickle

    count = fl.tf_computation(
        lambda s: s.reduce(0, lambda n, _: n + 1), fl.SequenceType(F32)
    )
    program = mapped(count)
    copied = pickle.loads(pickle.dumps(program))
    check(copied, [[1.0, 2.0], [3.0]], expected=0)


def test_old_graphs_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "_MAX_GRAPHS", 2)
    ours = groups.TensorFlowBatchedRuntime()
    for factor in range(4):
        code = fl.tf_computation(lambda x, f=factor: x * f, F32)
        group = Group(Entries([F32(1), F32(2)]), fl.to_type(F32), 2)
        assert list(ours.map(code.tree, group)) == [factor, 2 * factor]
    assert len(ours._graphs) == 2


def test_numpy_beside_it_leaves_a_group_together() -> None:
    """What is TensorFlow's is one call; NumPy's part is done one by one."""
    double = fl.tf_computation(lambda x: x * 2.0, F32)
    plus_one = fl.np_computation(lambda x: x + F32(1), F32)

    def body(v: Any) -> Any:
        twice = fl.federated_map(double, fl.federated_map(double, v))
        return fl.federated_sum(fl.federated_map(plus_one, twice))

    program = fl.federated_computation(body, AT_CLIENTS(F32))
    check(program, [1.0, 2.0, 3.0], expected=2)


@pytest.mark.parametrize("fuse", [True, False])
def test_a_body_keeps_the_python_values_it_was_defined_with(fuse: bool) -> None:
    """A loop variable has moved on when the clients' data come."""
    numbers = fl.SequenceType(F32)
    made = [
        fl.tf_computation(lambda s: s.reduce(0.0, lambda a, x: a + x * rate), numbers)  # noqa: B023
        for rate in (1.0, 10.0, 100.0)
    ]
    programs = [
        fl.federated_computation(
            lambda v, f=f: fl.federated_sum(fl.federated_map(f, v)), AT_CLIENTS(numbers)
        )
        for f in made
    ]
    factory = local_executor_factory(support_sequence_ops=True, fuse=fuse)
    with SyncExecutionContext(factory):
        assert [f([1.0]) for f in made] == [1, 10, 100]
        assert [p([[1.0], [2.0]]) for p in programs] == [3, 30, 300]
