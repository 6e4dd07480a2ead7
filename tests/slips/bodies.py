# SPDX-License-Identifier: Apache-2.0
"""Slips inside the body of a federated computation."""

from typing import Any

import numpy as np

import fedlearn_edu as fl
from tests.slips.slip import calls, definitions, slip

AT_CLIENTS = fl.type_at_clients(np.float32)
AT_SERVER = fl.type_at_server(np.float32)
FLOATS = fl.SequenceType(np.float32)
SEQUENCES = fl.type_at_clients(FLOATS)
PAIR = fl.to_type([("low", np.float32), ("high", np.float32)])


@fl.np_computation(np.float32)
def half(x: Any) -> Any:
    return x / np.float32(2)


@fl.np_computation(np.float32, np.float32)
def add(x: Any, y: Any) -> Any:
    return x + y


@fl.np_computation(np.float32, np.float32, np.float32)
def add_three(x: Any, y: Any, z: Any) -> Any:
    return x + y + z


@fl.np_computation(np.float32, np.int32)
def count_above(x: Any, count: Any) -> Any:
    return np.int32(count + (x > 20))


@fl.federated_computation(FLOATS)
def sum_of(readings: Any) -> Any:
    return fl.sequence_sum(readings)


@fl.federated_computation(np.float32, FLOATS)
def sum_from(start: Any, readings: Any) -> Any:
    return fl.sequence_reduce(readings, start, add)


@slip(337, TypeError, "<int32,int32>", "return the whole new state")
def a_step_that_returns_half_of_its_state() -> None:
    longest = fl.np_computation(
        lambda state, x: state[1], (np.int32, np.int32), np.float32
    )

    @fl.federated_computation(FLOATS)
    def streak(readings: Any) -> Any:
        return fl.sequence_reduce(readings, (0, 0), longest)


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


@slip(37, AttributeError, "'weight'", "weights", "bias")
def a_field_that_does_not_exist() -> None:
    model = fl.to_type([("weights", np.float32), ("bias", np.float32)])

    @fl.federated_computation(model)
    def weight(m: Any) -> Any:
        return m.weight


@slip(42, ValueError, "return")
def a_body_that_returns_nothing() -> None:
    @fl.federated_computation(AT_CLIENTS)
    def total(x: Any) -> None:
        fl.federated_sum(x)


@slip(51, TypeError, "SERVER", "CLIENTS")
def calling_with_a_value_from_elsewhere() -> None:
    @fl.federated_computation(AT_SERVER)
    def server_half(y: Any) -> Any:
        return fl.federated_map(half, y)

    @fl.federated_computation(AT_CLIENTS)
    def halved(x: Any) -> Any:
        return server_half(x)


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


@slip(225, TypeError, "float32@SERVER", "{float32}@CLIENTS", "everybody")
def an_intrinsic_that_returns_something_else() -> None:
    @fl.framework.derived("({T}@CLIENTS -> T@SERVER)")
    def everybody(value: Any) -> Any:
        return value

    everybody(fl.place([1.0, 2.0], fl.CLIENTS))


@slip(227, TypeError, "np_computation", "federated_map")
def a_power_of_a_placed_value() -> None:
    fl.place([1.0, 2.0], fl.CLIENTS) ** 2  # type: ignore[operator]


calls(
    (48, TypeError, "an_intrinsic_on_data_that_nobody_placed",
     lambda: fl.federated_sum([1, 2, 3]), "place("),
    (439, AttributeError, "an_intrinsic_without_its_family",
     lambda: fl.__getattr__("mean"), "federated_mean"),
    (440, ValueError, "a_type_by_its_name_in_python",
     lambda: fl.parse_type("float@SERVER"), "did you mean float32?"),
    (372, TypeError, "absolute_values_of_placed_sequences",
     lambda: abs(fl.place([[1.0, -2.0], [3.0]], fl.CLIENTS)), "sequence_map"),
)  # fmt: skip


