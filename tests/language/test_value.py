# SPDX-License-Identifier: Apache-2.0
"""What a `Value` supports: the table of semantics 2.7."""

import operator
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import TracingError, TypeMismatchError
from tests.programs import FLOAT, INT, INT_AT_SERVER, INTS, traced

AB = OrderedDict(a=np.int32, b=np.bool_)
STRUCTS = {
    "unplaced": (fl.to_type(AB), "{}"),
    "clients": (fl.type_at_clients(AB), "{{{}}}@CLIENTS"),
    "all-equal": (fl.type_at_clients(AB, all_equal=True), "{}@CLIENTS"),
    "server": (fl.type_at_server(AB), "{}@SERVER"),
}


@pytest.fixture(params=STRUCTS)
def struct(request: pytest.FixtureRequest) -> Any:
    """A structure type, and how the type of one of its fields looks."""
    return STRUCTS[request.param]


@pytest.mark.parametrize(
    "pick",
    [lambda v: v.b, lambda v: v["b"], lambda v: v[1], lambda v: list(v)[1]],
    ids=["attribute", "name", "index", "iteration"],
)
def test_a_field_keeps_placement_and_all_equal_bit(
    struct: Any, pick: Callable[[Any], Any]
) -> None:
    type_, pattern = struct
    assert str(traced(pick, type_).type_signature) == pattern.format("bool")


@pytest.mark.parametrize(
    ("cut", "fields"),
    [
        (lambda v: v[0:1], "<a=int32>"),
        (lambda v: v[:], "<a=int32,b=bool>"),
        (lambda v: v[::-1], "<b=bool,a=int32>"),
        (lambda v: v[0:0], "<>"),
    ],
    ids=["head", "all", "reversed", "empty"],
)
def test_a_slice_is_a_structure_with_its_names(
    struct: Any, cut: Callable[[Any], Any], fields: str
) -> None:
    """differs: there, an unplaced slice lost its names, and an empty one failed."""
    type_, pattern = struct
    assert str(traced(cut, type_).type_signature) == pattern.format(fields)


def test_a_slice_holds_the_values_of_its_fields() -> None:
    three = [INT, INT, INT]
    assert fl.federated_computation(lambda v: v[1:], three)([1, 2, 3]) == (2, 3)
    at_clients = fl.federated_computation(lambda v: v[1:], fl.type_at_clients(three))
    assert at_clients([[1, 2, 3], [4, 5, 6]]) == [(2, 3), (5, 6)]


def test_a_structure_has_a_length_and_unpacks(struct: Any) -> None:
    type_, pattern = struct

    def body(value: Any) -> Any:
        assert len(value) == 2
        a, _ = value
        return a

    assert str(traced(body, type_).type_signature) == pattern.format("int32")


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda v: v.z, AttributeError),
        (lambda v: v["z"], AttributeError),
        (lambda v: v[2], IndexError),
        (lambda v: v[-1], IndexError),
        (lambda v: v[1.0], (IndexError, TypeError)),
        (lambda v: v.keys(), AttributeError),
        (lambda v: v.items(), AttributeError),
    ],
    ids=["attribute", "name", "too large", "negative", "float", "keys", "items"],
)
def test_a_field_that_is_not_there_is_refused(
    struct: Any, wrong: Callable[[Any], Any], error: Any
) -> None:
    """differs: a bad index of a federated structure was a ValueError."""
    with pytest.raises(error):
        traced(wrong, struct[0])


def test_an_unknown_field_is_answered_with_the_known_ones(struct: Any) -> None:
    with pytest.raises(AttributeError, match="a, b") as caught:
        traced(lambda v: v.z, struct[0])
    assert "'z'" in str(caught.value)


@pytest.mark.parametrize("type_", [INT, INTS, INT_AT_SERVER], ids=str)
def test_what_is_no_structure_has_no_fields(type_: Any) -> None:
    with pytest.raises(AttributeError, match="'a'"):
        traced(lambda v: v.a, type_)
    for use in (lambda v: v[0], len, list, lambda v: v["a"], lambda v: v[:]):
        with pytest.raises(TracingError, match="structure"):
            traced(use, type_)


