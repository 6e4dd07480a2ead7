# SPDX-License-Identifier: Apache-2.0
"""The subtle behaviors a re-implementer is most likely to get wrong, one test each.

The cases and their order are those of the list `docs/from_tff.md` goes through; each
docstring says whether we follow the ancestor or differ from it, and how.
"""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import (
    CardinalityError,
    ComputationReturnedNoneError,
    ContextError,
    TracingError,
    TypeMismatchError,
    UnsupportedIntrinsicError,
)
from tests.programs import (
    FLOATS,
    INT,
    INT_AT_SERVER,
    INTS,
    NUMBERS,
    TEXT,
    add,
    increment,
    local,
    same,
    signature,
)

fw = fl.framework
EQUAL = fl.type_at_clients(INT, all_equal=True)


# ------------------------------------------------------------- the ten, worst first


@pytest.mark.tensorflow
def test_1_tensorflow_may_read_a_lazily_mapped_sequence() -> None:
    """differs: it hung there; here the reader's thread runs the element function."""
    grow = fl.tf_computation(lambda x: x + 1, np.int32)
    add_up = fl.tf_computation(lambda d: d.reduce(0, lambda s, x: s + x), NUMBERS)
    program = fl.federated_computation(
        lambda v: fl.federated_map(add_up, fl.sequence_map(grow, v)),
        fl.type_at_clients(NUMBERS),
    )
    with local(support_sequence_ops=True):
        assert program([[1, 2, 3], [], [10]]) == [9, 0, 11]


def test_2_aggregation_follows_the_order_of_the_clients() -> None:
    """differs: members were folded as they arrived there, here in client order."""
    put = fl.np_computation(lambda s, x: s + x, TEXT, TEXT)
    keep = fl.np_computation(lambda s: s, TEXT)
    folded = fl.federated_computation(
        lambda v: fl.federated_aggregate(v, "", put, put, keep),
        fl.type_at_clients(TEXT),
    )
    summed = fl.federated_computation(lambda v: fl.federated_sum(v), FLOATS)
    values = [np.float32(0.1) ** i for i in range(9)]
    for fanout in (2, 3, 100):
        with local(max_fanout=fanout):
            assert folded(list("abcdefghi")) == b"abcdefghi"
            assert len({summed(values).tobytes() for _ in range(5)}) == 1


def test_3_a_zero_that_is_not_neutral_counts_once_for_each_group() -> None:
    """follows the ancestor: 16 in one group, 18 with fan-out 2, 17 with fan-out 3."""
    program = fl.federated_computation(
        lambda v: fl.federated_aggregate(v, 1, add, add, same), INTS
    )
    results = {}
    for fanout in (100, 2, 3):
        with local(max_fanout=fanout):
            results[fanout] = int(program([1, 2, 3, 4, 5]))
    assert results == {100: 16, 2: 18, 3: 17}


def test_4_assignability_goes_one_way_and_numbers_convert_at_the_border_only() -> None:
    """follows the ancestor in all four rules, and in converting Python numbers."""
    one_way = [
        ("int32[?]", "int32[3]"),
        ("{int32}@CLIENTS", "int32@CLIENTS"),
        ("<a=int32>", "<int32>"),
        ("(int32[3] -> int32)", "(int32[?] -> int32)"),
    ]
    for target, source in one_way:
        assert fl.parse_type(target).is_assignable_from(fl.parse_type(source))
        assert not fl.parse_type(source).is_assignable_from(fl.parse_type(target))
    as_list, as_tuple = fl.to_type([np.int32]), fl.to_type((np.int32,))
    assert as_list.is_equivalent_to(as_tuple)
    assert as_list != as_tuple
    with pytest.raises(TypeMismatchError, match="float32"):
        fl.federated_computation(lambda x: increment(x), np.float32)
    echo = fl.np_computation(lambda x: x, np.float32)
    assert [echo(1).dtype, echo(np.int64(1)).dtype] == [np.float32] * 2


@pytest.mark.tensorflow
def test_4_a_tensor_is_not_converted_at_the_border() -> None:
    """follows the ancestor."""
    echo = fl.np_computation(lambda x: x, np.float32)
    with pytest.raises(TypeMismatchError, match="float32"):
        echo(fl.tf.constant(1, fl.tf.int32))


def test_5_all_equal_is_a_bit_of_the_type() -> None:
    """follows the ancestor; differs: nobody's value was an IndexError there."""
    pair = fl.type_at_clients(OrderedDict(a=INT), all_equal=True)
    assert signature(lambda v: fl.federated_map(increment, v), EQUAL).endswith(
        "-> {int32}@CLIENTS)"
    )
    assert signature(lambda v: v.a, pair).endswith("-> int32@CLIENTS)")
    assert signature(lambda v: fl.federated_zip([v, v]), EQUAL).endswith(
        "-> {<int32,int32>}@CLIENTS)"
    )
    assert signature(lambda v: fl.federated_broadcast(v), INT_AT_SERVER).endswith(
        "-> int32@CLIENTS)"
    )
    returned = fl.federated_computation(lambda v: v, EQUAL)
    summed = fl.federated_computation(lambda v: fl.federated_sum(v), EQUAL)
    with local(default_num_clients=0):
        assert summed(5) == 0
        with pytest.raises(CardinalityError, match="0 clients"):
            returned(5)


