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


@pytest.mark.parametrize(
    ("place", "cell"),
    [
        ("reference", "sum-structures-no capture"),
        ("reference", "map-ragged-captured model"),
        (NUMPY, "reduce-one-captured scalar"),
        pytest.param(
            *(TENSORFLOW, "reduce of map-structures-captured model"),
            marks=pytest.mark.tensorflow,
        ),
        pytest.param(
            *(TENSORFLOW, "map of map-strings-no capture"), marks=pytest.mark.tensorflow
        ),
    ],
)
def test_operations_run_at_once_on_placed_and_on_plain_sequences(
    place: str, cell: str
) -> None:
    stack, [chosen] = PLACES[place], [each for each in CELLS if str(each) == cell]
    kind, leaf = chosen.kind, leaves(chosen.kind, stack.runtime)
    fn = element_function(chosen.capture, chosen.captured, kind, leaf)

    def run(data: Any) -> Any:
        return operate(chosen.operation, data, fn, kind, leaf)

    with stack.context:
        plain = {form: run(data) for form, data in chosen.forms(_forms(stack))}
        data = [data for _, data in chosen.forms(_forms(stack))]
        placed = run(fl.place(data, fl.CLIENTS, kind.sequence))
    for form, found in plain.items():
        assert difference(found, chosen.expected()) is None, form
    assert difference(placed.members, [chosen.expected() for _ in data]) is None


def _forms(stack: Stack) -> tuple[str, ...]:
    return FORMS[:-1] if stack.runtime == "numpy" else FORMS
