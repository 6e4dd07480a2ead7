# SPDX-License-Identifier: Apache-2.0
"""How many participants an argument implies."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.contexts.arguments import infer_cardinalities
from fedlearn_edu.errors import CardinalityError
from fedlearn_edu.framework import ReferenceContext
from fedlearn_edu.types import normalize
from tests.programs import INT, INT_AT_SERVER, INTS, NUMBERS_AT_CLIENTS, local

EQUAL = fl.type_at_clients(INT, all_equal=True)
NOT_EQUAL_AT_SERVER = fl.FederatedType(INT, fl.SERVER, all_equal=False)


@pytest.mark.parametrize(
    ("type_", "argument", "counts"),
    [
        (INTS, [1, 2, 3], {fl.CLIENTS: 3}),
        (INTS, [], {fl.CLIENTS: 0}),
        (NUMBERS_AT_CLIENTS, [[1, 2, 3], []], {fl.CLIENTS: 2}),
        (EQUAL, 5, {}),
        (INT_AT_SERVER, 5, {}),
        (INT, 5, {}),
        (NOT_EQUAL_AT_SERVER, [5], {fl.SERVER: 1}),
        ([INTS, INT_AT_SERVER], [[1, 2], 5], {fl.CLIENTS: 2}),
        (OrderedDict(a=INT, b=[INTS, INTS]), (1, ([1], [2])), {fl.CLIENTS: 1}),
        ([EQUAL, INTS], [5, [1, 2]], {fl.CLIENTS: 2}),
        (OrderedDict(ab=INTS), OrderedDict(ab=[1, 2, 3]), {fl.CLIENTS: 3}),
        (OrderedDict(b=INTS, a=INT), {"a": 1, "b": range(4)}, {fl.CLIENTS: 4}),
        (INTS, fl.place([1, 2], fl.CLIENTS), {fl.CLIENTS: 2}),
    ],
    ids=str,
)
def test_members_are_counted_and_equal_ones_are_not(
    type_: Any, argument: Any, counts: Any
) -> None:
    """The argument is as users write it, or in plain form already."""
    assert infer_cardinalities(argument, type_) == counts
    plain = normalize(argument, fl.to_type(type_))
    assert infer_cardinalities(plain, type_) == counts


def test_no_argument_implies_nothing() -> None:
    assert infer_cardinalities(None, None) == infer_cardinalities(None, INTS) == {}


@pytest.mark.parametrize(
    "argument", [[1, 2], (1, 2), np.array([1, 2]), range(1, 3), iter([1, 2])], ids=type
)
def test_members_come_in_any_order_that_can_be_read(argument: Any) -> None:
    """differs: the ancestor refused arrays and generators."""
    assert fl.federated_computation(lambda v: v, INTS)(argument) == [1, 2]


def test_a_server_has_one_participant() -> None:
    program = fl.federated_computation(lambda v: v, NOT_EQUAL_AT_SERVER)
    assert program([5]) == [5]
    with pytest.raises(CardinalityError, match="SERVER"):
        program([5, 6])


EVERYWHERE = fl.federated_broadcast(fl.place(np.int32(5), fl.SERVER))
EACH = fl.place([1, 2, 3], fl.CLIENTS, INT)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((EVERYWHERE, [EACH, EACH]), [7, 9, 11]),
        ((EACH, [EVERYWHERE, [1, 2, 3]]), [7, 9, 11]),
        (([1, 2, 3], [EVERYWHERE, EVERYWHERE]), [11, 12, 13]),
        ((EVERYWHERE, [EVERYWHERE, []]), []),
        ((EVERYWHERE, [EVERYWHERE, EVERYWHERE]), [15, 15]),
    ],
)
@pytest.mark.parametrize("max_fanout", [None, 100, 2])
def test_one_value_for_all_is_held_by_as_many_as_there_are(
    max_fanout: int | None, arguments: Any, expected: Any
) -> None:
    """The other arguments say how many, or else the default of the context."""
    total = fl.np_computation(lambda a, b: a + b[0] + b[1], INT, [INT, INT])
    program = fl.federated_computation(
        lambda a, b: fl.federated_map(total, (a, fl.federated_zip(b))),
        INTS,
        [INTS, INTS],
    )
    with local(2, max_fanout) if max_fanout else ReferenceContext(2):
        assert program(*arguments) == expected


@pytest.mark.parametrize("context", [ReferenceContext(), local()])
def test_one_value_for_all_stands_beside_sequences(context: Any) -> None:
    total = fl.np_computation(lambda m, d: m + sum(d), INT, fl.SequenceType(INT))
    sequences = fl.type_at_clients(fl.SequenceType(INT))
    program = fl.federated_computation(
        lambda m, d: fl.federated_map(total, (m, d)), INTS, sequences
    )
    with context:
        assert program(EVERYWHERE, [[1], iter([2, 3])]) == [6, 10]


def test_one_value_at_the_server_is_held_by_its_one_member() -> None:
    program = fl.federated_computation(lambda v: v, NOT_EQUAL_AT_SERVER)
    assert program(fl.place(np.int32(5), fl.SERVER)) == [5]


def test_a_function_may_return_one_value_for_all_where_members_are_promised() -> None:
    made = fl.federated_computation(lambda f: f(), fl.FunctionType(None, INTS))
    equal = fl.federated_computation(lambda: fl.federated_value(5, fl.CLIENTS))
    with local(default_num_clients=2):
        assert made(equal) == [5, 5]
