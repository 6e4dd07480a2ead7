# SPDX-License-Identifier: Apache-2.0
"""Slips inside the body of a federated computation."""

from typing import Any

import numpy as np

import fedlearn_edu as fl
from tests.slips.slip import slip

AT_CLIENTS = fl.type_at_clients(np.float32)
AT_SERVER = fl.type_at_server(np.float32)
SEQUENCES = fl.type_at_clients(fl.SequenceType(np.float32))


@fl.np_computation(np.float32)
def half(x: Any) -> Any:
    return x / np.float32(2)


@fl.np_computation(np.float32, np.float32)
def add(x: Any, y: Any) -> Any:
    return x + y


@slip(20, TypeError, "federated_value")
def mapping_a_value_that_is_nowhere() -> None:
    @fl.federated_computation(np.float32)
    def halved(x: Any) -> Any:
        return fl.federated_map(half, x)


@slip(21, TypeError)
def mapping_a_number() -> None:
    @fl.federated_computation(AT_CLIENTS)
    def summed(x: Any) -> Any:
        return fl.federated_map(add, (x, 1.0))


@slip(22, TypeError, "int32", "cast")
def averaging_integers() -> None:
    @fl.federated_computation(fl.type_at_clients(np.int32))
    def mean(x: Any) -> Any:
        return fl.federated_mean(x)


@slip(23, TypeError, "string")
def summing_strings() -> None:
    @fl.federated_computation(fl.type_at_clients(np.str_))
    def total(x: Any) -> Any:
        return fl.federated_sum(x)


@slip(330, TypeError, "sequence_sum", "sequence_reduce")
def summing_sequences_over_clients() -> None:
    @fl.federated_computation(SEQUENCES)
    def total(readings: Any) -> Any:
        return fl.federated_sum(readings)


@slip(331, TypeError, "sequence_map", "sequence_reduce")
def averaging_sequences_over_clients() -> None:
    @fl.federated_computation(SEQUENCES)
    def mean(readings: Any) -> Any:
        return fl.federated_mean(readings)


@slip(332, TypeError, "sequence_map")
def mapping_a_function_of_one_element() -> None:
    @fl.federated_computation(SEQUENCES)
    def halved(readings: Any) -> Any:
        return fl.federated_map(half, readings)


@slip(333, TypeError, "sequence_reduce")
def aggregating_with_a_step_of_one_element() -> None:
    @fl.federated_computation(SEQUENCES)
    def total(readings: Any) -> Any:
        return fl.federated_aggregate(readings, np.float32(0), add, add, half)


@slip(334, TypeError, "sequence_sum")
def summing_one_sequence_as_if_over_clients() -> None:
    @fl.federated_computation(fl.SequenceType(np.float32))
    def total(readings: Any) -> Any:
        return fl.federated_sum(readings)


@slip(335, TypeError, "federated_sum")
def summing_clients_as_if_elements() -> None:
    @fl.federated_computation(AT_CLIENTS)
    def total(readings: Any) -> Any:
        return fl.sequence_sum(readings)


@slip(336, TypeError, "sequence_map(half")
def calling_a_function_of_one_element() -> None:
    @fl.federated_computation(fl.SequenceType(np.float32))
    def halved(readings: Any) -> Any:
        return half(readings)


@slip(337, TypeError, "<int32,int32>", "return the whole new state")
def a_step_that_returns_half_of_its_state() -> None:
    longest = fl.np_computation(
        lambda state, x: state[1], (np.int32, np.int32), np.float32
    )

    @fl.federated_computation(fl.SequenceType(np.float32))
    def streak(readings: Any) -> Any:
        return fl.sequence_reduce(readings, (0, 0), longest)


@slip(24, TypeError, "CLIENTS", "SERVER")
def zipping_two_placements() -> None:
    @fl.federated_computation(AT_CLIENTS, AT_SERVER)
    def pair(x: Any, y: Any) -> Any:
        return fl.federated_zip((x, y))


