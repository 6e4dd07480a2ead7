# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: A001, A002, D103, N802
"""The functions of TensorFlow that `learning` and `attacks` use, in NumPy.

Names, arguments and dtypes are TensorFlow's; numbers agree but for rounding. Only what
is drawn at random differs: the same seed gives other noise. `arrays.py` says where this
is used.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import ComputationFailedError

float32, float64 = np.float32, np.float64
int32, int64, uint16 = np.int32, np.int64, np.uint16

abs, exp, floor, sign, sqrt, square = (
    np.abs,
    np.exp,
    np.floor,
    np.sign,
    np.sqrt,
    np.square,
)
pow, log, round = np.power, np.log, np.round
maximum, minimum, clip_by_value = np.maximum, np.minimum, np.clip
equal, logical_and, is_nan, is_finite = (
    np.equal,
    np.logical_and,
    np.isnan,
    np.isfinite,
)
where, zeros_like, ones_like = np.where, np.zeros_like, np.ones_like
reshape, transpose, stack, pad, concat = (
    np.reshape,
    np.transpose,
    np.stack,
    np.pad,
    np.concatenate,
)
reduce_max, reduce_min, reduce_mean = np.max, np.min, np.mean
reduce_any, reduce_all = np.any, np.all
diag_part, sort, argsort = np.diag, np.sort, np.argsort


# ------------------------------------------------------------------ numbers and shapes


def constant(value: Any, dtype: Any = None) -> Any:
    """Python's whole numbers are `int32` and others `float32`, on any machine."""
    array = np.asarray(value, dtype)
    if dtype is None and not isinstance(value, np.ndarray | np.generic):
        array = array.astype({"i": int32, "f": float32}[array.dtype.kind])
    return array[()]


convert_to_tensor = constant


def cast(x: Any, dtype: Any) -> Any:
    return np.asarray(x).astype(dtype)[()]


def zeros(sizes: Any, dtype: Any = float32) -> Any:
    return np.zeros(sizes, dtype)


def size(x: Any) -> Any:
    return int32(np.size(x))


def shape(x: Any) -> Any:
    return np.array(np.shape(x), int32)


def reduce_sum(x: Any, axis: int | None = None) -> Any:
    """Stays `int32` for whole numbers, of which NumPy makes another type."""
    array = np.asarray(x)
    return array.sum(axis, dtype=array.dtype)


def count_nonzero(x: Any) -> Any:
    return int64(np.count_nonzero(x))


def argmax(x: Any, axis: int, output_type: Any) -> Any:
    return np.argmax(x, axis).astype(output_type)


def add_n(arrays: Sequence[Any]) -> Any:
    return sum(arrays[1:], arrays[0])


def divide_no_nan(x: Any, y: Any) -> Any:
    return np.where(y == 0, 0.0, x / np.where(y == 0, 1.0, y))[()]


def one_hot(indices: Any, depth: int, dtype: Any = float32) -> Any:
    return (np.asarray(indices)[..., None] == np.arange(depth)).astype(dtype)


def split(x: Any, sizes: Sequence[int]) -> list[Any]:
    return np.split(x, np.cumsum(sizes)[:-1])


def gather(x: Any, places: Any) -> Any:
    return x[places]


def boolean_mask(x: Any, mask: Any) -> Any:
    return x[mask]


def scatter_nd(indices: Any, updates: Any, sizes: Any) -> Any:
    found = np.zeros(sizes, updates.dtype)
    np.add.at(found, tuple(np.transpose(indices)), updates)
    return found


def top_k(x: Any, k: int) -> tuple[Any, Any]:
    """Of equal numbers the first one comes first."""
    places = np.argsort(-x, kind="stable")[:k].astype(int32)
    return x[places], places


def NthElement(input: Any, n: Any) -> Any:
    return np.partition(input, n, axis=-1)[..., n]


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    return (a.T if transpose_a else a) @ (b.T if transpose_b else b)


matvec = matmul


def softmax(scores: Any) -> Any:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any) -> Any:
    *places, classes = logits.shape
    if list(labels.shape) != places:
        raise ComputationFailedError(
            "scores and labels do not belong together",
            expected=f"labels of shape {places}, one for each row of scores",
            found=f"{list(labels.shape)}",
            do="give x and y one row each for every example",
        )
    bad = labels[(labels < 0) | (labels >= classes)]
    if len(bad):
        raise ComputationFailedError(
            "there is no class of this number",
            expected=f"labels of 0 to {classes - 1}",
            found=str(bad[0]),
            do="count labels from 0, or make a model of more classes (classes=…)",
        )
    scores = logits - logits.max(-1, keepdims=True)
    total = np.log(np.exp(scores).sum(-1))
    return total - np.take_along_axis(scores, labels[..., None], -1)[..., 0]


# ------------------------------------------------------------------ choices and errors


def cond(
    condition: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]
) -> Any:
    return true_fn() if condition else false_fn()


def format(template: str, inputs: Any) -> str:
    return template.format(inputs)


def Assert(condition: Any, data: Sequence[str]) -> None:
    """The words are a summary, and lines that begin with `expected:` and so on."""
    if not condition:
        summary, *lines = data
        raise ComputationFailedError(
            summary, **dict(line.split(": ", 1) for line in lines)
        )


# ------------------------------------------------------------------ structures


def flatten(structure: Any) -> list[Any]:
    """Mappings by their keys in order, as TensorFlow does."""
    if isinstance(structure, Mapping):
        return [leaf for key in sorted(structure) for leaf in flatten(structure[key])]
    if isinstance(structure, tuple | list):
        return [leaf for part in structure for leaf in flatten(part)]
    return [structure]


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    return _packed(structure, iter(flat_sequence))


def _packed(structure: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, Mapping):
        parts = {key: _packed(structure[key], leaves) for key in sorted(structure)}
        return type(structure)((key, parts[key]) for key in structure)  # type: ignore[call-arg]
    if isinstance(structure, tuple | list):
        filled = [_packed(part, leaves) for part in structure]
        named = hasattr(structure, "_fields")
        return type(structure)(*filled) if named else type(structure)(filled)
    return next(leaves)


def map_structure(function: Callable[..., Any], *structures: Any) -> Any:
    leaves = map(function, *map(flatten, structures))
    return _packed(structures[0], leaves)


# ------------------------------------------------------------------ noise


def stateless_normal(sizes: Any, seed: Sequence[Any], alg: str = "") -> Any:
    return _generator(seed).standard_normal(sizes, float32)


def StatelessRandomUniform(shape: Any, seed: Sequence[Any]) -> Any:
    return _generator(seed).random(shape, float32)


def StatelessRandomUniformFullInt(
    shape: Any, seed: Sequence[Any], dtype: Any = int64
) -> Any:
    ends = np.iinfo(dtype)
    return _generator(seed).integers(ends.min, ends.max, shape, dtype, endpoint=True)


def stateless_fold_in(seed: Sequence[Any], data: Any) -> list[Any]:
    return [*seed, data]


def _generator(seed: Sequence[Any]) -> np.random.Generator:
    return np.random.default_rng([int(number) % 2**64 for number in seed])


def __getattr__(name: str) -> Any:
    """What is not here needs TensorFlow, which says so where it is missing."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(fl.tf, name)


# TensorFlow sorts its functions into these.
debugging = experimental = linalg = math = nest = nn = sys.modules[__name__]
random = raw_ops = strings = sys.modules[__name__]
