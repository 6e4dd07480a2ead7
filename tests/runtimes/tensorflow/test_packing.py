# SPDX-License-Identifier: Apache-2.0
"""Whose turn it is at each step, and what the columns of a group look like."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedlearn_edu as fl
from fedlearn_edu.executors.batched import Entries, Group, Same
from fedlearn_edu.runtimes.tensorflow.packing import _steps, columns, step_bytes

pytestmark = pytest.mark.tensorflow

ROWS = fl.SequenceType(fl.to_type((np.float32, [None])))


def of(*lengths: int) -> tuple[Any, ...]:
    return tuple(np.zeros(n, np.float32) for n in lengths)


def column(*clients: Any) -> Any:
    found = columns(Group(Entries(clients), ROWS, len(clients)))
    assert found is not None
    return found[0]


@given(st.lists(st.lists(st.integers(0, 2), max_size=4), max_size=5))
def test_everybody_takes_all_steps_in_order(shapes: list[list[int]]) -> None:
    taken: list[list[int]] = [[] for _ in shapes]
    for turn in _steps(shapes):
        assert len({shapes[client][number] for client, number in turn}) == 1
        for client, number in turn:
            taken[client].append(number)
    assert taken == [list(range(len(own))) for own in shapes]


def test_small_batches_at_the_end_are_steps_together() -> None:
    turns = list(_steps([[3, 3, 1], [3, 1], [3, 3, 3, 2]]))
    whose = [[client for client, _ in turn] for turn in turns]
    assert whose == [[0, 1, 2], [0, 2], [0, 1], [2], [2]]


def test_even_sequences_are_one_tensor() -> None:
    even = column(of(2, 2, 2), of(2, 2, 2))
    assert even.is_even
    assert [tuple(tensor.shape) for tensor in even.tensors] == [(3, 2, 2)]
    assert column(of(), of()).is_even
    assert not column(of(2, 2), of(2, 1)).is_even
    assert not column(of(2, 2), of(2)).is_even


@pytest.mark.parametrize(
    ("clients", "even", "rest"),
    [
        ([of(3, 3, 3, 1), of(3, 3, 2)], (2, 2, 3), 6),
        ([of(2, 1, 2), of(2, 1, 2)], (1, 2, 2), 6),
        ([of(2), of()], (0, 2, 2), 2),
    ],
    ids=["smaller-ends", "another-shape-between", "nothing"],
)
def test_what_all_do_first_is_one_tensor_and_the_rest_is_packed(
    clients: list[Any], even: tuple[int, ...], rest: int
) -> None:
    first, others, *_ = column(*clients).tensors
    assert tuple(first.shape) == even
    assert tuple(others.shape) == (rest,)


def test_a_step_is_as_large_as_what_one_client_reads() -> None:
    assert step_bytes(column(of(2, 2, 2), of(2, 2, 2)), ROWS, 2) == 8
    assert step_bytes(column(of(4, 4), of(4)), ROWS, 2) == pytest.approx(12)
    shared = columns(Group(Same(of(2, 2, 2), 5), ROWS, 5))
    assert shared is not None
    assert step_bytes(shared[0], ROWS, 5) == 8