@slip(25, TypeError, "CLIENTS", "SERVER")
def mapping_over_two_placements() -> None:
    @fl.federated_computation(AT_CLIENTS, AT_SERVER)
    def summed(x: Any, model: Any) -> Any:
        return fl.federated_map(add, (x, model))


@slip(26, TypeError, "federated_broadcast", "SERVER")
def broadcasting_from_the_clients() -> None:
    @fl.federated_computation(AT_CLIENTS)
    def send(x: Any) -> Any:
        return fl.federated_broadcast(x)


@slip(27, TypeError, "CLIENTS")
def summing_at_the_server() -> None:
    @fl.federated_computation(AT_SERVER)
    def total(x: Any) -> Any:
        return fl.federated_sum(x)


@slip(28, TypeError, "'model'", "broadcast")
def capturing_a_federated_value() -> None:
    @fl.federated_computation(AT_CLIENTS, AT_CLIENTS)
    def update(x: Any, model: Any) -> Any:
        @fl.federated_computation(np.float32)
        def plus_model(one: Any) -> Any:
            return add(one, model)

        return fl.federated_map(plus_model, x)


@slip(29, RuntimeError, "parameter")
def using_a_value_after_its_body() -> None:
    kept = []

    @fl.federated_computation(AT_CLIENTS)
    def first(x: Any) -> Any:
        kept.append(fl.federated_sum(x))
        return kept[0]

    @fl.federated_computation(AT_SERVER)
    def second(y: Any) -> Any:
        return fl.federated_map(add, (kept[0], y))


@slip(30, TypeError, "np_computation")
def if_on_a_value() -> None:
    @fl.federated_computation(np.float32)
    def sign(x: Any) -> Any:
        return 1.0 if x else 0.0


@slip(31, TypeError, "np_computation")
def if_on_a_comparison() -> None:
    @fl.federated_computation(np.float32)
    def sign(x: Any) -> Any:
        return 1.0 if x > 0 else 0.0


@slip(32, TypeError, "np_computation")
def if_on_an_equation() -> None:
    @fl.federated_computation(np.float32)
    def is_zero(x: Any) -> Any:
        return 1.0 if x == 0.0 else 2.0


@slip(33, TypeError, "(int32 -> int32)", "x")
def calling_a_value() -> None:
    @fl.federated_computation(np.float32)
    def called(x: Any) -> Any:
        return x(1.0)


@slip(34, TypeError, "np_computation", "decorate")
def a_bare_lambda() -> None:
    @fl.federated_computation(AT_CLIENTS)
    def halved(x: Any) -> Any:
        return fl.federated_map(lambda one: one / 2, x)


@slip(35, TypeError, "order")
def swapped_arguments_of_map() -> None:
    @fl.federated_computation(AT_CLIENTS)
    def halved(x: Any) -> Any:
        return fl.federated_map(x, half)


@slip(36, TypeError, "float32", "int32")
def mapping_a_function_of_another_type() -> None:
    @fl.federated_computation(fl.type_at_clients(np.int32))
    def halved(x: Any) -> Any:
        return fl.federated_map(half, x)


@slip(37, AttributeError, "'weight'", "weights", "bias")
def a_field_that_does_not_exist() -> None:
    model = fl.to_type([("weights", np.float32), ("bias", np.float32)])

    @fl.federated_computation(model)
    def weight(m: Any) -> Any:
        return m.weight


@slip(38, IndexError, "2")
def an_index_out_of_range() -> None:
    @fl.federated_computation([np.float32, np.float32])
    def third(pair: Any) -> Any:
        return pair[2]


@slip(39, TypeError)
def a_loop_over_the_clients() -> None:
    @fl.federated_computation(AT_CLIENTS)
    def total(x: Any) -> Any:
        result = 0.0
        for one in x:
            result = result + one
        return result


@slip(40, TypeError)
def numpy_on_a_value() -> None:
    @fl.federated_computation(np.float32)
    def root(x: Any) -> Any:
        return np.sqrt(x)


