# SPDX-License-Identifier: Apache-2.0
"""Small pieces of leaf code, each as NumPy code and as a TensorFlow graph.

Random programs are made of them. Floats stay small and whole numbers wrap around, so
that two ways to run a program differ by rounding only. Field names are not in the order
of the alphabet.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.types import Type

INT, FLOAT = fl.to_type(np.int32), fl.to_type(np.float32)
BOOL, TEXT = fl.to_type(np.bool_), fl.to_type(np.str_)
VECTOR = fl.to_type((np.float32, [2]))
POINT = fl.to_type(OrderedDict(z=np.float32, a=np.int32))
MODEL = fl.to_type(OrderedDict(w=(np.float32, [2]), b=np.float32))
BATCH = fl.to_type(OrderedDict(x=(np.float32, [None, 2]), n=(np.int32, [None])))
INTS, BATCHES = fl.SequenceType(INT), fl.SequenceType(BATCH)
STEP = fl.to_type([np.int32, np.int32])

NUMPY = SimpleNamespace(
    cast=lambda x, dtype: x.astype(dtype),
    where=lambda c, i, j: np.int32(i if c else j),
    stack=lambda parts: np.stack(parts).astype(np.float32),
    sum=lambda x, axis=None: np.sum(x, axis, dtype=np.asarray(x).dtype),
    count=lambda x: np.int32(len(x)),
    text=lambda x: str(int(x)).encode(),
    join=lambda a, b: bytes(a) + bytes(b),
    both=lambda a, b: np.logical_and(a, b),
    no=lambda x: np.logical_not(x),  # (a ufunc of NumPy 1 has no signature)
    fold=lambda rows, start, fn: _folded(rows, start, fn),
)


def _folded(rows: Any, state: Any, fn: Callable[[Any, Any], Any]) -> Any:
    for row in rows:
        state = fn(state, row)
    return state


@cache
def _tensorflow() -> SimpleNamespace:
    from fedlearn_edu import tf

    return SimpleNamespace(
        cast=tf.cast,
        where=tf.where,
        stack=tf.stack,
        sum=tf.reduce_sum,
        count=lambda x: tf.shape(x)[0],
        text=tf.strings.as_string,
        join=lambda a, b: tf.strings.join([a, b]),
        both=tf.logical_and,
        no=tf.logical_not,
        fold=lambda rows, start, fn: rows.reduce(start, fn),
        each=lambda rows, fn: rows.map(fn),
        first=lambda rows, count: rows.take(count),
    )


@dataclass(frozen=True)
class Leaf:
    """What a piece of leaf code takes and gives, and how a library's code does it."""

    parameters: tuple[Type, ...]
    result: Type
    make: Callable[[Any], Callable[..., Any]]


def _point(z: Any, a: Any) -> Any:
    return OrderedDict(z=z, a=a)


def _train(on: Any, m: Any, batch: Any) -> Any:
    pull = on.sum(batch["x"], axis=0) * np.float32(0.125)
    return OrderedDict(w=m["w"] * 0.5 + pull, b=m["b"] * 0.5 - on.sum(m["w"]) * 0.25)


def _read(on: Any) -> Callable[[Any], Any]:
    """The older parts of it count less."""
    return lambda rows: on.fold(
        rows,
        np.float32(0),
        lambda total, b: (
            total * 0.5 + on.sum(b["x"]) + on.cast(on.sum(b["n"]), "float32")
        ),
    )


LEAVES: dict[str, Leaf] = {
    "half": Leaf((FLOAT,), FLOAT, lambda on: lambda x: x * 0.5 + 1.0),
    "skew": Leaf((FLOAT, FLOAT), FLOAT, lambda on: lambda x, y: x * 0.5 - y * 0.25),
    "square": Leaf((INT,), INT, lambda on: lambda i: i * i - 3),
    "less": Leaf((INT, INT), INT, lambda on: lambda i, j: i - j - j),
    "even": Leaf((INT,), BOOL, lambda on: lambda i: i % 2 == 0),
    "choose": Leaf((BOOL, INT, INT), INT, lambda on: lambda c, i, j: on.where(c, i, j)),
    "number": Leaf((INT,), FLOAT, lambda on: lambda i: on.cast(i % 7, "float32") * 0.5),
    "weight": Leaf((INT,), INT, lambda on: lambda i: i % 3 + 1),
    "number plus one": Leaf(
        (INT,), FLOAT, lambda on: lambda i: on.cast(i % 7, "float32") * 0.5 + 1.0
    ),
    "pack": Leaf((FLOAT, INT), POINT, lambda on: lambda x, i: _point(x, i)),
    "turn": Leaf(
        (POINT,),
        POINT,
        lambda on: lambda p: _point(on.cast(p["a"] % 5, "float32"), p["a"] + 1),
    ),
    "far": Leaf((POINT,), FLOAT, lambda on: lambda p: p["z"] * 0.5 - 2.0),
    "spread": Leaf((FLOAT,), VECTOR, lambda on: lambda x: on.stack([x, x * 0.5])),
    "length": Leaf((VECTOR,), FLOAT, lambda on: lambda v: on.sum(v) * 0.5),
    "model": Leaf(
        (VECTOR, FLOAT), MODEL, lambda on: lambda v, x: OrderedDict(w=v, b=x)
    ),
    "text": Leaf((INT,), TEXT, lambda on: on.text),
    "join": Leaf((TEXT, TEXT), TEXT, lambda on: on.join),
    "no": Leaf((BOOL,), BOOL, lambda on: on.no),
    "both": Leaf((BOOL, BOOL), BOOL, lambda on: on.both),
    "rows": Leaf((BATCH,), INT, lambda on: lambda b: on.count(b["x"])),
    "train": Leaf((MODEL, BATCH), MODEL, lambda on: lambda m, b: _train(on, m, b)),
    "read": Leaf((BATCHES,), FLOAT, _read),
    "digits": Leaf(
        (INTS,),
        INT,
        lambda on: lambda s: on.fold(s, np.int32(1), lambda i, j: i * 3 + j),
    ),
    "shift": Leaf((INTS,), INTS, lambda on: lambda s: on.each(s, lambda i: i * 2 - 1)),
    "start": Leaf((INTS,), INTS, lambda on: lambda s: on.first(s, 2)),
    # `after` first the one, then the other: x -> i*x + j, of which the order matters.
    "after": Leaf(
        (STEP, STEP), STEP, lambda on: lambda s, t: [s[0] * t[0], s[0] * t[1] + s[1]]
    ),
    "as step": Leaf((INT,), STEP, lambda on: lambda i: [i, i + 1]),
}
# A list has no type that says how long it is not.
TENSORFLOW_ONLY = ("shift", "start")


@cache
def leaf(name: str, runtime: str) -> Any:
    """A piece of leaf code as a computation."""
    piece = LEAVES[name]
    if runtime == "numpy":
        return fl.np_computation(piece.make(NUMPY), *piece.parameters)
    return fl.tf_computation(piece.make(_tensorflow()), *piece.parameters)
