# SPDX-License-Identifier: Apache-2.0
"""The log is complete and in order: without the computation it gives the same result."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.simulation.log.replaying import results_of
from fedlearn_edu.testing.case import Case
from fedlearn_edu.testing.cases import cases
from fedlearn_edu.testing.comparison import difference
from tests.programs import FLOATS, INTS, add, increment

NUMPY_CASES = list(cases())


def check_order(tape: fl.framework.Tape) -> None:
    """Operands were made by earlier events of the same layer, callers are open."""
    events = tape.events
    assert [event.number for event in events] == list(range(len(events)))
    by_number = dict(enumerate(events))
    for event in events:
        for number in event.operands:
            made = by_number[number]
            assert made.end_s <= event.start_s
            assert (made.layer, made.participant) == (event.layer, event.participant)
        if event.caller is not None:
            caller = by_number[event.caller]
            assert event.caller < event.number
            assert caller.start_s <= event.start_s
            assert event.end_s <= caller.end_s


@pytest.mark.parametrize("fanout", [100, 2], ids=["flat", "groups"])
@pytest.mark.parametrize("case", NUMPY_CASES, ids=lambda case: case.name)
def test_a_replay_gives_what_the_run_gave(case: Case, fanout: int) -> None:
    with fl.record(max_fanout=fanout) as tape:
        result = case.run()
    check_order(tape)
    [replayed] = results_of(tape)
    assert difference(replayed, result) is None
