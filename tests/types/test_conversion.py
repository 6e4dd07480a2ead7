# SPDX-License-Identifier: Apache-2.0
"""What denotes a type, and what does not."""

import dataclasses
from collections import OrderedDict, defaultdict
from typing import Any, NamedTuple

import attrs
import numpy as np
import pytest

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import SERVER, StructType, to_type
from fedlearn_edu.types.conversion import element_type_of


class Pair(NamedTuple):
    """A namedtuple that may hold types."""

    a: Any
    b: Any


@dataclasses.dataclass
class Data:
    """A dataclass that may hold types."""

    a: Any


@attrs.define
class Attrs:
    """An attrs class that may hold types."""

    _a: Any


ACCEPTED: list[tuple[Any, str, type | None]] = [
    (np.int64, "int64", None),
    (np.dtype("uint8"), "uint8", None),
    (np.bool_, "bool", None),
    (np.bytes_, "string", None),
    ((np.float32, [10]), "float32[10]", None),
    ((np.int32, (2, 3)), "int32[2,3]", None),
    ((np.float32, [None, 3]), "float32[?,3]", None),
    ((np.int32, []), "int32", None),
    ([np.int32, np.bool_], "<int32,bool>", list),
    ((np.int32, np.bool_), "<int32,bool>", tuple),
    ((np.int32, (np.int32, [2])), "<int32,int32[2]>", tuple),
    ((), "<>", tuple),
    ([], "<>", list),
    ([("a", np.int32), ("b", np.bool_)], "<a=int32,b=bool>", None),
    ([("a", np.int32), np.bool_], "<a=int32,bool>", None),
    (("a", np.int32), "<a=int32>", None),
    (OrderedDict(b=np.int32, a=np.bool_), "<b=int32,a=bool>", OrderedDict),
    (Pair(np.int32, np.bool_), "<a=int32,b=bool>", Pair),
    (Data(np.int32), "<a=int32>", Data),
    (Attrs(np.int32), "<_a=int32>", Attrs),
    (Struct([("a", np.int32), (None, np.bool_)]), "<a=int32,bool>", None),
]


@pytest.mark.parametrize(("spec", "text", "container"), ACCEPTED)
def test_object_denotes_the_type(spec: Any, text: str, container: type | None) -> None:
    type_ = to_type(spec)
    assert str(type_) == text
    assert getattr(type_, "python_container", None) is container


REJECTED: list[tuple[Any, str]] = [
    ({"a": np.int32}, "use collections.OrderedDict"),
    (defaultdict(int), "use collections.OrderedDict"),
    (int, r"write np\.int32 \(or tf\.int32\)"),
    (float, r"write np\.float32"),
    (bool, r"write np\.bool_"),
    (str, r"write np\.str_"),
    ("int32", r"use fl\.parse_type\('int32'\)"),
    (10, "a shape comes second in a tuple"),
    ([np.int32, [10]], "a shape comes second in a tuple"),
    (Attrs, "fill an instance"),
    (Data, "fill an instance"),
    (object(), "found: +an object"),
    (SERVER, "found: +a Placement: SERVER"),
    (np.datetime64, "found: .*datetime64"),
]


@pytest.mark.parametrize(("spec", "message"), REJECTED)
def test_other_object_is_refused_with_a_cure(spec: Any, message: str) -> None:
    with pytest.raises(TypeMismatchError, match=message):
        to_type(spec)


def test_something_with_a_type_is_not_its_type() -> None:
    class Computation:
        type_signature = to_type(np.int32)

    with pytest.raises(TypeMismatchError, match=r"pass its type: x\.type_signature"):
        to_type(Computation())


def test_elements_of_a_plain_dict_are_sorted() -> None:
    type_ = element_type_of({"y": np.int32, "x": (np.float32, np.bool_)})
    assert str(type_) == "<x=<float32,bool>,y=int32>"
    assert isinstance(type_, StructType)
    assert type_.python_container is dict


@pytest.mark.tensorflow
def test_tensorflow_specs_denote_types() -> None:
    import tensorflow as tf

    specs = {
        "int32": tf.int32,
        "string": tf.string,
        "bfloat16": tf.bfloat16,
        "int32[4]": (tf.int32, tf.TensorShape([4])),
        "float32[...]": (tf.float32, tf.TensorShape(None)),
        "bool[2,?]": tf.TensorSpec([2, None], tf.bool),
        "<flat_values=int32[...],nested_row_splits=<int64[?]>>": tf.RaggedTensorSpec(
            [None, None], tf.int32
        ),
        "<indices=int64[?,2],values=float32[?],dense_shape=int64[2]>": (
            tf.SparseTensorSpec([2, 3], tf.float32)
        ),
        "<x=float32,y=int32>*": tf.data.DatasetSpec(
            {"y": tf.TensorSpec([], tf.int32), "x": tf.TensorSpec([], tf.float32)}
        ),
    }
    assert {text: str(to_type(spec)) for text, spec in specs.items()} == {
        text: text for text in specs
    }


@pytest.mark.tensorflow
def test_tensorflow_variant_is_refused() -> None:
    import tensorflow as tf

    with pytest.raises(TypeMismatchError, match="variant"):
        to_type(tf.variant)
