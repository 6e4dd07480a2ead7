# SPDX-License-Identifier: Apache-2.0
"""Cases are written once for all runtimes, and traced when they are needed."""

import itertools
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.framework import (
    ReferenceContext,
    SyncExecutionContext,
    local_executor_factory,
)
from fedlearn_edu.ir.traversal import runtimes
from fedlearn_edu.testing import (
    Case,
    CaseBook,
    assert_conforms,
    assert_same,
    cases,
    gives,
    primitives,
    run_in,
)
from tests.programs import in_another_process

INTS = fl.type_at_clients(np.int32)


def _book() -> tuple[CaseBook, list[Any]]:
    book, traced = CaseBook(), []

    @book.add(one=gives(2, [1]), many=gives(12, [1, 5]))
    def doubled_total(leaf: Any) -> Any:
        """Twice the sum."""
        traced.append(leaf)
        double = leaf(lambda x: x + x, np.int32)
        return fl.federated_computation(
            lambda v: fl.federated_sum(fl.federated_map(double, v)), INTS
        )

    return book, traced


def test_book_makes_a_case_for_each_example_and_runtime() -> None:
    book, traced = _book()
    names = [(case.name, case.runtime) for case in book]
    examples = ["doubled_total-one", "doubled_total-many"]
    assert sorted(names) == sorted(itertools.product(examples, ["numpy", "tensorflow"]))
    assert {case.says for case in book} == {"Twice the sum."}
    assert traced == []


def test_case_is_traced_once_when_it_is_needed() -> None:
    book, traced = _book()
    case = next(iter(book))
    for _ in range(2):
        assert_same(run_in(ReferenceContext(), case), case.expected)
    assert traced == [fl.np_computation]


def test_only_example_has_the_name_of_its_program() -> None:
    book = CaseBook()

    @book.add(gives((), key=1), runtimes=("numpy",), needs_sequences=True)
    def nothing(_: Any) -> Any:
        """Says it."""

    [case] = book
    assert (case.name, case.keywords) == ("nothing", {"key": 1})
    assert case.needs_sequences


def test_listing_tensorflow_cases_does_not_load_tensorflow() -> None:
    program = """
    import sys
    from fedlearn_edu.testing import cases
    print(len(cases("tensorflow")) > 100, "tensorflow" in sys.modules)
    """
    assert in_another_process(program) == "True False\n"


@pytest.mark.tensorflow
def test_mixed_case_has_leaves_of_both_runtimes() -> None:
    for case in cases("mixed"):
        assert runtimes(case.computation.tree) == {"numpy", "tensorflow"}, case.name


@pytest.mark.tensorflow
def test_case_has_leaves_of_its_runtime_only() -> None:
    for runtime in ("numpy", "tensorflow"):
        for case in cases(runtime):
            assert runtimes(case.computation.tree) <= {runtime}, case.name


def test_primitives_of_a_case_include_those_of_function_arguments() -> None:
    largest = fl.federated_computation(fl.federated_max, INTS)
    ask = fl.federated_computation(
        lambda f, v: f(v), fl.FunctionType(INTS, fl.type_at_server(np.int32)), INTS
    )
    case = Case("ask", lambda: ask, (largest, [1, 2]))
    assert primitives(case) == {"federated_aggregate"}


def test_report_lists_ten_problems_at_most() -> None:
    wrong = Case(
        "wrong",
        lambda: fl.federated_computation(lambda v: fl.federated_reduce(v, 0, v), INTS),
        ([1],),
    )
    context = SyncExecutionContext(local_executor_factory())
    with pytest.raises(AssertionError) as caught:
        assert_conforms(context, [wrong] * 13)
    lines = str(caught.value).splitlines()
    assert lines[0] == "13 of 13 cases differ from the reference"
    assert lines[-1] == "and 3 more"
    assert lines[1].startswith("wrong: raised TypeMismatchError:")


def test_refusal_without_need_is_a_problem() -> None:
    [case] = [case for case in cases() if case.name == "sequence_mapped-many"]
    context = SyncExecutionContext(local_executor_factory())
    with pytest.raises(AssertionError, match="sequence_mapped-many was refused"):
        assert_conforms(context, [case])
    report = assert_conforms(context, [case], lacks={"sequence_map"})
    assert str(report) == "0 cases agree with the reference; 1 were refused"
