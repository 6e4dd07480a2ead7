# SPDX-License-Identifier: Apache-2.0
"""What can be done with a dataset of `<x=float32[2],s=str>`, and how it is compared."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from fedlearn_edu import tf
from fedlearn_edu.runtimes.tensorflow.stacked import StackedDataset
from tests.programs import Pair

ROW = {"x": tf.TensorSpec([2]), "s": tf.TensorSpec([], tf.string)}


def block(first: int, last: int) -> Any:
    """Rows whose numbers and texts tell them apart."""
    numbers = tf.range(2.0 * first, 2.0 * last)
    texts = [f"{number}" for number in range(first, last)]
    return {"x": tf.reshape(numbers, [-1, 2]), "s": tf.constant(texts, tf.string)}


def real_dataset(blocks: list[Any]) -> Any:
    """What we compare with."""
    dataset, *others = map(tf.data.Dataset.from_tensor_slices, blocks)
    for other in others:
        dataset = dataset.concatenate(other)
    return dataset


def stacked_dataset(blocks: list[Any]) -> Any:
    """What we have instead."""
    return StackedDataset(blocks, ROW, ROW)


def traced(use: Callable[[Any], Any], make: Any, sizes: Any = (None, None)) -> Any:
    """A function of two blocks; `None` if it shall not know their sizes."""

    def body(*blocks: Any) -> Any:
        return tf.nest.flatten(use(make(list(blocks))))

    specs = [
        tf.nest.map_structure(lambda s, n=n: tf.TensorSpec([n, *s.shape], s.dtype), ROW)
        for n in sizes
    ]
    return tf.function(body, autograph=False).get_concrete_function(*specs)


def operations(function: Any) -> set[str]:
    """The kinds of operations in a graph and in all functions it may call."""
    definition = function.graph.as_graph_def()
    nodes = list(definition.node)
    for inner in definition.library.function:
        nodes += inner.node_def
    return {node.op for node in nodes}


def of_pipelines(operations: set[str]) -> set[str]:
    """Those of a `tf.data` pipeline."""
    return {name for name in operations if "Dataset" in name or "Iterator" in name}


# ------------------------------------------------------------------ to be compared


def told(dataset: Any) -> Any:
    """All that is in elements, and their order."""
    return dataset.reduce(
        ("", 0.0), lambda s, e: (s[0] + "," + e["s"], 2 * s[1] + tf.reduce_sum(e["x"]))
    )


def told_of_batches(dataset: Any) -> Any:
    """The same for batches, and their sizes."""

    def join(batch: Any) -> Any:
        return {"x": batch["x"], "s": tf.strings.reduce_join(batch["s"]) + "|"}

    return told(dataset.map(join))


def louder(element: Any) -> Any:
    return {"x": element["x"] + 1.0, "s": element["s"] + "!"}


def count_up(dataset: Any) -> Any:
    """Numbers of elements, which must be `int64`."""
    return dataset.reduce(np.int64(0), lambda state, pair: 3 * state + pair[0])


def changed_in_a_loop(dataset: Any) -> Any:
    """Each function uses what the loop variable was then."""
    for k in range(3):
        dataset = dataset.map(lambda e: {**e, "x": e["x"] * 2 + k})  # noqa: B023
    return dataset


def concatenated(dataset: Any) -> Any:
    mapped = dataset.map(louder)
    return told(dataset.take(1).concatenate(dataset.skip(2))), told(
        mapped.take(2).concatenate(mapped)
    )


def counted(dataset: Any) -> Any:
    some = dataset.repeat(2).skip(1).map(louder)
    return dataset.cardinality(), some.cardinality(), dataset.batch(2).cardinality()


def of_other_containers(dataset: Any) -> Any:
    pairs = dataset.map(lambda e: [e["x"], np.float32(3)])
    named = pairs.map(lambda x, three: Pair(x, (OrderedDict(z=three), 1.0)))
    total = named.reduce(
        Pair(np.zeros(2, np.float32), 1),
        lambda s, p: Pair(2 * s.a + p.a * p.b[1], 2 * s.b),
    )
    return total, named.reduce([0.0, 0.0], lambda s, p: 2 * s + p.a * p.b[0]["z"])


ON_ROWS: dict[str, Callable[[Any], Any]] = {
    "reduce": told,
    "map": lambda d: told(d.map(louder, num_parallel_calls=2, name="louder")),
    "functions of a loop": lambda d: told(changed_in_a_loop(d)),
    "a tf.function": lambda d: told(d.map(tf.function(louder))),
    "take": lambda d: [told(d.take(n)) for n in (0, 2, 9, -1)],
    "take, by position": lambda d: told(d.take(10**12, "some").skip(1, "other")),
    "take, named": lambda d: told(d.take(tf.constant(2, tf.int64), name="two")),
    "skip": lambda d: [told(d.skip(n)) for n in (0, 2, 9, -1)],
    "map, skip, take": lambda d: told(d.map(louder).skip(1, name="one").take(2)),
    "batch": lambda d: [told_of_batches(d.batch(n)) for n in (1, 2, 9)],
    "full batches": lambda d: told_of_batches(d.batch(2, drop_remainder=True)),
    "batch, in parallel": lambda d: told_of_batches(
        d.batch(3, num_parallel_calls=2, deterministic=False, name="by_three")
    ),
    "full batches, as a tensor says": lambda d: told_of_batches(
        d.batch(2, tf.constant(True))
    ),
    "batch of batches": lambda d: (
        d.batch(2, True)
        .batch(2)
        .reduce(0.0, lambda s, b: 3 * s + tf.reduce_sum(b["x"]))
    ),
    "map, batch, map": lambda d: told_of_batches(d.map(louder).batch(2).map(louder)),
    "enumerate": lambda d: count_up(d.enumerate()),
    "map, enumerate": lambda d: count_up(d.map(louder).enumerate(start=5, name="n")),
    "enumerate, map": lambda d: told(d.enumerate().map(lambda _, e: louder(e))),
    "repeat": lambda d: [told(d.repeat(n)) for n in (0, 1, 3)],
    "map, repeat, batch": lambda d: told_of_batches(d.map(louder).repeat(2).batch(3)),
    "batch, repeat": lambda d: told_of_batches(d.batch(2).repeat(2, name="twice")),
    "concatenate": concatenated,
    "cardinality": counted,
    "containers": of_other_containers,
    "prefetch": lambda d: told(d.prefetch(tf.data.AUTOTUNE)),
    "apply": lambda d: told(d.apply(lambda dataset: dataset.take(1))),
}


def with_counts_of_a_run(dataset: Any) -> Any:
    n = dataset.cardinality() // 2 + 1
    return (
        told(dataset.take(n)),
        told(dataset.skip(n)),
        told(dataset.repeat(n)),
        told_of_batches(dataset.batch(n)),
        count_up(dataset.enumerate(n)),
    )


def checked(element: Any) -> Any:
    return {**element, "x": tf.debugging.assert_all_finite(element["x"], "too large")}


def in_an_inner_graph_first(dataset: Any) -> Any:
    def read() -> Any:
        return told(dataset.filter(lambda _: True))[1]

    return tf.cond(dataset.cardinality() < 3, read, lambda: 0.0), read()


BY_THE_PIPELINE: dict[str, Callable[[Any], Any]] = {
    "counts of a run": with_counts_of_a_run,
    "functions of a loop": lambda d: told(changed_in_a_loop(d).filter(lambda _: True)),
    "skip what is checked": lambda d: told(d.map(checked).skip(1)),
    "batch what is checked": lambda d: told_of_batches(d.map(checked).batch(2)),
    "batch of ragged batches": lambda d: told(
        d.batch(1).batch(2).map(lambda b: {"x": b["x"][0, 0], "s": b["s"][0, 0]})
    ),
    "repeat for long": lambda d: told(d.repeat(10**5).take(3)),
    "repeat forever": lambda d: told(d.repeat().take(4 * d.cardinality())),
    "other data": lambda d: told(d.concatenate(d.map(louder))),
    "shuffle": lambda d: told(d.shuffle(1)),
    "zip": lambda d: told(tf.data.Dataset.zip((d, d.map(louder))).map(lambda _, e: e)),
    "nothing": lambda d: told(d.map(lambda e: (e, None)).map(lambda e, _: e)),
    "ragged": lambda d: (
        d.map(lambda e: tf.RaggedTensor.from_row_lengths(e["x"], [2]))
        .map(tf.reduce_sum)
        .reduce(0.0, tf.add)
    ),
    "an inner graph": in_an_inner_graph_first,
}
