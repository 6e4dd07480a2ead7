# SPDX-License-Identifier: Apache-2.0
"""The matrix of `matrix.py` outside of any body: operations that run at once.

Placed sequences are tried in every context, plain ones in the reference context and on
one stack of each runtime; functions capture values of Python. To keep the cost bounded,
all captures are tried on these three, and a model elsewhere and with TensorFlow; 10,000
elements are left to the other places.
"""

import asyncio
import inspect
from itertools import product
from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.framework import ReferenceContext
from fedlearn_edu.testing.comparison import difference
from tests.conformance.stacks import STACKS, Stack
from tests.sequences.elements import leaves
from tests.sequences.matrix import CELLS, FORMS, Cell, element_function, operate

PLACES = (
    Stack("reference", ReferenceContext),
    *(stack for stack in STACKS if stack.sequences),
)
WITH_PLAIN = ("reference", "local-numpy-sequence", "local-tensorflow-sequence")


def _params(*, placed: bool) -> list[Any]:
    params = []
    for stack, cell in product(PLACES, CELLS):
        captures_less = cell.capture != "captured model" and cell.operation != "sum"
        if captures_less and stack.name not in WITH_PLAIN[:2]:
            continue
        if cell.is_long or not (placed or stack.name in WITH_PLAIN):
            continue
        if cell.operation == "nested" and not placed:
            continue  # there is nothing that `federated_map` could map
        marks = [] if stack.runtime == "numpy" else [pytest.mark.tensorflow]
        params.append(pytest.param(stack, cell, id=f"{stack.name}:{cell}", marks=marks))
    return params


def _forms(stack: Stack) -> tuple[str, ...]:
    return FORMS[:-1] if stack.runtime == "numpy" else FORMS


def _settled(result: Any) -> Any:
    return asyncio.run(result) if inspect.iscoroutine(result) else result


@pytest.mark.parametrize(("stack", "cell"), _params(placed=True))
def test_placed_sequences(stack: Stack, cell: Cell) -> None:
    kind, leaf = cell.kind, leaves(cell.kind, stack.runtime)
    fn = element_function(cell.capture, cell.captured, kind, leaf)
    data = [data for _, data in cell.forms(_forms(stack))]
    with stack.context:
        placed = fl.place(data, fl.CLIENTS, kind.sequence)
        match cell.operation:
            case "returned":
                found = [placed, _settled(fl.sequence_map(fn, placed))]
            case "nested":
                whole = fl.federated_computation(
                    lambda s: operate("reduce of map", s, fn, kind, leaf), kind.sequence
                )
                found = [_settled(fl.federated_map(whole, placed))]
            case "passed on":
                mapped = fl.sequence_map(fn, placed)
                found = [_settled(fl.federated_map(leaf.read, mapped))]
            case operation:
                found = [_settled(operate(operation, placed, fn, kind, leaf))]
    expected = [cell.expected() for _ in data]
    if cell.operation == "returned":
        expected = [list(column) for column in zip(*expected, strict=True)]
    else:
        expected = [expected]
    assert difference([value.members for value in found], expected) is None


@pytest.mark.parametrize(("stack", "cell"), _params(placed=False))
def test_plain_sequences(stack: Stack, cell: Cell) -> None:
    kind, leaf = cell.kind, leaves(cell.kind, stack.runtime)
    fn = element_function(cell.capture, cell.captured, kind, leaf)
    operation = "map" if cell.operation == "returned" else cell.operation
    expected = cell.expected()
    if cell.operation == "returned":
        expected = expected[1]
    forms = _forms(stack)
    if cell.operation == "sum" and cell.elements.name == "empty":
        # Without a declared type, only what knows its dtype may be empty.
        forms = ("array", "dataset")[: 1 + (stack.runtime != "numpy")]
    with stack.context:
        problems = {
            form: difference(operate(operation, data, fn, kind, leaf), expected)
            for form, data in cell.forms(forms)
        }
    assert problems
    assert not any(problems.values()), problems
