# SPDX-License-Identifier: Apache-2.0
"""Python values into plain form, and back."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedlearn_edu.structure import Struct
from fedlearn_edu.types import normalize, parse_type, restore
from fedlearn_edu.types.sequences import DatasetSequence, LazySequence
from tests.strategies import same, value_of, value_types


@given(st.data())
def test_restoring_undoes_normalizing(data: st.DataObject) -> None:
    """Law: restore(normalize(x, t), t) is x."""
    type_ = data.draw(value_types())
    value = data.draw(value_of(type_))
    assert same(restore(normalize(value, type_), type_), value)


@given(st.data())
def test_normalizing_leaves_plain_forms_alone(data: st.DataObject) -> None:
    """Law: normalize is idempotent."""
    type_ = data.draw(value_types())
    plain = normalize(data.draw(value_of(type_)), type_)
    assert same(normalize(plain, type_), plain)


# ---------------------------------------------------------------- sequences


def test_normalized_sequence_passes_through_if_it_fits() -> None:
    sequence = LazySequence(lambda: iter([]), parse_type("int32[3]"))
    assert normalize(sequence, parse_type("int32[?]*")) is sequence


@pytest.mark.tensorflow
def test_dataset_stays_a_dataset() -> None:
    import tensorflow as tf

    data = {"x": [[1.0], [2.0]], "y": [1, 2]}
    dataset = tf.data.Dataset.from_tensor_slices(data).batch(2)
    type_ = parse_type("<y=int32[?],x=float32[?,1]>*")
    sequence = normalize(dataset, type_)
    assert isinstance(sequence, DatasetSequence)
    assert sequence.dataset is dataset
    (element,) = restore(sequence, type_)
    assert list(element) == ["y", "x"]


# ---------------------------------------------------------------- federated


@pytest.mark.parametrize(
    "value",
    [[1, 2], (1, 2), np.array([1, 2]), (x for x in (1, 2))],
    ids=["list", "tuple", "array", "generator"],
)
def test_members_become_a_tuple_in_client_order(value: Any) -> None:
    plain = normalize(value, parse_type("{int32}@CLIENTS"))
    assert same(plain, (np.int32(1), np.int32(2)))


def test_all_equal_value_is_handed_in_bare() -> None:
    assert normalize(1, parse_type("int32@SERVER")) == 1
    assert normalize([1, 2], parse_type("int32[2]@CLIENTS")).tolist() == [1, 2]
    assert normalize([1, 2], parse_type("<int32,int32>@SERVER")) == Struct.unnamed(1, 2)