@slip(41, TypeError)
def float_of_a_value() -> None:
    @fl.federated_computation(np.float32)
    def number(x: Any) -> Any:
        return float(x)


@slip(42, ValueError, "return")
def a_body_that_returns_nothing() -> None:
    @fl.federated_computation(AT_CLIENTS)
    def total(x: Any) -> None:
        fl.federated_sum(x)


@slip(43, TypeError, "OrderedDict")
def a_dict_as_result() -> None:
    @fl.federated_computation(AT_CLIENTS)
    def totals(x: Any) -> Any:
        return {"total": fl.federated_sum(x)}


@slip(44, TypeError, "sequence")
def sequence_map_on_a_list() -> None:
    @fl.federated_computation
    def halves() -> Any:
        return fl.sequence_map(half, [1.0, 2.0])


@slip(45, TypeError, "sequence_reduce")
def sequence_reduce_with_another_zero() -> None:
    @fl.federated_computation(fl.SequenceType(np.float32))
    def total(xs: Any) -> Any:
        return fl.sequence_reduce(xs, 0, add)


@slip(46, TypeError, "'zero'")
def aggregate_with_another_zero() -> None:
    @fl.federated_computation(AT_CLIENTS)
    def total(x: Any) -> Any:
        return fl.federated_aggregate(x, 0, add, add, half)


@slip(47, TypeError)
def adding_a_float_to_an_integer() -> None:
    @fl.federated_computation(np.int32)
    def more(x: Any) -> Any:
        return x + 0.5


@slip(48, TypeError, "place(")
def an_intrinsic_on_data_that_nobody_placed() -> None:
    fl.federated_sum([1, 2, 3])


@slip(49, TypeError)
def federated_value_of_a_list_per_client() -> None:
    @fl.federated_computation
    def total() -> Any:
        return fl.federated_sum(fl.federated_value([1.0, 2.0], fl.SERVER))


@slip(50, TypeError)
def weight_that_is_no_number() -> None:
    pair = fl.type_at_clients([np.float32, np.float32])

    @fl.federated_computation(AT_CLIENTS, pair)
    def mean(x: Any, w: Any) -> Any:
        return fl.federated_mean(x, w)


@slip(51, TypeError, "SERVER", "CLIENTS")
def calling_with_a_value_from_elsewhere() -> None:
    @fl.federated_computation(AT_SERVER)
    def server_half(y: Any) -> Any:
        return fl.federated_map(half, y)

    @fl.federated_computation(AT_CLIENTS)
    def halved(x: Any) -> Any:
        return server_half(x)


@slip(52, TypeError)
def secure_sum_of_floats() -> None:
    @fl.federated_computation(AT_CLIENTS)
    def total(x: Any) -> Any:
        return fl.federated_secure_sum(x, 10)


@slip(220, ValueError, "modulus", "1 to")
def a_modulus_of_zero() -> None:
    @fl.federated_computation(fl.type_at_clients(np.int32))
    def total(x: Any) -> Any:
        return fl.federated_secure_modular_sum(x, 0)


@slip(221, ValueError, "bits")
def the_greatest_value_instead_of_bits() -> None:
    @fl.federated_computation(fl.type_at_clients(np.int32))
    def total(x: Any) -> Any:
        return fl.federated_secure_sum_bitwidth(x, 255)


@slip(53, TypeError, "federated_map(half")
def calling_leaf_code_on_a_placed_value() -> None:
    @fl.federated_computation(AT_CLIENTS)
    def halved(x: Any) -> Any:
        return half(x)


@slip(54, TypeError, "parameter")
def a_value_captured_by_numpy() -> None:
    @fl.federated_computation(np.float32)
    def outer(x: Any) -> Any:
        root = fl.np_computation(lambda y: np.sqrt(x) + y, np.float32)
        return root(1.0)


@slip(55, RuntimeError, "parameter")
def a_value_added_by_leaf_code() -> None:
    @fl.federated_computation(np.float32)
    def outer(x: Any) -> Any:
        total = fl.np_computation(lambda y: y + x, np.float32)
        return total(1.0)


