# SPDX-License-Identifier: Apache-2.0
"""Groups of groups, and masks."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.masks import pairwise_masks
from fedlearn_edu.structure import Struct
from tests.executors.examples import call, counted, federating, run
from tests.programs import INT_AT_SERVER, TEXT, add, seven

fw = fl.framework
factory = fw.FederatedComposingStrategy.factory


def composed(server: Any, *counts: int) -> Any:
    """A stack over flat groups of so many clients."""
    children = [federating(count) for count in counts]
    return fw.FederatingExecutor(factory(server, children, counts), counted())


def above(executor: Any) -> Any:
    return fw.ReferenceResolvingExecutor(executor)


CONCATENATE = fl.np_computation(lambda s, x: b"(" + s + b"+" + x + b")", TEXT, TEXT)
MERGE = fl.np_computation(lambda s, t: b"[" + s + b"|" + t + b"]", TEXT, TEXT)
KEEP = fl.np_computation(lambda s: s + b"!", TEXT)


def fold_letters(executor: Any, letters: str) -> Any:
    program = fl.federated_computation(
        lambda v: fl.federated_aggregate(v, "0", CONCATENATE, MERGE, KEEP),
        fl.type_at_clients(TEXT),
    )
    return run(call(executor, program, tuple(letter.encode() for letter in letters)))


def test_hierarchies_can_be_composed_again() -> None:
    inner = [composed(counted(), 1, 1), composed(counted(), 2)]
    executor = fw.FederatingExecutor(factory(counted(), inner, [2, 2]), counted())
    assert fold_letters(above(executor), "abcd") == b"[[(0+a)|(0+b)]|((0+c)+d)]!"


def test_server_work_is_done_by_the_server_above() -> None:
    server = counted()
    program = fl.federated_computation(
        lambda s: fl.federated_map(add, fl.federated_zip([s, s])), INT_AT_SERVER
    )
    executor = above(composed(server, 2, 1))
    assert run(call(executor, program, np.int32(5))) == 10
    assert server.calls["create_call"] == 1


def test_a_group_without_clients_does_no_harm() -> None:
    program = fl.federated_computation(
        lambda m: fl.federated_broadcast(m), INT_AT_SERVER
    )
    assert run(call(above(composed(counted(), 0, 2)), program, np.int32(5))) == 5


@pytest.mark.parametrize(
    ("placement", "result"), [(fl.SERVER, 7), (fl.CLIENTS, (7, 7, 7))], ids=str
)
def test_evaluating_happens_where_it_is_asked_for(placement: Any, result: Any) -> None:
    server = counted()
    program = fl.federated_computation(lambda: fl.federated_eval(seven, placement))
    assert run(call(above(composed(server, 2, 1)), program)) == result
    assert server.calls["create_call"] == (placement is fl.SERVER)


# ----------------------------------------
# Masks hide each client's value, and cancel in the sum


DTYPES = [np.int32, np.int64, np.uint8]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 33])
def test_masks_sum_to_zero(dtype: type, count: int) -> None:
    masks = pairwise_masks(np.zeros([4], dtype), count)
    assert [mask.dtype for mask in masks] == [np.dtype(dtype)] * count
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.sum(masks, axis=0, dtype=dtype), np.zeros(4))


@pytest.mark.parametrize("count", [2, 3, 5, 33])
def test_nobody_beside_others_sends_a_bare_value(count: int) -> None:
    masks = pairwise_masks(np.zeros([8], np.int64), count)
    assert all(np.any(mask != 0) for mask in masks)


def test_a_lone_client_has_nobody_to_hide_behind() -> None:
    assert tuple(pairwise_masks(np.int32(0), 1)) == (0,)
    assert tuple(pairwise_masks(np.int32(0), 0)) == ()


def test_every_call_draws_new_masks() -> None:
    once, again = (pairwise_masks(np.zeros([8], np.int64), 3) for _ in range(2))
    assert not np.array_equal(once[0], again[0])


def test_a_structure_is_masked_leaf_by_leaf() -> None:
    prototype = Struct.named(a=np.int32(0), b=np.zeros([2], np.int64))
    masks = pairwise_masks(prototype, 2)
    assert [mask.names() for mask in masks] == [("a", "b")] * 2
    with np.errstate(over="ignore"):
        assert masks[0].a + masks[1].a == 0
        np.testing.assert_array_equal(masks[0].b + masks[1].b, [0, 0])