# ------------------------------------------------------------------ calls


PAIR_FUNCTION = fl.FunctionType(OrderedDict(p=np.int32, q=np.int32), np.int32)


@pytest.mark.parametrize(
    "call", [lambda f: f(1, 2), lambda f: f(q=1, p=2), lambda f: f([1, 2])]
)
def test_a_function_value_is_called_like_a_computation(
    call: Callable[[Any], Any],
) -> None:
    assert str(traced(call, PAIR_FUNCTION).type_signature) == "int32"


@pytest.mark.parametrize(
    "call", [lambda f: f(), lambda f: f(1), lambda f: f(1.5, 2), lambda f: f(p=1)]
)
def test_a_function_value_checks_its_arguments(call: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="p=int32,q=int32"):
        traced(call, PAIR_FUNCTION)


@pytest.mark.parametrize("type_", [INT, INTS, fl.to_type(AB)], ids=str)
def test_only_functions_can_be_called(type_: Any) -> None:
    """differs: the ancestor raised a SyntaxError."""
    with pytest.raises(TracingError, match="only functions can be called"):
        traced(lambda v: v(1), type_)


# ------------------------------------------------------------------ operators


OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


@pytest.mark.parametrize("symbol", OPERATORS)
@pytest.mark.parametrize(
    ("type_", "argument", "pick"),
    [
        (FLOAT, 6, lambda r: r),
        (fl.type_at_server(FLOAT), 6, lambda r: r),
        (fl.type_at_clients(FLOAT), [6], lambda r: r[0]),
        ([FLOAT], [6], lambda r: r[0]),
    ],
    ids=["unplaced", "server", "clients", "struct"],
)
def test_arithmetic_runs_on_every_stack(
    symbol: str, type_: Any, argument: Any, pick: Callable[[Any], Any]
) -> None:
    """differs: there was `+` only, and it ran only under a compiler that rewrote it."""
    fn = OPERATORS[symbol]
    made = fl.federated_computation(lambda v: [fn(v, v), fn(v, 2)], type_)
    with_itself, with_number = made(argument)
    expected = (fn(6.0, 6.0), fn(6.0, 2.0))
    assert (pick(with_itself), pick(with_number)) == expected


@pytest.mark.parametrize("symbol", OPERATORS)
def test_a_number_may_stand_on_the_left(symbol: str) -> None:
    """differs: the ancestor had no reflected operators."""
    fn = OPERATORS[symbol]
    made = fl.federated_computation(lambda v: fn(2, v), FLOAT)
    assert made(4) == fn(2.0, 4.0)


def test_operators_keep_the_placement() -> None:
    assert str(traced(lambda v: v + v, INT_AT_SERVER).type_signature) == "int32@SERVER"
    assert str(traced(lambda v: v * 2, INTS).type_signature) == "{int32}@CLIENTS"


def test_a_structure_is_combined_leaf_by_leaf() -> None:
    type_ = OrderedDict(a=np.float32, b=(np.float32, [2]))
    doubled = fl.federated_computation(lambda v: v + v, type_)
    result = doubled(a=1, b=[2, 3])
    assert result["a"] == 2
    np.testing.assert_array_equal(result["b"], [4, 6])


def test_dividing_integers_gives_floats() -> None:
    assert fl.federated_computation(lambda v: v / 2, INT)(5) == 2.5


@pytest.mark.parametrize(
    ("combine", "type_"),
    [
        (lambda v: v + 1.5, INT),
        (lambda v: v + "a", INT),
        (lambda v: v + v, np.bool_),
        (lambda v: v + v, np.str_),
        (lambda v: v[0] + v[1], [INT, FLOAT]),
        (lambda v: v[0] + v[1], [fl.TensorType(np.int32, [2]), [INT]]),
        (lambda v: v + v, fl.SequenceType(INT)),
    ],
)
def test_what_does_not_add_up_is_refused(
    combine: Callable[[Any], Any], type_: Any
) -> None:
    with pytest.raises(TypeMismatchError):
        traced(combine, type_)


