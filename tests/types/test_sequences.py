# SPDX-License-Identifier: Apache-2.0
"""Sequences that are read anew each time."""

from collections.abc import Iterator

import numpy as np
import pytest

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import DatasetSequence, LazySequence, parse_type
from fedlearn_edu.types.sequences import is_dataset
from tests.strategies import same


def test_lazy_sequence_is_read_as_often_as_one_likes() -> None:
    readings = []

    def make() -> Iterator[int]:
        readings.append(1)
        return iter([1, 2])

    sequence = LazySequence(make, parse_type("int32"))
    assert not readings
    assert list(sequence) == list(sequence) == [1, 2]
    assert len(readings) == 2


class FakeDataset:
    """Looks like a `tf.data.Dataset`, needs no TensorFlow."""

    element_spec = None

    def __init__(self, *elements: object) -> None:
        self.elements = elements

    def as_numpy_iterator(self) -> object:
        return iter(self.elements)


def test_dataset_is_known_by_its_looks() -> None:
    assert is_dataset(FakeDataset())
    assert not is_dataset([1])


def test_elements_of_a_dataset_take_the_declared_structure() -> None:
    type_ = parse_type("<y=int32,x=<float32,float32>>")
    element = {"x": (np.float32(1), np.float32(2)), "y": np.int32(3)}
    wanted = Struct.named(y=np.int32(3), x=Struct.unnamed(np.float32(1), np.float32(2)))
    sequence = DatasetSequence(FakeDataset(element, element), type_)
    assert list(sequence) == list(sequence) == [wanted, wanted]


@pytest.mark.tensorflow
def test_tensorflow_dataset_yields_plain_elements() -> None:
    import tensorflow as tf

    data = {"x": ["a", "b"], "y": [[1, 2], [3, 4]]}
    dataset = tf.data.Dataset.from_tensor_slices(data)
    sequence = DatasetSequence(dataset, parse_type("<y=int32[2],x=string>"))
    first, second = sequence
    assert same(first, Struct.named(y=np.array([1, 2], np.int32), x=b"a"))
    assert same(second, Struct.named(y=np.array([3, 4], np.int32), x=b"b"))


@pytest.mark.tensorflow
def test_ragged_elements_stay_with_tensorflow() -> None:
    import tensorflow as tf

    ragged = tf.ragged.constant([[[1], [2, 3]]])
    dataset = tf.data.Dataset.from_tensor_slices(ragged)
    type_ = parse_type("<flat_values=int32[...],nested_row_splits=<int64[?]>>")
    with pytest.raises(TypeMismatchError, match="whole dataset to a tf_computation"):
        list(DatasetSequence(dataset, type_))
