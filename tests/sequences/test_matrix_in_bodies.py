# SPDX-License-Identifier: Apache-2.0
"""The matrix of `matrix.py` in the bodies of federated computations, on every stack.

Of a federated sequence, each client brings another form, so that one call tries all of
them. A sequence without a placement comes in one form after the other. Datasets come
where the leaf code is TensorFlow's.

To keep the cost bounded, the whole matrix is tried in the reference context and on one
stack of each runtime; 10,000 elements, a second each, there only, and marked slow. On
the others, a sequence without a placement comes as a list and as a generator, since no
executor sees the form; and with TensorFlow, what is captured is the model.
"""

from itertools import product
from typing import Any

import pytest

from fedlearn_edu.framework import ReferenceContext
from fedlearn_edu.language.context_stack import Context
from fedlearn_edu.testing import Case, run_in
from fedlearn_edu.testing.comparison import difference
from tests.conformance.stacks import STACKS, Stack
from tests.sequences.matrix import CELLS, FORMS, Cell, program, program_at_clients

REFERENCE = Stack("reference", ReferenceContext)
PLACES = (REFERENCE, *(stack for stack in STACKS if stack.sequences))
THOROUGH = ("reference", "local-numpy-sequence", "local-tensorflow-sequence")


def _is_left_out(stack: Stack, cell: Cell, *, at_clients: bool) -> bool:
    if stack.name in THOROUGH:
        return at_clients and cell.is_long and cell.operation != "nested"
    captures_less = cell.capture != "captured model" and cell.operation != "sum"
    costs = stack.runtime != "numpy" and not at_clients
    return cell.is_long or captures_less or costs


def _params(*, at_clients: bool) -> list[Any]:
    params = []
    for stack, cell in product(PLACES, CELLS):
        if cell.operation == "nested" and not at_clients:
            continue  # there is nothing that `federated_map` could map
        marks = [] if stack.runtime == "numpy" else [pytest.mark.tensorflow]
        if cell.is_long and stack is not REFERENCE:
            marks.append(pytest.mark.slow)
        if not _is_left_out(stack, cell, at_clients=at_clients):
            name = f"{stack.name}:{cell}"
            params.append(pytest.param(stack, cell, id=name, marks=marks))
    return params


def _forms(stack: Stack) -> tuple[str, ...]:
    return FORMS[:-1] if stack.runtime == "numpy" else FORMS


def _run(context: Context, computation: Any, *arguments: Any) -> Any:
    return run_in(context, Case("", lambda: computation, arguments))


@pytest.mark.parametrize(("stack", "cell"), _params(at_clients=False))
def test_a_sequence_means_the_same_in_every_form(stack: Stack, cell: Cell) -> None:
    made = program(cell.operation, cell.kind, cell.capture, stack.runtime)
    few = ("list", "generator function")
    forms = _forms(stack) if stack.name in THOROUGH else few
    expected = cell.expected()
    problems = {
        form: difference(_run(stack.context, made, data, cell.captured), expected)
        for form, data in cell.forms(forms)
    }
    assert problems
    assert not any(problems.values()), problems


@pytest.mark.parametrize(("stack", "cell"), _params(at_clients=True))
def test_every_client_may_hold_its_sequence_in_another_form(
    stack: Stack, cell: Cell
) -> None:
    made = program_at_clients(cell.operation, cell.kind, cell.capture, stack.runtime)
    data = [data for _, data in cell.forms(_forms(stack))]
    expected = [cell.expected() for _ in data]
    if cell.operation == "returned":
        expected = [list(column) for column in zip(*expected, strict=True)]
    found = _run(stack.context, made, data, cell.captured)
    assert difference(found, expected) is None
