# SPDX-License-Identifier: Apache-2.0
"""The oracle. That stacks agree with it is the matter of the conformance suite."""

import ast
import inspect
from collections.abc import Iterator

import pytest

import fedlearn_edu as fl
from fedlearn_edu.contexts import reference
from fedlearn_edu.errors import CardinalityError
from tests.programs import INT, INTS, seven

MAX_CODE_LINES = 150
EQUAL = fl.type_at_clients(INT, all_equal=True)


def test_the_whole_meaning_fits_on_two_screens() -> None:
    """At most 150 lines that are neither blank, nor comment, nor docstring."""
    source = inspect.getsource(reference)
    documented = (ast.Module, ast.FunctionDef, ast.ClassDef)
    strings = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, documented) and ast.get_docstring(node)
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    code = [
        line
        for number, line in enumerate(source.splitlines(), 1)
        if line.strip() and not line.strip().startswith("#") and number not in strings
    ]
    assert len(code) <= MAX_CODE_LINES


def test_executors_are_not_needed() -> None:
    imported = {
        name.split(".")[1]
        for node in ast.walk(ast.parse(inspect.getsource(reference)))
        if isinstance(node, ast.ImportFrom) and node.module and "." in node.module
        for name in [node.module]
    }
    assert "executors" not in imported
    assert "runtimes" not in imported


@pytest.fixture(autouse=True)
def _in_the_reference() -> Iterator[None]:
    with fl.framework.ReferenceContext(default_num_clients=3):
        yield


@pytest.mark.parametrize(("count", "result"), [(3, [7, 7, 7]), (1, [7]), (0, [])])
def test_the_number_of_clients_may_be_given(count: int, result: list[int]) -> None:
    program = fl.federated_computation(lambda: fl.federated_eval(seven, fl.CLIENTS))
    with fl.framework.ReferenceContext(default_num_clients=count):
        assert program() == result


def test_an_argument_says_better_how_many_clients_there_are() -> None:
    program = fl.federated_computation(
        lambda v: [v, fl.federated_eval(seven, fl.CLIENTS)], INTS
    )
    assert program([1, 2]) == [[1, 2], [7, 7]]


def test_nobody_holds_no_all_equal_value() -> None:
    program = fl.federated_computation(lambda v: v, EQUAL)
    context = fl.framework.ReferenceContext(default_num_clients=0)
    with context, pytest.raises(CardinalityError, match="0 clients"):
        program(5)
