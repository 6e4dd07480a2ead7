# SPDX-License-Identifier: Apache-2.0
"""The matrix of `matrix.py` outside of any body: operations that run at once.

A few cells show that an operation which runs at once is the one of the bodies. That the
two give the same for any data is in `tests/conformance/test_eager_intrinsics.py`.
"""

from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.framework import ReferenceContext
from fedlearn_edu.testing.comparison import difference
from tests.conformance.stacks import STACKS, Stack
from tests.sequences.elements import leaves
from tests.sequences.matrix import CELLS, FORMS, element_function, operate

PLACES = {"reference": Stack("reference", ReferenceContext)}
PLACES |= {stack.name: stack for stack in STACKS}
NUMPY, TENSORFLOW = "local-numpy-sequence", "local-tensorflow-sequence"


def _cells(*cells: tuple[str, str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("place", "cell"),
        [
            pytest.param(
                *cell,
                id="-".join(cell),
                marks=[pytest.mark.tensorflow] * (cell[0] == TENSORFLOW),
            )
            for cell in cells
        ],
    )


@_cells(
    ("reference", "sum-structures-no capture"),
    ("reference", "map-ragged-captured model"),
    ("reference", "returned-strings-captured scalar"),
    (NUMPY, "reduce-one-captured scalar"),
    (NUMPY, "nested-ragged-captured model"),
    (TENSORFLOW, "reduce of map-structures-captured model"),
    (TENSORFLOW, "map of map-strings-no capture"),
    (TENSORFLOW, "passed on-ragged-captured scalar"),
)
def test_placed_sequences(place: str, cell: str) -> None:
    stack, [chosen] = PLACES[place], [each for each in CELLS if str(each) == cell]
    kind, leaf = chosen.kind, leaves(chosen.kind, stack.runtime)
    fn = element_function(chosen.capture, chosen.captured, kind, leaf)
    data = [data for _, data in chosen.forms(_forms(stack))]
    with stack.context:
        placed = fl.place(data, fl.CLIENTS, kind.sequence)
        found: list[Any]
        match chosen.operation:
            case "returned":
                found = [placed, fl.sequence_map(fn, placed)]
            case "nested":
                whole = fl.federated_computation(
                    lambda s: operate("reduce of map", s, fn, kind, leaf), kind.sequence
                )
                found = [fl.federated_map(whole, placed)]
            case "passed on":
                found = [fl.federated_map(leaf.read, fl.sequence_map(fn, placed))]
            case operation:
                found = [operate(operation, placed, fn, kind, leaf)]
    expected: list[Any] = [chosen.expected() for _ in data]
    if chosen.operation == "returned":
        expected = [list(column) for column in zip(*expected, strict=True)]
    else:
        expected = [expected]
    assert difference([value.members for value in found], expected) is None


@_cells(
    ("reference", "reduce-structures-captured model"),
    (TENSORFLOW, "map-empty-captured model"),
)
def test_plain_sequences(place: str, cell: str) -> None:
    stack, [chosen] = PLACES[place], [each for each in CELLS if str(each) == cell]
    kind, leaf = chosen.kind, leaves(chosen.kind, stack.runtime)
    fn = element_function(chosen.capture, chosen.captured, kind, leaf)
    with stack.context:
        problems = {
            form: difference(
                operate(chosen.operation, data, fn, kind, leaf), chosen.expected()
            )
            for form, data in chosen.forms(_forms(stack))
        }
    assert problems
    assert not any(problems.values()), problems


def _forms(stack: Stack) -> tuple[str, ...]:
    return FORMS[:-1] if stack.runtime == "numpy" else FORMS
