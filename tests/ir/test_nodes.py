# SPDX-License-Identifier: Apache-2.0
"""The ten kinds of node, and the operations that every runtime knows."""

import dataclasses
import pickle
import threading
import warnings
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.operations import Operation, cast, operation
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import SequenceType, StructType, TensorType, normalize
from tests.programs import FLOAT, INT, INTS, add, increment

X = ir.Reference("x", INT)
PAIR = ir.Struct((("a", X), (None, ir.Literal(np.bool_(True), fl.to_type(np.bool_)))))
ADD = operation("add", (INT, INT), INT)
TWO_SEQUENCES = [fl.SequenceType(np.int32)] * 2


@pytest.mark.parametrize(
    ("node", "type_"),
    [
        (X, "int32"),
        (PAIR, "<a=int32,bool>"),
        (ir.Selection(PAIR, 1), "bool"),
        (ir.Lambda("x", INT, PAIR), "(int32 -> <a=int32,bool>)"),
        (ir.Lambda(None, None, PAIR), "( -> <a=int32,bool>)"),
        (ir.Call(ir.Lambda("x", INT, PAIR), X), "<a=int32,bool>"),
        (ir.Block((("y", X),), ir.Reference("y", INT)), "int32"),
        (ADD, "(<int32,int32> -> int32)"),
        (ir.PlacementLiteral(fl.CLIENTS), "placement"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_a_node_knows_its_type(node: ir.Node, type_: str) -> None:
    assert str(node.type) == type_


def test_a_struct_node_remembers_the_python_container() -> None:
    node = ir.Struct((("a", X),), OrderedDict)
    assert node.type == StructType([("a", INT)], OrderedDict)


def test_nodes_cannot_be_changed() -> None:
    for node in (X, PAIR, ADD):
        with pytest.raises(dataclasses.FrozenInstanceError):
            node.type = INT  # type: ignore[misc]


def literal(value: Any, type_: Any) -> ir.Literal:
    wanted = fl.to_type(type_)
    return ir.Literal(normalize(value, wanted), wanted)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (1, np.int32),
        (1.5, np.float64),
        ("text", np.str_),
        ([1, 2], (np.int32, [2])),
        (["a", "bc"], (np.str_, [2])),
        ({"a": 1, "b": [2.0]}, OrderedDict(a=np.int32, b=[np.float32])),
        ([1, 2, 3], fl.SequenceType(np.int32)),
    ],
    ids=str,
)
def test_literals_of_equal_type_and_content_are_equal(value: Any, type_: Any) -> None:
    one, other = literal(value, type_), literal(value, type_)
    assert one == other
    assert len({one, other}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (literal(1, np.int32), literal(2, np.int32)),
        (literal(1, np.int32), literal(1, np.int64)),
        (literal(0, np.int32), literal(False, np.bool_)),
        (literal([1, 2], (np.int32, [2])), literal([[1, 2]], (np.int32, [1, 2]))),
        (literal(["ab", "c"], (np.str_, [2])), literal(["a", "bc"], (np.str_, [2]))),
        (literal([[1], []], TWO_SEQUENCES), literal([[], [1]], TWO_SEQUENCES)),
        (
            ir.Literal(Struct.named(a=1), StructType([("a", INT)])),
            ir.Literal(Struct.unnamed(1), StructType([(None, INT)])),
        ),
    ],
    ids=lambda node: str(node.type),
)
def test_literals_that_differ_are_not_equal(one: ir.Literal, other: ir.Literal) -> None:
    assert one != other


def test_leaves_are_equal_when_their_code_is() -> None:
    assert operation("add", (INT, INT), INT) == ADD
    assert len({operation("add", (INT, INT), INT), ADD}) == 1
    assert operation("subtract", (INT, INT), INT) != ADD
    assert increment.tree != add.tree
    assert pickle.loads(pickle.dumps(ADD)) == ADD


def test_only_a_structure_has_a_structure_type() -> None:
    assert ir.struct_type_of(PAIR) == PAIR.type
    with pytest.raises(TypeMismatchError, match="int32"):
        ir.struct_type_of(X)