@slip(56, AttributeError, "'items'", "no dict")
def a_value_taken_for_a_dict() -> None:
    @fl.federated_computation([("weights", np.float32), ("bias", np.float32)])
    def doubled(model: Any) -> Any:
        return [value * 2.0 for _, value in model.items()]


@slip(57, TypeError, "without parameters")
def eval_with_a_parameter() -> None:
    @fl.federated_computation
    def everywhere() -> Any:
        return fl.federated_eval(half, fl.CLIENTS)


@slip(58, TypeError, "fl.CLIENTS")
def value_at_a_text() -> None:
    @fl.federated_computation
    def everywhere() -> Any:
        return fl.federated_value(1.0, "clients")  # type: ignore[arg-type]


@slip(59, TypeError, "'model'", "broadcast")
def capturing_a_federated_value_by_an_operator() -> None:
    @fl.federated_computation(AT_CLIENTS, AT_CLIENTS)
    def update(x: Any, model: Any) -> Any:
        plus_model = fl.federated_computation(lambda one: one + model, np.float32)
        return fl.federated_map(plus_model, x)


@slip(222, TypeError, "np_computation", "federated_map")
def a_power_of_a_value() -> None:
    @fl.federated_computation(AT_CLIENTS)
    def squares(x: Any) -> Any:
        return x**2


@slip(223, AttributeError, "cannot be changed", "weight = …")
def changing_a_field_of_a_value() -> None:
    @fl.federated_computation(fl.to_type([("weight", np.float32)]))
    def half_as_heavy(x: Any) -> Any:
        x.weight = x.weight / 2
        return x


@slip(224, TypeError, "federated_map(fn, arg)", "too many")
def three_arguments_for_map() -> None:
    @fl.federated_computation(AT_CLIENTS, AT_CLIENTS)
    def total(x: Any, y: Any) -> Any:
        return fl.federated_map(add, x, y)  # type: ignore[call-arg]


@slip(225, TypeError, "float32@SERVER", "{float32}@CLIENTS", "everybody")
def an_intrinsic_that_returns_something_else() -> None:
    @fl.framework.derived("({T}@CLIENTS -> T@SERVER)")
    def everybody(value: Any) -> Any:
        return value

    everybody(fl.place([1.0, 2.0], fl.CLIENTS))


@slip(226, TypeError, "reshape or slice")
def vectors_of_two_sizes() -> None:
    @fl.federated_computation((np.float32, [2]), (np.float32, [3]))
    def total(x: Any, y: Any) -> Any:
        return x + y


@slip(227, TypeError, "np_computation", "federated_map")
def a_power_of_a_placed_value() -> None:
    fl.place([1.0, 2.0], fl.CLIENTS) ** 2  # type: ignore[operator]


@slip(370, TypeError, "sequence_map")
def squaring_sequences() -> None:
    @fl.federated_computation(SEQUENCES)
    def squares(readings: Any) -> Any:
        return readings**2


@slip(371, TypeError, "sequence_map")
def changing_the_sign_of_a_sequence() -> None:
    @fl.federated_computation(fl.SequenceType(np.float32))
    def minus(readings: Any) -> Any:
        return -readings


@slip(372, TypeError, "sequence_map")
def absolute_values_of_placed_sequences() -> None:
    abs(fl.place([[1.0, -2.0], [3.0]], fl.CLIENTS))


@slip(373, TypeError, "sequence_sum")
def a_secure_sum_of_sequences() -> None:
    @fl.federated_computation(fl.type_at_clients(fl.SequenceType(np.int32)))
    def total(readings: Any) -> Any:
        return fl.federated_secure_sum(readings, 10)


@slip(374, TypeError, "bool")
def changing_the_sign_of_a_truth_value() -> None:
    @fl.federated_computation(np.bool_)
    def other(flag: Any) -> Any:
        return -flag
