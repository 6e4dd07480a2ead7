# SPDX-License-Identifier: Apache-2.0
"""Sequences as `tf.data.Dataset`s, whatever form they come in.

    a tuple; of one shape, but for the last elements    its rows      `_first_and_last`
    any other tuple, or a `LazySequence`                a generator   `_generated`
    a `DatasetSequence`                                 the dataset
    `Cached`                                            any of these, kept

A body whose loops can be written over rows (`lowering.py`) reads tuples as tensors, and
no dataset (`columns.py`). `graph.py` hands in what a graph reads. Inside it, an element
is *packed*: a tensor, an `OrderedDict` or a tuple, as `conversion.element_spec` says.

A lazy sequence is read by TensorFlow through a number, and is let go of together with
the tensors of all datasets that may still read it. (`Dataset.from_generator` by itself
keeps every generator forever, and traces anew for each.)
"""

import itertools
import weakref
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from typing import Any

import numpy as np

from fedlearn_edu.executors.recording import note
from fedlearn_edu.executors.underway import Call, call, graph_is_waiting
from fedlearn_edu.runtimes.tensorflow import RUNTIME
from fedlearn_edu.runtimes.tensorflow.conversion import (
    as_element,
    element_spec,
    flatten,
    from_element,
    leaf_types,
    stacked,
    wrapped,
)
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.types import SequenceType, Type
from fedlearn_edu.types.messages import misfit
from fedlearn_edu.types.sequences import Cached, DatasetSequence, length_of


def to_variant(sequence: Any, type_: SequenceType) -> Any:
    """A sequence, in whatever form it is, as the variant tensor of a dataset."""
    match sequence:
        case tf.Tensor():
            return sequence
        case Cached():
            return sequence.form((RUNTIME, type_), lambda s: to_variant(s, type_))
        case tf.data.Dataset():
            whole = arranged_dataset(sequence, type_)
            variant = tf.data.experimental.to_variant(whole)
            return variant if whole is sequence else keeping(variant, sequence)
        case DatasetSequence(dataset=dataset):
            return to_variant(dataset, type_)
        case elements:
            note("convert", type_)
            return _variant_of(elements, type_.element)


def keeping(variant: Any, *sources: Any) -> Any:
    """The variant tensor of a dataset, which holds on to what the dataset reads."""
    variant.sources = sources
    return variant


def as_dataset(sequence: Any, type_: SequenceType) -> Any:
    """A sequence, in whatever form it is, as a dataset of packed elements."""
    if isinstance(sequence, tf.data.Dataset):
        return arranged_dataset(sequence, type_)
    spec = element_spec(type_.element)
    return tf.data.experimental.from_variant(to_variant(sequence, type_), spec)


def arranged_dataset(dataset: Any, type_: SequenceType) -> Any:
    """The dataset with its elements in the containers the graph was traced with."""
    element = type_.element
    wanted = element_spec(element)
    try:
        tf.nest.assert_same_structure(dataset.element_spec, wanted, check_types=True)
    except (TypeError, ValueError):

        def on_element(*parts: Any) -> Any:
            whole = parts[0] if len(parts) == 1 else parts
            return as_element(from_element(whole, element), element)

        return dataset.map(on_element)
    return dataset


def _variant_of(elements: Any, type_: Type) -> Any:
    """A dataset of plain elements: stacked where shapes allow, generated elsewhere."""
    if not leaf_types(type_):
        raise misfit(
            "TensorFlow cannot read elements that hold no tensor",
            "a sequence of tensors, or of structures with one at least",
            f"{type_}*",
            do="put something into each element, or count them in the federated body",
        )
    if isinstance(elements, tuple) and (blocks := _first_and_last(elements, type_)):
        rows, last = (as_element(block, type_) for block in blocks)
        dataset = tf.data.Dataset.from_tensor_slices(rows)
        if blocks[1][0].shape[0]:
            dataset = dataset.concatenate(tf.data.Dataset.from_tensor_slices(last))
        return tf.data.experimental.to_variant(dataset)
    number = next(_numbers)
    _read_lazily[number] = elements, call.get()
    variant = _generated(type_)(tf.constant(number, tf.int64))
    weakref.finalize(variant, _read_lazily.pop, number)
    length = length_of(elements)
    if length is None:
        return variant
    dataset = tf.data.experimental.from_variant(variant, element_spec(type_))
    counted = dataset.apply(tf.data.experimental.assert_cardinality(length))
    return keeping(tf.data.experimental.to_variant(counted), variant)


_numbers = itertools.count()
_read_lazily: dict[int, tuple[Iterable[Any], Call]] = {}


@cache
def _generated(type_: Type) -> Any:
    """A graph that makes a dataset which reads the lazy sequence of a given number."""

    def generate(number: Any) -> Iterator[Any]:
        try:
            for element in _read_by_a_graph(*_read_lazily[int(number)]):
                yield as_element(flatten(element, type_), type_)
        except Exception as error:
            raise wrapped(error) from None

    def build(number: Any) -> Any:
        dataset = tf.data.Dataset.from_generator(
            generate, args=(number,), output_signature=element_spec(type_)
        )
        return tf.data.experimental.to_variant(dataset)

    spec = tf.TensorSpec([], tf.int64)
    return tf.function(build, autograph=False).get_concrete_function(spec)


def _read_by_a_graph(elements: Iterable[Any], reader: Call) -> Iterator[Any]:
    """The elements, made while a graph waits for them."""
    iterator = iter(elements)
    while not reader.is_given_up:
        token = graph_is_waiting.set(True)
        try:
            element = next(iterator)
        except StopIteration:
            return
        finally:
            graph_is_waiting.reset(token)
        yield element


def _first_and_last(elements: tuple[Any, ...], type_: Type) -> list[list[Any]] | None:
    """First and last elements, stacked; `None` if there are more than two shapes."""
    rows = [flatten(element, type_) for element in elements]
    runs = [list(run) for _, run in groupby(rows, lambda row: list(map(np.shape, row)))]
    if len(runs) > 2:
        return None
    return [
        [stacked([row[i] for row in run], t) for i, t in enumerate(leaf_types(type_))]
        for run in [*runs, [], []][:2]
    ]
