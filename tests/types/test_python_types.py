# SPDX-License-Identifier: Apache-2.0
"""Types from Python; containers taken apart and put together."""

import dataclasses
from collections import OrderedDict
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    CLIENTS,
    StructType,
    infer_type,
    normalize,
    parse_type,
    to_type,
)
from fedlearn_edu.types.data_types import element_type_of
from fedlearn_edu.types.fields import fields_of, rebuild
from fedlearn_edu.types.sequences import LazySequence
from tests.programs import Pair
from tests.strategies import element_types, value_of


@dataclasses.dataclass
class Data:
    """A dataclass."""

    a: Any


@attrs.define
class Attrs:
    """An attrs class."""

    _a: Any


ACCEPTED: list[tuple[Any, str, type | None]] = [
    (np.int64, "int64", None),
    (np.dtype("uint8"), "uint8", None),
    (np.bool_, "bool", None),
    (np.bytes_, "string", None),
    # Byte order, width and aliases are forgotten.
    (np.longlong, "int64", None),
    (np.dtype(">i4"), "int32", None),
    (np.dtype("<U7"), "string", None),
    (np.dtype(object), "string", None),
    # To NumPy, the dtype float64 equals None.
    ((np.float64, [3]), "float64[3]", None),
    ((np.dtype("float64"), (np.int64(2), None)), "float64[2,?]", None),
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
        "int32[4]": (tf.int32, tf.TensorShape([4])),
        "bool[2,?]": tf.TensorSpec([2, None], tf.bool),
        "<x=float32,y=int32>*": tf.data.DatasetSpec(
            {"y": tf.TensorSpec([], tf.int32), "x": tf.TensorSpec([], tf.float32)}
        ),
    }
    assert {text: str(to_type(spec)) for text, spec in specs.items()} == {
        text: text for text in specs
    }


INFERRED: list[tuple[Any, str, type | None]] = [
    (1, "int32", None),
    (2**31, "int64", None),
    (-(2**31), "int32", None),
    (-(2**40), "int64", None),
    (1.0, "float32", None),
    (True, "bool", None),
    ("a", "string", None),
    (b"a", "string", None),
    (1j, "complex128", None),
    (np.int64(1), "int64", None),
    (np.float64(1), "float64", None),
    (np.arange(3), "int64[3]", None),
    (np.array(["a"]), "string[1]", None),
    (np.array([b"a", "b"], object), "string[2]", None),
    ([1, 2], "<int32,int32>", list),
    ([[1, 2], [3]], "<<int32,int32>,<int32>>", list),
    ((1, 2.0), "<int32,float32>", tuple),
    ([], "<>", list),
    ([("a", 1)], "<<string,int32>>", list),
    (OrderedDict(b=1, a=2.0), "<b=int32,a=float32>", OrderedDict),
    ({"b": 1, "a": 2.0}, "<a=float32,b=int32>", dict),
    (Pair(1, 2.0), "<a=int32,b=float32>", Pair),
    (Data(1), "<a=int32>", Data),
    (Struct([("a", 1), (None, 2)]), "<a=int32,int32>", None),
    (LazySequence(lambda: iter([]), parse_type("int32")), "int32*", None),
]


@pytest.mark.parametrize(
    ("find", "thing", "text", "container"),
    [(to_type, *each) for each in ACCEPTED]
    + [(infer_type, *each) for each in INFERRED],
)
def test_thing_has_the_type(find: Any, thing: Any, text: str, container: Any) -> None:
    type_ = find(thing)
    assert str(type_) == text
    assert getattr(type_, "python_container", None) is container


def test_nothing_has_no_type() -> None:
    assert infer_type(None) is None


def test_object_with_a_signature_has_that_type() -> None:
    class Computation:
        type_signature = parse_type("( -> int32)")

    assert infer_type(Computation()) is Computation.type_signature


@given(st.data())
def test_value_fits_the_type_inferred_from_it(data: st.DataObject) -> None:
    """Law: normalize(x, infer_type(x)) never fails."""
    value = data.draw(value_of(data.draw(element_types())))
    type_ = infer_type(value)
    assert type_ is not None
    normalize(value, type_)


@pytest.mark.tensorflow
def test_tensorflow_values_have_types() -> None:
    import tensorflow as tf

    values = {
        "float32[1]": tf.constant([1.0]),
        "int32": tf.Variable(1),
        "int64*": tf.data.Dataset.range(3),
        "<x=int32,y=int32>*": tf.data.Dataset.from_tensors({"y": 1, "x": 2}),
    }
    found = {text: str(infer_type(value)) for text, value in values.items()}
    assert found == {text: text for text in values}


@dataclasses.dataclass(frozen=True)
class Summed:
    """A dataclass with a field that nobody hands in."""

    a: int
    b: int
    total: int = dataclasses.field(init=False, default=3, compare=False)


@attrs.frozen
class Frozen:
    """An attrs class."""

    a: int
    b: int


@pytest.mark.parametrize("container", [Summed(1, 2), Frozen(1, 2), {}], ids=repr)
def test_rebuilding_undoes_taking_apart(container: Any) -> None:
    fields = fields_of(container)
    assert fields is not None
    assert fields.container is type(container)
    rebuilt = rebuild(fields.container, Struct(fields.pairs))
    assert type(rebuilt) is type(container)
    assert rebuilt == container


@pytest.mark.parametrize(
    "other", [1, "ab", {1}, None, Summed, CLIENTS, parse_type("int32*"), object()]
)
def test_other_objects_have_no_fields(other: Any) -> None:
    assert fields_of(other) is None
