# SPDX-License-Identifier: Apache-2.0
"""The matrix of `matrix.py` in the bodies of federated computations, on every stack.

Of a federated sequence, each client brings another form, so that one call tries all of
them. A sequence without a placement comes in one form after the other. Datasets come
where the leaf code is TensorFlow's.

A pairwise cover is tried on all stacks; the whole matrix, in the thorough tests, by the
reference and on one stack of each runtime. So are 10,000 elements: a second each.
"""

from itertools import product
from typing import Any

import pytest

from fedlearn_edu.framework import ReferenceContext
from fedlearn_edu.language.context_stack import Context
from fedlearn_edu.testing import Case, run_in
from fedlearn_edu.testing.comparison import difference
from tests.conformance.stacks import STACKS, Stack
from tests.covering import pairwise_cover
from tests.sequences.matrix import CELLS, FORMS, Cell, program, program_at_clients

REFERENCE = Stack("reference", ReferenceContext)
PLACES = (REFERENCE, *(stack for stack in STACKS if stack.sequences))
THOROUGH = ("reference", "local-numpy-sequence", "local-tensorflow-sequence")


def _params() -> list[Any]:
    matrix = [
        (stack, cell, at_clients)
        for stack, cell, at_clients in product(PLACES, CELLS, (False, True))
        # there is nothing that `federated_map` could map
        if (at_clients or cell.operation != "nested")
        and (not cell.is_long or stack.name in THOROUGH)
    ]
    factors = {
        (stack, cell.operation, cell.elements, cell.capture, at_clients): (
            stack,
            cell,
            at_clients,
        )
        for stack, cell, at_clients in matrix
        # how many elements there are does not depend on what is done with them
        if not cell.is_long or cell.operation == "reduce of map"
    }
    cover = {factors[chosen] for chosen in pairwise_cover(list(factors))}
    params = []
    for stack, cell, at_clients in matrix:
        marks = [] if stack.runtime == "numpy" else [pytest.mark.tensorflow]
        if (stack, cell, at_clients) not in cover:
            if stack.name not in THOROUGH:
                continue
            marks.append(pytest.mark.thorough)
        name = f"{stack.name}:{cell}" + "-at clients" * at_clients
        params.append(pytest.param(stack, cell, at_clients, id=name, marks=marks))
    return params


@pytest.mark.parametrize(("stack", "cell", "at_clients"), _params())
def test_a_sequence_means_the_same_in_every_form(
    stack: Stack, cell: Cell, at_clients: bool
) -> None:
    make = program_at_clients if at_clients else program
    made = make(cell.operation, cell.kind, cell.capture, stack.runtime)
    forms = FORMS[:-1] if stack.runtime == "numpy" else FORMS
    data = dict(cell.forms(forms))
    assert data
    if not at_clients:
        for form, one in data.items():
            found = _run(stack.context, made, one, cell.captured)
            assert difference(found, cell.expected()) is None, form
        return
    expected = [cell.expected() for _ in data]
    if cell.operation == "returned":
        expected = [list(column) for column in zip(*expected, strict=True)]
    found = _run(stack.context, made, [*data.values()], cell.captured)
    assert difference(found, expected) is None


def _run(context: Context, computation: Any, *arguments: Any) -> Any:
    return run_in(context, Case("", lambda: computation, arguments))
