# SPDX-License-Identifier: Apache-2.0
"""Cases: `sequence_map`, `sequence_reduce`, `sequence_sum` where there is one place."""

from collections import OrderedDict
from functools import reduce
from operator import add
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.testing.case import ALL, NUMPY, TENSORFLOW, CaseBook, Leaf, gives

SEQUENCES = CaseBook()

INTS = fl.SequenceType(np.int32)
PAIRS = fl.SequenceType(OrderedDict(x=np.int32, y=np.float32))
BATCHES = fl.SequenceType(fl.TensorType(np.float32, [None]))


def read_all(sequence: Any, zero: Any) -> Any:
    """Adds up a whole sequence inside leaf code: a list, or a dataset."""
    if isinstance(sequence, list):
        return reduce(add, sequence, zero)
    return sequence.reduce(zero, lambda state, x: state + x)


def count(sequence: Any) -> Any:
    """Counts the elements inside leaf code without reading them."""
    if isinstance(sequence, list):
        return np.int64(len(sequence))
    return sequence.cardinality()


def total(tensor: Any) -> Any:
    """Adds up one tensor inside leaf code."""
    if hasattr(tensor, "sum"):
        return tensor.sum(dtype=tensor.dtype)
    from fedlearn_edu.runtimes.tensorflow.library import tf

    return tf.reduce_sum(tensor)


@SEQUENCES.add(
    needs_sequences=True,
    empty=gives([], []),
    many=gives([2, 4, 6], [1, 2, 3]),
    of=[INTS],
)
def sequence_mapped(leaf: Leaf, s: Any) -> Any:
    """A mapped sequence comes back as a list, in order."""
    double = leaf(lambda x: x + x, np.int32)
    return fl.sequence_map(double, s)


@SEQUENCES.add(
    needs_sequences=True, empty=gives(100, []), many=gives(94, [1, 2, 3]), of=[INTS]
)
def sequence_reduced(leaf: Leaf, s: Any) -> Any:
    """A fold starts at zero; over an empty sequence it is zero."""
    subtract = leaf(lambda s, x: s - x, np.int32, np.int32)
    return fl.sequence_reduce(s, np.int32(100), subtract)


@SEQUENCES.add(
    gives(b"(((.a)b)c)", ["a", "b", "c"]),
    needs_sequences=True,
    of=[fl.SequenceType(np.str_)],
)
def sequence_reduced_in_order(leaf: Leaf, s: Any) -> Any:
    """A fold nests to the left."""
    nest = leaf(lambda s, x: b"(" + s + x + b")", np.str_, np.str_)
    return fl.sequence_reduce(s, ".", nest)


@SEQUENCES.add(
    needs_sequences=True,
    empty=gives(0, []),
    one=gives(4, [4]),
    range=gives(10, range(5)),
    array=gives(6, np.array([1, 2, 3])),
    generator=gives(6, lambda: iter([1, 2, 3])),
    of=[INTS],
)
def sequence_added_up(_: Leaf, v: Any) -> Any:
    """Whatever Python can iterate over may be a sequence."""
    return fl.sequence_sum(v)


@SEQUENCES.add(
    needs_sequences=True,
    empty=gives(OrderedDict(x=0, y=0.0), []),
    many=gives(OrderedDict(x=3, y=2.0), [{"y": 0.5, "x": 1}, (2, 1.5)]),
    of=[PAIRS],
)
def sequence_of_structures_added_up(_: Leaf, v: Any) -> Any:
    """Structures are added leaf by leaf."""
    return fl.sequence_sum(v)


@SEQUENCES.add(
    needs_sequences=True,
    empty=gives(OrderedDict(total=0, n=0), []),
    many=gives(OrderedDict(total=6, n=3), [1, 2, 3]),
    of=[INTS],
)
def sequence_reduced_to_a_structure(leaf: Leaf, s: Any) -> Any:
    """The state of a fold may have another type than the elements."""
    zero = OrderedDict(total=0, n=0)
    state = fl.to_type(OrderedDict(total=np.int32, n=np.int32))
    step = leaf(
        lambda s, x: OrderedDict(total=s["total"] + x, n=s["n"] + np.int32(1)),
        state,
        np.int32,
    )
    return fl.sequence_reduce(s, zero, step)


