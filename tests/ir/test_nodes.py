# SPDX-License-Identifier: Apache-2.0
"""The ten kinds of node: their types, and when two of them are equal."""

import dataclasses
import pickle
import threading
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import UnexpectedTypeError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.operations import operation
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import StructType, normalize
from tests.programs import INT, INTS, add, increment

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
    with pytest.raises(UnexpectedTypeError, match="int32"):
        ir.struct_type_of(X)


def test_only_a_function_has_a_function_type() -> None:
    assert ir.function_type_of(ADD) == ADD.type
    with pytest.raises(UnexpectedTypeError, match="CLIENTS"):
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
