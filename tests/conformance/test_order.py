# SPDX-License-Identifier: Apache-2.0
"""Client order, zero and merge: who folds what, told by text that shows it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedlearn_edu as fl
from fedlearn_edu.framework import Context, ReferenceContext
from tests.conformance.by_hand import Late, context_over, flat, grouped, participant
from tests.programs import local

STRINGS = fl.type_at_clients(np.str_)


def _history() -> Any:
    """`(zero+a)` for one step, `[left|right]` for one merge, `!` for the report."""
    step = fl.np_computation(lambda s, x: b"(" + s + b"+" + x + b")", np.str_, np.str_)
    merge = fl.np_computation(lambda s, t: b"[" + s + b"|" + t + b"]", np.str_, np.str_)
    report = fl.np_computation(lambda s: s + b"!", np.str_)
    return fl.federated_computation(
        lambda v: fl.federated_aggregate(v, "0", step, merge, report), STRINGS
    )


HISTORY = _history()

FLAT = "(((((0+a)+b)+c)+d)+e)!"
IN_TWOS = "[[((0+a)+b)|((0+c)+d)]|(0+e)]!"
IN_THREES = "[(((0+a)+b)+c)|((0+d)+e)]!"


def _in_groups_of(size: int) -> Context:
    return local(max_fanout=size)


def _run(context: Context, computation: Any, argument: Any) -> Any:
    with context:
        return computation(argument)


@pytest.mark.parametrize(
    ("fanout", "text"),
    [(100, FLAT), (6, FLAT), (5, FLAT), (3, IN_THREES), (2, IN_TWOS)],
)
def test_fold_and_merge_follow_client_order(fanout: int, text: str) -> None:
    """Groups are folded from zero in order, merged in order, reported once."""
    assert _run(_in_groups_of(fanout), HISTORY, list("abcde")) == text.encode()


def test_reference_folds_all_clients_as_one_group() -> None:
    assert _run(ReferenceContext(), HISTORY, list("abcde")) == FLAT.encode()


@pytest.mark.parametrize(
    ("values", "text"), [("", "0!"), ("a", "(0+a)!"), ("ab", "((0+a)+b)!")]
)
def test_few_clients_are_folded_like_many(values: str, text: str) -> None:
    """Over nobody the report sees zero; one client is folded once."""
    for context in (ReferenceContext(), _in_groups_of(100), _in_groups_of(3)):
        assert _run(context, HISTORY, list(values)) == text.encode()


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ([5], FLAT),
        ([1, 4], "[(0+a)|((((0+b)+c)+d)+e)]!"),
        ([2, 0, 3], "[[((0+a)+b)|0]|(((0+c)+d)+e)]!"),
        ([0, 5], "[0|(((((0+a)+b)+c)+d)+e)]!"),
    ],
)
def test_groups_of_any_size_are_merged_in_order(sizes: list[int], text: str) -> None:
    """An empty group is its zero."""
    assert _run(context_over(grouped(sizes)), HISTORY, list("abcde")) == text.encode()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6))
def test_fold_follows_client_order_whoever_is_late(turns: list[int]) -> None:
    """Clients finish in any order; the server folds them in theirs."""
    names = "abcdef"[: len(turns)]
    late = flat([Late(participant(), wait) for wait in turns])
    with ReferenceContext():
        expected = HISTORY(list(names))
    assert _run(context_over(late), HISTORY, list(names)) == expected


@pytest.mark.tensorflow
@pytest.mark.parametrize("fanout", [100, 2])
def test_threads_do_not_change_the_order(fanout: int) -> None:
    """On TensorFlow's threads, too, ten times over."""
    tf_same = fl.tf_computation(lambda name: name, np.str_)
    program = fl.federated_computation(
        lambda v: HISTORY(fl.federated_map(tf_same, v)), STRINGS
    )
    context = _in_groups_of(fanout)
    with context:
        found = {program(list("abcde")) for _ in range(10)}
    assert found == {(FLAT if fanout == 100 else IN_TWOS).encode()}
