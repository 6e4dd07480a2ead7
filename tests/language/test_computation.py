# SPDX-License-Identifier: Apache-2.0
"""A computation: a typed tree; the current context says what calling it means."""

import pickle
from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ContextError
from fedlearn_edu.framework import Context
from fedlearn_edu.language.computation import Computation, check_closed
from tests.programs import INT, INTS, add, increment, same


class Remembering(Context):
    """Runs nothing, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []

    def invoke(self, computation: Computation, argument: Any) -> Any:
        self.asked.append((computation.__name__, argument))
        return "whatever the context says"


def test_a_call_asks_the_current_context() -> None:
    with Remembering() as context:
        assert add(1, b=2) == "whatever the context says"
        increment(5)
    assert context.asked == [("add", fl.Struct.named(a=1, b=2)), ("increment", 5)]


def test_computations_of_equal_trees_are_equal() -> None:
    again = fl.federated_computation(lambda x: x, INT)
    once = fl.federated_computation(lambda x: x, INT)
    assert once == again
    assert len({once, again}) == 1
    assert once != fl.federated_computation(lambda x: [x], INT)
    assert once != "a computation"


def test_it_prints_its_name_and_its_type() -> None:
    assert str(add) == "add: (<a=int32,b=int32> -> int32)"
    assert repr(same) == "<computation same: (int32 -> int32)>"
    assert same.to_text() == "(x ->\n  x)"


def test_a_federated_computation_can_be_pickled() -> None:
    total = fl.federated_computation(lambda v: fl.federated_sum(v), INTS)
    copy = pickle.loads(pickle.dumps(total))
    assert (copy, copy.__name__) == (total, "lambda")
    assert copy([1, 2]) == 3


def test_a_computation_that_captured_a_value_runs_only_where_it_was_made() -> None:
    kept: list[Any] = []

    def outer(x: Any) -> Any:
        kept.append(fl.federated_computation(lambda y: add(y, x), INT))
        return kept[0](x)

    assert fl.federated_computation(outer, INT)(4) == 8
    with pytest.raises(ContextError, match="'x'"):
        kept[0](1)
    with pytest.raises(ContextError, match="can run only inside it"):
        check_closed(kept[0])
