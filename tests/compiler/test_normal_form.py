# SPDX-License-Identifier: Apache-2.0
"""A program as a list of calls: what comes in which order, under which name."""

from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.compiler.normal_form import to_normal_form
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.language.computation import Computation
from tests.programs import INT, INTS, add, increment


def straight(computation: Any) -> str:
    """The text of a normalized program."""
    assert isinstance(computation.tree, ir.Lambda)
    tree = to_normal_form(computation.tree)
    assert tree.type == computation.type_signature
    return to_text(tree)


@fl.federated_computation(np.int32)
def twice(x: Any) -> Any:
    return increment(increment(x))


def test_calls_of_lambdas_are_written_out() -> None:
    program = fl.federated_computation(lambda x: twice(twice(x)), INT)
    assert straight(program) == (
        "((argument) -> (let (0)=increment((argument)),(1)=increment((0)),"
        "(2)=increment((1)),(3)=increment((2)) in (3)))"
    )


def test_fields_are_taken_out_of_structures_that_are_written_down() -> None:
    pair = fl.federated_computation(lambda x: (increment(x), x), INT)
    program = fl.federated_computation(lambda x: add(pair(x)[1], pair(x)[0]), INT)
    assert straight(program) == (
        "((argument) -> (let (0)=increment((argument)),(1)=increment((argument)),"
        "(2)=add(<a=(argument),b=(1)>) in (2)))"
    )


def test_a_function_that_is_handed_on_keeps_its_body() -> None:
    program = fl.federated_computation(lambda v: fl.federated_map(twice, v), INTS)
    assert "federated_map(<(twice_arg -> (let " in straight(program) or (
        "federated_map(<(x -> (let " in straight(program)
    )


def test_a_captured_part_of_the_argument_is_captured_alone() -> None:
    """The other part is placed, and could not travel."""

    def body(value: Any, k: Any) -> Any:
        shift = fl.federated_computation(lambda x: add(x, k), INT)
        return fl.federated_map(shift, value)

    text = straight(fl.federated_computation(body, INTS, INT))
    assert "(0)=(argument).k" in text
    assert "add(<a=x,b=(0)>)" in text


def test_a_shadowed_name_is_not_captured() -> None:
    """The program's own parameter and an inner one may have the same name."""

    def body(x: Any) -> Any:
        plus = fl.federated_computation(lambda y: add(x, y), INT)
        return plus(increment(x))

    program = fl.federated_computation(body, INT)
    with fl.framework.SyncExecutionContext(fl.framework.local_executor_factory()):
        normalized = Computation(to_normal_form(program.tree), "straight", None)  # type: ignore[arg-type]
        assert normalized(3) == program(3) == 7


def test_a_program_without_a_parameter_stays_one() -> None:
    program = fl.federated_computation(lambda: twice(np.int32(5)))
    assert straight(program).startswith("( -> (let (0)=increment(")