@SEQUENCES.add(
    needs_sequences=True,
    empty=gives(np.zeros([0], np.int32), []),
    many=gives(np.array([3, 1], np.int32), [3, 1]),
    runtimes=(NUMPY,),
    of=[INTS],
)
def sequence_reduced_to_a_growing_state(leaf: Leaf, s: Any) -> Any:
    """A zero of length 0 may start a state of unknown length."""
    append = leaf(
        lambda s, x: np.append(s, x), fl.TensorType(np.int32, [None]), np.int32
    )
    return fl.sequence_reduce(s, np.zeros([0], np.int32), append)


@SEQUENCES.add(
    needs_sequences=True,
    runtimes=ALL,
    empty=gives(0, []),
    many=gives(18, [1, 2, 3]),
    of=[INTS],
)
def sequence_mapped_twice_then_reduced(leaf: Leaf, s: Any) -> Any:
    """Maps are lazy and may be stacked."""
    double = leaf(lambda x: x + x, np.int32)
    add_two = leaf(lambda x: x + np.int32(2), np.int32)
    add = leaf(lambda a, b: a + b, np.int32, np.int32)
    return fl.sequence_reduce(
        fl.sequence_map(add_two, fl.sequence_map(double, s)), np.int32(0), add
    )


@SEQUENCES.add(gives([7, 8], [3, 4]), needs_sequences=True, of=[INTS])
def sequence_mapped_by_a_lambda(leaf: Leaf, s: Any) -> Any:
    """The function of a map may itself be a federated computation."""
    double = leaf(lambda x: x + x, np.int32)
    fn = fl.federated_computation(lambda x: double(x) - x + np.int32(4), np.int32)
    return fl.sequence_map(fn, s)


@SEQUENCES.add(gives(24, [2, 3, 4]), needs_sequences=True, of=[INTS])
def sequence_reduced_by_a_lambda(leaf: Leaf, s: Any) -> Any:
    """The operator of a fold may itself be a federated computation."""
    multiply = leaf(lambda a, b: a * b, np.int32, np.int32)
    fn = fl.federated_computation(lambda a, b: multiply(b, a), np.int32, np.int32)
    return fl.sequence_reduce(s, np.int32(1), fn)


@SEQUENCES.add(gives((6, 12, [2, 4, 6]), [1, 2, 3]), needs_sequences=True, of=[INTS])
def sequence_read_three_times(leaf: Leaf, s: Any) -> Any:
    """Every reader reads a sequence from its beginning."""
    double = leaf(lambda x: x + x, np.int32)
    mapped = fl.sequence_map(double, s)
    return fl.sequence_sum(s), fl.sequence_sum(mapped), mapped


@SEQUENCES.add(
    needs_sequences=True,
    empty=gives([], []),
    ragged=gives([6.0, 0.0, 4.0], [[1, 2, 3], [], [4]]),
    of=[BATCHES],
)
def sequence_of_ragged_batches(leaf: Leaf, s: Any) -> Any:
    """Batches of several lengths are read one by one."""
    add_up = leaf(total, BATCHES.element)
    return fl.sequence_map(add_up, s)


@SEQUENCES.add(empty=gives([], []), many=gives([3, 1, 2], [3, 1, 2]), of=[INTS])
def sequence_untouched(_: Leaf, s: Any) -> Any:
    """A sequence that nobody looks into needs no sequence layer."""
    return s


