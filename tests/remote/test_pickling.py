# SPDX-License-Identifier: Apache-2.0
"""What travels arrives as what it was: arrays, and leaf code with all it needs."""

import gc
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.executors.grouping import FederatedGroupingStrategy
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.learning import arrays
from fedlearn_edu.remote import pickling
from fedlearn_edu.remote.pickling import Library

FLOATS = fl.SequenceType(np.float32)
scale = 2.0


def _arrived(thing: Any, library: Library | None = None) -> Any:
    """What another process makes of it."""
    library = library or Library()
    packed = library.dumps(thing)

    def part(name: str) -> Any:
        return pickling.loads_part(library.part(packed.parts[name]).data, part)

    return pickling.loads(packed.data, part)


def _computation(made: Any) -> Any:
    return fl.Computation(_arrived(made.tree), "arrived", None)


# ---------------------------------------------------------------------------- arrays

ARRAYS: dict[str, Any] = {
    "zeros": np.zeros([300, 2], np.float32),
    "negative zeros": -np.zeros([300, 2], np.float32),
    "one that is not zero": np.eye(1, 500, 499, dtype=np.int16),
    "empty": np.zeros([0, 7], np.int64),
    "a scalar": np.array(3.5),
    "every other column": np.arange(900.0).reshape(30, 30)[:, ::2],
    "columns first": np.asfortranarray(np.zeros([40, 40])),
    "bfloat16": np.zeros([700], ml_dtypes.bfloat16),
    "bool": np.zeros([2000], bool),
    "text": np.array([b"", "Ω".encode()] * 90, object),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_array_arrives_to_the_bit(name: str) -> None:
    array = ARRAYS[name]
    found = _arrived(array)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tolist() == array.tolist()
    if not array.dtype.hasobject:
        assert found.tobytes() == array.tobytes()


def test_zeros_travel_as_their_shape() -> None:
    model = [np.zeros([784, 10], np.float32), np.zeros([10**6])]
    assert len(Library().dumps(model).data) < 200


# ------------------------------------------------------------------------- leaf code


def test_numpy_code_travels_by_value() -> None:
    """Lambdas and what they hold, and functions of a notebook, which no module has."""
    notebook = ModuleType("__main__")
    code = (
        "def triple(x):\n    return helper(x) * np.float32(3)\ndef helper(x): return x"
    )
    exec(code, notebook.__dict__ | {"np": np}, notebook.__dict__)
    notebook.__dict__["np"] = np
    held = np.float32(5)
    double = fl.np_computation(lambda x: x + x, np.float32)
    for fn, expected in [
        (lambda x: x * held, 10),
        (lambda x: double(x) + held, 9),
        (lambda x: np.float32(x * scale), 4),
    ]:
        assert _computation(fl.np_computation(fn, np.float32))(2) == expected
    triple: Any = notebook.__dict__["triple"]
    triple.__globals__.update(notebook.__dict__)
    assert _computation(fl.np_computation(triple, np.float32))(2) == 6


def test_function_that_holds_a_lock_is_named() -> None:
    lock = threading.Lock()
    held = fl.np_computation(lambda x: x + 1 if lock.locked() else x + 2, np.float32)
    with pytest.raises(TypeMismatchError, match="lock"):
        Library().dumps(held.tree)


def _tf_cases() -> dict[str, tuple[Any, Any, Any]]:
    tf = fl.tf
    half = fl.tf_computation(lambda x: x / 2, np.float32)
    squared = tf.function(lambda x: x * x)
    squared(tf.constant(2.0))

    def trained(x: Any) -> Any:
        weight = tf.Variable(x)
        with tf.GradientTape() as tape:
            loss = weight * weight
        gradient = tape.gradient(loss, weight)
        tf.keras.optimizers.SGD(0.25).apply_gradients([(gradient, weight)])
        return weight.read_value()

    drawn = fl.tf_computation(
        lambda x: x * tf.random.stateless_uniform([], [1, 2]), np.float32
    )
    folded = lambda data: data.reduce(0.0, lambda s, x: s + x)  # noqa: E731
    return {
        "a lambda": (fl.tf_computation(lambda x: x * scale, np.float32), 3, 6),
        "a computation": (fl.tf_computation(lambda x: half(x), np.float32), 3, 1.5),
        "a tf.function": (fl.tf_computation(lambda x: squared(x), np.float32), 3, 9),
        "variables": (fl.tf_computation(trained, np.float32), 4, 2),
        "a seed": (drawn, 3, drawn(3)),
        "a dataset": (fl.tf_computation(folded, FLOATS), [1, 2], 3),
    }


@pytest.mark.tensorflow
def test_tensorflow_code_is_traced_there() -> None:
    """So it has what a graph has not: how to run it for many clients together."""
    for name, (computation, argument, expected) in _tf_cases().items():
        found = _computation(computation)
        assert found.tree.code.origin is not None, name
        assert found.tree.code.digest == computation.tree.code.digest, name
        assert found(argument) == pytest.approx(float(expected)), name


@pytest.mark.tensorflow
def test_code_keeps_the_meaning_it_was_traced_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever has become of its globals, and whatever it holds."""
    lock = threading.Lock()
    scaled = fl.tf_computation(lambda x: x * scale, np.float32)
    gone = fl.tf_computation(lambda x: x * ARRAYS["a scalar"], np.float64)
    locked = fl.tf_computation(lambda x: x + 1 if lock.locked() else x + 2, np.float32)
    monkeypatch.setitem(globals(), "scale", 7.0)
    monkeypatch.delitem(ARRAYS, "a scalar")
    for computation, expected in [(scaled, 6.0), (gone, 10.5), (locked, 5.0)]:
        found = _computation(computation)
        assert found.tree.code.origin is None
        assert found(3) == expected


# -------------------------------------------------------------------- parts and forms


def test_part_is_named_once_and_no_longer_than_it_exists() -> None:
    library = Library()
    leaf = fl.np_computation(lambda x: x + np.float32(1), np.float32).tree
    first, second = library.dumps([leaf, leaf]), library.dumps(leaf)
    assert first.parts.keys() == second.parts.keys()
    assert len(library._names) == 1
    del leaf, first, second
    gc.collect()
    assert not library._names


def test_messages_of_one_form_differ_in_what_they_are_given() -> None:
    library, plus = Library(), fl.np_computation(lambda x: x + x, np.float32).tree

    def message(value: float) -> pickling.Packed:
        captured = ir.Literal(np.float32(value), fl.to_type(np.float32), "rate")
        return library.message([plus, captured, range(3)])

    one, other = message(1.5), message(2.5)
    assert one.parts == other.parts
    assert len(one.data) < 400

    def part(name: str) -> Any:
        return pickling.loads_part(library.part(other.parts[name]).data, part)

    _, literal, numbers = pickling.loads_message(other.data, part)
    assert (literal.value, literal.captured_as, numbers) == (2.5, "rate", range(3))


# ----------------------------------------------------------------------- speed class

BATCH = fl.to_type(OrderedDict(x=(np.float32, [None, 3]), y=(np.float32, [None])))
WEIGHTS = fl.TensorType(np.float32, [3])


def _step(rate_is_captured: bool) -> Any:
    tf = fl.tf

    @fl.tf_computation(WEIGHTS, BATCH, np.float32)
    def step(weights: Any, batch: Any, rate: Any) -> Any:
        error = tf.linalg.matvec(batch["x"], weights) - batch["y"]
        return weights - rate * tf.linalg.matvec(batch["x"], error, transpose_a=True)

    @fl.federated_computation(WEIGHTS, np.float32, fl.SequenceType(BATCH))
    def by_operators(weights: Any, rate: Any, batches: Any) -> Any:
        one = fl.federated_computation(lambda w, b: step(w, b, rate), WEIGHTS, BATCH)
        return fl.sequence_reduce(batches, weights, one)

    @fl.tf_computation(WEIGHTS, np.float32, fl.SequenceType(BATCH))
    def by_dataset(weights: Any, rate: Any, batches: Any) -> Any:
        return batches.reduce(weights, lambda w, b: step(w, b, rate))

    return by_operators if rate_is_captured else by_dataset


def _training(local: Any) -> Any:
    server = [fl.type_at_server(WEIGHTS), fl.type_at_server(np.float32)]

    @fl.federated_computation(*server, fl.type_at_clients(fl.SequenceType(BATCH)))
    def train(weights: Any, rate: Any, data: Any) -> Any:
        sent = [fl.federated_broadcast(weights), fl.federated_broadcast(rate), data]
        return fl.federated_mean(fl.federated_map(local, sent))

    return train


def _load(client: int) -> Any:
    chance = np.random.default_rng(client)
    x = chance.standard_normal([2, 4, 3]).astype(np.float32)
    return [OrderedDict(x=batch, y=batch[:, 0]) for batch in x]


@pytest.mark.tensorflow
@pytest.mark.parametrize("form", ["operators", "dataset"])
def test_workers_run_clients_together_and_trace_once(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another rate each round is neither another part nor another trace."""
    from fedlearn_edu.runtimes.tensorflow import groups

    traced, together = [], []
    trace, attempt = groups._run_all, FederatedGroupingStrategy._try

    def counted(*args: Any) -> Any:
        traced.append(args)
        return trace(*args)

    async def noted(self: Any, fn: Any, work: Callable[[], Any]) -> Any:
        found = await attempt(self, fn, work)
        together.append(found is not None)
        return found

    monkeypatch.setattr(groups, "_run_all", counted)
    monkeypatch.setattr(FederatedGroupingStrategy, "_try", noted)
    train = _training(_step(form == "operators"))
    with fl.remote.local(2, max_fanout=5, processes=False) as cluster:
        data = cluster.place(_load, 10, fl.SequenceType(BATCH))
        weights, names = np.zeros(3, np.float32), cluster._dispatcher._library._names
        seen = []
        for rate in (0.1, 0.05, 0.025):
            weights = train(weights, rate, data)
            seen.append((len(traced), len(names)))
    assert seen[0] == seen[1] == seen[2]
    assert together == [True] * 6


def test_numpy_code_that_means_something_else_now_travels_again() -> None:
    """It looks up its names whenever it runs, here as in this process."""
    # A namespace as that of a notebook, which no other process can import.
    names: dict[str, Any] = {"__name__": "__main__", "rate": np.float32(1)}
    exec("def scaled(x):\n    return x * rate", names)
    leaf = fl.np_computation(names["scaled"], np.float32).tree
    library = Library()
    once, again = _arrived(leaf, library), _arrived(leaf, library)
    names["rate"] = np.float32(2)
    later = _arrived(leaf, library)
    assert [t.code(np.float32(3)) for t in (once, again, later)] == [3, 3, 6]
    assert len(library.names()) == 1


def test_containers_of_a_notebook_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    main = ModuleType("__main__")
    exec(
        "from typing import NamedTuple\nclass Point(NamedTuple):\n    x: float",
        vars(main),
    )
    monkeypatch.setitem(sys.modules, "__main__", main)
    data = pickling._type_bytes(fl.StructType([("x", np.float32)], main.Point))
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    point = pickling._read_type(data).python_container
    assert point(x=1.0) == (1.0,)


def test_leaf_code_of_learning_travels_without_tensorflow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arrays, "HAS_TENSORFLOW", False)
    inverse = arrays.leaf_computation(lambda x: 1.0 / x, np.float32)
    assert np.isinf(_computation(inverse)(0.0))