definitions(
    fl.federated_computation,
    (20, TypeError, "mapping_a_value_that_is_nowhere",
     (np.float32,), "halved", lambda x: fl.federated_map(half, x), "federated_value"),
    (21, TypeError, "mapping_a_number",
     (AT_CLIENTS,), "summed", lambda x: fl.federated_map(add, (x, 1.0))),
    (330, TypeError, "summing_sequences_over_clients",
     (SEQUENCES,), "total", lambda readings: fl.federated_sum(readings),
     "sequence_sum", "sequence_reduce"),
    (332, TypeError, "mapping_a_function_of_one_element",
     (SEQUENCES,), "halved", lambda readings: fl.federated_map(half, readings),
     "sequence_map"),
    (333, TypeError, "aggregating_with_a_step_of_one_element",
     (SEQUENCES,), "total",
     lambda readings: fl.federated_aggregate(readings, np.float32(0), add, add, half),
     "sequence_reduce"),
    (334, TypeError, "summing_one_sequence_as_if_over_clients",
     (FLOATS,), "total", lambda readings: fl.federated_sum(readings), "sequence_sum"),
    (336, TypeError, "calling_a_function_of_one_element",
     (FLOATS,), "halved", lambda readings: half(readings), "sequence_map(half"),
    (431, TypeError, "mapping_over_values_in_another_order",
     (AT_CLIENTS, SEQUENCES), "summed",
     lambda start, readings: fl.federated_map(sum_from, [readings, start]),
     "in this order: [start, readings]"),
    (441, TypeError, "mapping_a_step_over_a_sequence",
     (FLOATS,), "sums", lambda readings: fl.sequence_map(add, readings),
     "sequence_reduce"),
    (442, TypeError, "reducing_with_a_function_of_an_element",
     (FLOATS,), "total", lambda readings: fl.sequence_reduce(readings, 0.0, half),
     "sequence_map"),
    (443, TypeError, "a_step_with_its_arguments_swapped",
     (FLOATS,), "count",
     lambda readings: fl.sequence_reduce(readings, np.int32(0), count_above),
     "a state and an element, in this order"),
    (444, TypeError, "too_few_values_for_a_function",
     (AT_CLIENTS, AT_CLIENTS), "sums",
     lambda x, y: fl.federated_map(add_three, [x, y]),
     "2 values are passed, and it takes 3: [x, y, z]"),
    (445, TypeError, "mapping_a_function_of_a_sequence_over_elements",
     (SEQUENCES,), "sums", lambda x: fl.sequence_map(sum_of, x), "federated_map"),
    (446, TypeError, "a_step_for_each_client_with_all_its_data",
     (AT_CLIENTS, SEQUENCES, AT_CLIENTS), "sums",
     lambda x, y, z: fl.federated_map(add_three, [x, y, z]), "sequence_reduce"),
    (448, TypeError, "a_sequence_and_its_zero_swapped",
     (FLOATS, PAIR), "total", lambda x, zero: fl.sequence_reduce(zero, x, add),
     "check the order of the arguments"),
    (432, TypeError, "a_mean_with_a_function_for_a_weight",
     (AT_CLIENTS,), "mean", lambda x: fl.federated_mean(x, half), "federated_map(fn"),
    (436, TypeError, "the_length_of_the_clients_sequences",
     (SEQUENCES,), "sizes", lambda readings: len(readings), "federated_map"),
    (437, TypeError, "two_arguments_for_broadcast",
     (AT_SERVER, AT_SERVER), "sent", lambda x, y: fl.federated_broadcast(*[x, y]),
     "federated_broadcast([a, b])"),
    (438, TypeError, "calling_without_the_model",
     (FLOATS,), "total", lambda readings: sum_from(readings), "start"),
    (38, IndexError, "an_index_out_of_range",
     ([np.float32, np.float32],), "third", lambda pair: pair[2], "2"),
    (43, TypeError, "a_dict_as_result",
     (AT_CLIENTS,), "totals", lambda x: {"total": fl.federated_sum(x)}, "OrderedDict"),
    (44, TypeError, "sequence_map_on_a_list",
     (), "halves", lambda: fl.sequence_map(half, [1.0, 2.0]), "sequence"),
    (45, TypeError, "sequence_reduce_with_another_zero",
     (FLOATS,), "total", lambda xs: fl.sequence_reduce(xs, 0, add), "sequence_reduce"),
    (46, TypeError, "aggregate_with_another_zero",
     (AT_CLIENTS,), "total", lambda x: fl.federated_aggregate(x, 0, add, add, half),
     "'zero'"),
    (47, TypeError, "adding_a_float_to_an_integer",
     (np.int32,), "more", lambda x: x + 0.5),
    (49, TypeError, "federated_value_of_a_list_per_client",
     (), "total", lambda: fl.federated_sum(fl.federated_value([1.0, 2.0], fl.SERVER))),
    (53, TypeError, "calling_leaf_code_on_a_placed_value",
     (AT_CLIENTS,), "halved", lambda x: half(x), "federated_map(half"),
    (56, AttributeError, "a_value_taken_for_a_dict",
     ([("weights", np.float32), ("bias", np.float32)],), "doubled",
     lambda model: [value * 2.0 for _, value in model.items()], "'items'", "no dict"),
    (222, TypeError, "a_power_of_a_value",
     (AT_CLIENTS,), "squares", lambda x: x**2, "np_computation", "federated_map"),
    (224, TypeError, "three_arguments_for_map",
     (AT_CLIENTS, AT_CLIENTS), "total",
     lambda x, y: fl.federated_map(add, x, y),  # type: ignore[call-arg]
     "federated_map(fn, arg)", "too many"),
    (226, TypeError, "vectors_of_two_sizes",
     ((np.float32, [2]), (np.float32, [3])), "total", lambda x, y: x + y,
     "reshape or slice"),
    (370, TypeError, "squaring_sequences",
     (SEQUENCES,), "squares", lambda readings: readings**2, "sequence_map"),
    (371, TypeError, "changing_the_sign_of_a_sequence",
     (FLOATS,), "minus", lambda readings: -readings, "sequence_map"),
    (373, TypeError, "a_secure_sum_of_sequences",
     (fl.type_at_clients(fl.SequenceType(np.int32)),), "total",
     lambda readings: fl.federated_secure_sum(readings, 10), "sequence_sum"),
    (374, TypeError, "changing_the_sign_of_a_truth_value",
     (np.bool_,), "other", lambda flag: -flag, "bool"),
)  # fmt: skip