def test_only_a_function_has_a_function_type() -> None:
    assert ir.function_type_of(ADD) == ADD.type
    with pytest.raises(TypeMismatchError, match="CLIENTS"):
        ir.function_type_of(ir.Reference("v", INTS))


class _Slow:
    """A node whose type is another's, once two threads have asked."""

    def __init__(self, both: threading.Barrier, other: ir.Node) -> None:
        self.both, self.other = both, other

    @property
    def type(self) -> fl.Type:
        self.both.wait(5)
        return self.other.type


def test_threads_with_programs_of_their_own_do_not_wait_for_each_other() -> None:
    """As they would with the locks of `functools.cached_property` in Python 3.11."""
    both = threading.Barrier(2)
    inner: Any = _Slow(both, ir.Block((), X)), _Slow(both, ir.Lambda(None, None, X))
    nodes = ir.Lambda(None, None, inner[0]), ir.Block((), inner[1])
    threads = [threading.Thread(target=lambda n=n: n.type, daemon=True) for n in nodes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert not any(thread.is_alive() for thread in threads)


# ----------------------------------------
# The operations every runtime knows, by their meaning in NumPy


@pytest.mark.parametrize(
    ("name", "left", "right", "result"),
    [
        ("add", np.int32(3), np.int32(4), 7),
        ("subtract", np.int32(3), np.int32(4), -1),
        ("multiply", np.int32(3), np.int32(4), 12),
        ("divide", np.int32(3), np.int32(4), 0.75),
        ("divide", np.float32(3), np.float32(4), 0.75),
        ("modulo", np.int32(-1), np.int32(3), 2),
        ("minimum", np.int32(3), np.int32(4), 3),
        ("maximum", np.int32(3), np.int32(4), 4),
    ],
)
def test_arithmetic(name: str, left: Any, right: Any, result: float) -> None:
    assert Operation(name)(Struct.unnamed(left, right)) == result


def test_integers_wrap_around_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wrapped = Operation("add")(Struct.unnamed(np.uint8(200), np.uint8(100)))
    assert (wrapped, wrapped.dtype) == (44, np.uint8)


def test_a_cast_keeps_the_shape() -> None:
    leaf = cast(TensorType(np.int32, [2]), TensorType(np.float32, [2]))
    assert str(leaf.type) == "(int32[2] -> float32[2])"
    np.testing.assert_array_equal(
        leaf.code(np.array([1, 2], np.int32)), np.array([1, 2], np.float32), strict=True
    )
    assert leaf.code(np.int32(3)).dtype == np.float32


def test_a_reciprocal_is_taken_in_the_dtype_of_the_values() -> None:
    third = Operation("reciprocal", "float32")(np.int32(3))
    assert (third, third.dtype) == (np.float32(1 / 3), np.float32)


def test_a_count_above_zero_lets_the_value_pass() -> None:
    assert Operation("nonempty")(Struct.unnamed(np.float32(0), np.int32(2))) == 0


@pytest.mark.parametrize("value", [0, 10])
def test_both_ends_belong_to_the_range(value: int) -> None:
    assert Operation("at_most")(Struct.unnamed(np.int32(value), np.int32(10))) == value


def test_sequences_grow_at_their_end() -> None:
    assert Operation("append")(Struct.unnamed((1, 2), 3)) == (1, 2, 3)
    assert Operation("concatenate")(Struct.unnamed((1, 2), (3,))) == (1, 2, 3)


def test_an_operation_of_several_things_takes_a_structure() -> None:
    many = SequenceType(INT)
    assert (
        str(operation("append", (many, INT), many).type) == "(<int32*,int32> -> int32*)"
    )
    assert str(operation("reciprocal", (INT,), FLOAT).type) == "(int32 -> float32)"


def test_operations_are_equal_by_name_and_dtype() -> None:
    assert Operation("cast", "float32").digest != Operation("cast", "float64").digest
    assert Operation("add") == Operation("add")