OTHERS = {
    **{"**": operator.pow, "%": operator.mod, "//": operator.floordiv},
    **{"@": operator.matmul, "divmod": divmod, "&": operator.and_, "|": operator.or_},
    **{"^": operator.xor, "<<": operator.lshift, ">>": operator.rshift},
}


@pytest.mark.parametrize("symbol", OTHERS)
def test_other_operators_say_where_to_write_them(symbol: str) -> None:
    fn, placed = OTHERS[symbol], fl.place([1, 2], fl.CLIENTS)
    with pytest.raises(TracingError, match="inside an np_computation"):
        traced(lambda v: fn(v, 2), INT)
    with pytest.raises(TracingError, match="through federated_map"):
        traced(lambda v: fn(2, v), INTS)
    for pair in ((placed, 2), (2, placed)):
        with pytest.raises(TypeMismatchError, match="federated_map that"):
            fn(*pair)


@pytest.mark.parametrize(
    "use", [abs, operator.invert, round, lambda v: 1 in v, lambda v: v < 2]
)
def test_so_do_operators_of_one_value(use: Callable[[Any], Any]) -> None:
    with pytest.raises(TracingError, match="inside an np_computation"):
        traced(use, INT)


def test_a_sign_may_stand_before_a_value() -> None:
    made = fl.federated_computation(lambda v: [-v, +v], [INT])
    assert made([2]) == [[-2], [2]]
    assert -fl.place([1, 2], fl.CLIENTS) == [-1, -2]


def _delete(v: Any) -> None:
    del v.a


@pytest.mark.parametrize(
    "change", [lambda v: setattr(v, "a", 1), lambda v: v.__setitem__(0, 1), _delete]
)
def test_a_value_cannot_be_changed(change: Callable[[Any], Any]) -> None:
    for type_ in (OrderedDict(a=np.int32), INT, INTS):
        with pytest.raises(fl.FedLearnError, match="cannot be changed"):
            traced(change, type_)


# ------------------------------------------------------------------ the rest


@pytest.mark.parametrize(
    "use", [bool, lambda v: v and 1, lambda v: not v, lambda v: 1 if v else 2]
)
def test_a_value_has_no_truth(use: Callable[[Any], Any]) -> None:
    with pytest.raises(TracingError, match="not true or false yet"):
        traced(use, np.bool_)


@pytest.mark.parametrize(
    "compare",
    [
        lambda v: v == 1,
        lambda v: v != 1,
        lambda v: v[0] == v[1],
        lambda v: v < 1,
        lambda v: v >= 1,
        lambda v: 1 in v,
    ],
)
def test_values_cannot_be_compared(compare: Callable[[Any], Any]) -> None:
    """differs: in the ancestor `==` compared the stand-ins, and was False."""
    with pytest.raises(TracingError, match="cannot be compared yet"):
        traced(compare, [INT, INT])


@pytest.mark.parametrize("use", [float, int, range, np.sqrt, np.asarray])
def test_a_value_is_no_number_for_python_and_numpy(use: Callable[[Any], Any]) -> None:
    with pytest.raises(TracingError, match="yet"):
        traced(use, FLOAT)


@pytest.mark.parametrize("number", [np.float32(2), np.array([2, 3], np.float32)])
def test_a_numpy_number_combines_with_a_value(number: Any) -> None:
    type_ = fl.TensorType(np.float32, number.shape)
    made = fl.federated_computation(lambda v: number * v, type_)
    np.testing.assert_array_equal(made(number), number * number)


def test_a_value_lists_its_fields_for_completion(struct: Any) -> None:
    names = traced(dir, struct[0])
    assert {"a", "b", "type_signature"} <= set(names)


def test_unnamed_fields_are_not_offered_for_completion() -> None:
    assert traced(dir, fl.to_type([("a", INT), INT])).count("a") == 1
    assert None not in traced(dir, fl.to_type([INT, INT]))


def test_a_value_prints_its_tree_and_its_type() -> None:
    value = traced(lambda v: v.a, fl.to_type(AB))
    assert str(value) == "value.a"
    assert repr(value) == "<value value.a: int32>"