def test_6_captured_values_travel_and_names_do_not_clash() -> None:
    """differs: there, an intrinsic took a capturing function, and failed later."""

    def f(x: Any, v: Any) -> Any:
        def f(y: Any) -> Any:  # the same name, and a parameter of its own
            inner = fl.federated_computation(lambda x: add(add(x, y), x_outer), INT)
            return inner(y)

        x_outer = x
        return fl.federated_map(fl.federated_computation(f, INT), v)

    program = fl.federated_computation(f, INT, INTS)
    assert program(100, [1, 2]) == [102, 104]
    with pytest.raises(TracingError, match="'v'"):
        fl.federated_computation(
            lambda v: fl.federated_map(
                fl.federated_computation(lambda x: [x, fl.federated_sum(v)][0], INT), v
            ),
            INTS,
        )


def test_7_one_positional_argument_is_the_whole_argument() -> None:
    """follows the ancestor, and its reading of two types for one or two parameters."""
    assert add([1, 2]) == 3
    with pytest.raises(TypeError, match="a=int32,b=int32"):
        add(1)
    assert signature(lambda x: x[0], INT, INT) == "(<int32,int32> -> int32)"
    assert signature(lambda a, b: a, INT, INT) == "(<a=int32,b=int32> -> int32)"


def test_8_containers_travel_beside_the_types() -> None:
    """follows the ancestor; differs: a plain dict argument goes by name, not sorted."""
    type_ = OrderedDict(b=INT, a=INT)
    assert str(fl.to_type(type_)) == str(fl.to_type([("b", INT), ("a", INT)]))
    program = fl.federated_computation(lambda p: [p.b, (p.a,)], type_)
    for argument in ({"a": 1, "b": 2}, OrderedDict(b=2, a=1), (2, 1)):
        assert program(argument) == [2, (1,)]
    mean = fl.federated_computation(
        lambda v: OrderedDict(m=fl.federated_mean(v)), FLOATS
    )  # expanded before it runs; the container comes back all the same
    assert mean([1.0, 3.0]) == OrderedDict(m=2.0)
    assert fl.np_computation(lambda: {"b": 1, "a": 2})() == {"a": 2, "b": 1}
    with pytest.raises(TracingError, match="OrderedDict"):
        fl.federated_computation(lambda: {"b": 1, "a": 2})


def test_9_support_is_decided_before_anything_runs() -> None:
    """differs: it was decided late, by the last layer; and most of it works here."""
    ran = []

    @fl.np_computation(np.int32)
    def noted(x: Any) -> Any:
        ran.append(x)
        return x

    program = fl.federated_computation(
        lambda x, s: [noted(x), fl.sequence_sum(s)], INT, NUMBERS
    )
    ran.clear()
    with (
        local(),
        pytest.raises(UnsupportedIntrinsicError, match="sequence_sum") as caught,
    ):
        program(5, [1, 2])
    assert ran == []
    assert "support_sequence_ops=True" in str(caught.value.do)
    with local(support_sequence_ops=True):
        assert program(5, [1, 2]) == [5, 3]
        works = fl.federated_computation(
            lambda v, w: [
                fl.federated_sum(v + 1),
                fl.federated_secure_sum(v, 10),
                fl.federated_mean(v / 2, w),
            ],
            INTS,
            INTS,
        )
        assert works([1, 2], [1, 3]) == [5, 3, 0.875]


def test_10_error_classes_are_part_of_the_behavior() -> None:
    """differs: calling data was a SyntaxError; a wrong count was no ValueError."""
    with pytest.raises(TypeError, match="only functions"):
        fl.federated_computation(lambda x: x(), INT)
    pair = fl.federated_computation(lambda v, w: v, INTS, INTS)
    with pytest.raises(ValueError, match="disagree") as caught:
        pair([1], [1, 2])
    assert isinstance(caught.value, CardinalityError)
    server = fl.FederatedType(INT, fl.SERVER, all_equal=False)
    with pytest.raises(CardinalityError, match="SERVER"):
        fl.federated_computation(lambda v: v, server)([1, 2])
    with pytest.raises(TypeError, match="CLIENTS"):
        pair(5, [1])
    with pytest.raises(RuntimeError, match="outside the body") as misuse:
        fl.np_computation(lambda x: fl.federated_value(x, fl.SERVER), INT)
    assert isinstance(misuse.value, ContextError)
    with pytest.raises(ValueError, match="returned None") as nothing:
        fl.federated_computation(lambda x: None, INT)
    assert isinstance(nothing.value, ComputationReturnedNoneError)


# ------------------------------------------------------------- further traps


def test_a_value_is_drawn_once_and_an_evaluation_by_each_client() -> None:
    """follows the ancestor."""
    numbers = iter(range(1000))
    draw = fl.np_computation(lambda: np.int32(next(numbers)))
    copied = fl.federated_computation(
        lambda: fl.federated_map(same, fl.federated_value(draw(), fl.CLIENTS))
    )
    drawn = fl.federated_computation(lambda: fl.federated_eval(draw, fl.CLIENTS))
    with local(default_num_clients=3):
        assert len(set(copied())) == 1
        assert len(set(drawn())) == 3


@pytest.mark.tensorflow
def test_batches_of_any_size_make_a_sequence_and_so_do_none() -> None:
    """differs: there, only the last batch might have another size."""
    batches = fl.SequenceType(fl.TensorType(np.int32, [None]))
    add_up = fl.tf_computation(
        lambda d: d.reduce(0, lambda s, batch: s + fl.tf.reduce_sum(batch)), batches
    )
    assert add_up([[1, 2], [3, 4], [5]]) == 15
    assert add_up([[1], [2, 3, 4], [5]]) == 15
    assert add_up([]) == 0