@SEQUENCES.add(
    empty=gives(OrderedDict(data=[], scale=2.0), {"scale": 2, "data": []}),
    many=gives(OrderedDict(data=[1, 2], scale=2.0), OrderedDict(data=[1, 2], scale=2)),
)
def sequence_in_a_structure(_: Leaf) -> Computation:
    """A sequence may be one field of several."""
    parameter = fl.to_type(OrderedDict(data=INTS, scale=np.float32))
    return fl.federated_computation(lambda p: p, parameter)


@SEQUENCES.add(empty=gives(0, []), many=gives(6, [1, 2, 3]), of=[INTS])
def sequence_read_by_leaf_code(leaf: Leaf, s: Any) -> Any:
    """Leaf code may read a whole sequence; that needs no sequence layer."""
    add_up = leaf(lambda s: read_all(s, np.int32(0)), INTS)
    return add_up(s)


@SEQUENCES.add(
    empty=gives(0, []),
    smaller_at_the_end=gives(3, [[1, 2], [3, 4], [5]]),
    smaller_in_between=gives(3, [[1, 2], [3], [4, 5]]),
    of=[BATCHES],
)
def sequence_counted_by_leaf_code(leaf: Leaf, s: Any) -> Any:
    """Leaf code is told how many elements there are, whatever their shapes."""
    number = leaf(count, BATCHES)
    return number(s)


@SEQUENCES.add(
    needs_sequences=True,
    runtimes=ALL,
    empty=gives(0, []),
    many=gives(2, [1, 2]),
    of=[INTS],
)
def sequence_mapped_then_counted_by_leaf_code(leaf: Leaf, s: Any) -> Any:
    """As many elements come out of a map as went in."""
    double = leaf(lambda x: x + x, np.int32)
    number = leaf(count, INTS)
    return number(fl.sequence_map(double, s))


@SEQUENCES.add(gives(b"a\x00bc\x00", ["a\x00", "bc\x00"]))
def sequence_of_text_read_by_leaf_code(leaf: Leaf) -> Computation:
    """Text of several lengths keeps its last characters, zero bytes too."""
    texts = fl.SequenceType(np.str_)
    join = leaf(lambda s: read_all(s, b""), texts)
    return fl.federated_computation(lambda s: join(s), texts)


@SEQUENCES.add(
    needs_sequences=True, empty=gives(0, []), many=gives(12, [1, 2, 3]), of=[INTS]
)
def sequence_mapped_then_read_by_leaf_code(leaf: Leaf, s: Any) -> Any:
    """Leaf code may read a mapped sequence, and waits for nobody."""
    double = leaf(lambda x: x + x, np.int32)
    add_up = leaf(lambda s: read_all(s, np.int32(0)), INTS)
    return add_up(fl.sequence_map(double, s))


@SEQUENCES.add(gives((6, [2, 4, 6]), [1, 2, 3]), runtimes=(TENSORFLOW,), of=[INTS])
def sequence_made_by_leaf_code(leaf: Leaf, s: Any) -> Any:
    """TensorFlow code may return a dataset, which others read."""
    doubles = leaf(lambda s: s.map(lambda x: x + x), INTS)
    add_up = leaf(lambda s: read_all(s, np.int32(-6)), INTS)
    return add_up(doubles(s)), doubles(s)


@SEQUENCES.add(gives([1.5, 0.5], [(1, 2.5), (2, 2.5)]), needs_sequences=True)
def sequence_of_structures_mapped(leaf: Leaf) -> Computation:
    """The fields of an element may be the parameters of the function."""
    fn = leaf(lambda x, y: y - x, np.float32, np.float32)
    pairs = fl.SequenceType(OrderedDict(x=np.float32, y=np.float32))
    return fl.federated_computation(lambda s: fl.sequence_map(fn, s), pairs)


@SEQUENCES.add(gives([1, 1], [(), ()]), needs_sequences=True, of=[fl.SequenceType(())])
def sequence_of_empty_structures(leaf: Leaf, s: Any) -> Any:
    """Elements may hold nothing."""
    one = leaf(lambda: np.int32(1))
    fn = fl.federated_computation(lambda e: one(), ())
    return fl.sequence_map(fn, s)
