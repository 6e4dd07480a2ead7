# SPDX-License-Identifier: Apache-2.0
"""Slips in calling a computation: arguments and data that do not fit."""

import pickle
from collections import OrderedDict
from typing import Any

import numpy as np

import fedlearn_edu as fl
from tests.slips.slip import calls, slip

BATCH = fl.to_type(OrderedDict(x=np.float32, y=np.int32))
CLIENT_DATA = fl.type_at_clients(fl.SequenceType(BATCH))


@fl.federated_computation(fl.type_at_clients(fl.SequenceType(np.float32)))
def totals(data: Any) -> Any:
    return fl.sequence_sum(data)


@fl.np_computation(np.float32, np.float32)
def subtract(a: Any, b: Any) -> Any:
    return a - b


@fl.federated_computation(fl.type_at_clients(np.float32))
def mean(x: Any) -> Any:
    return fl.federated_mean(x)


@fl.federated_computation(fl.type_at_clients(np.float32), fl.type_at_clients(np.int32))
def weighted(x: Any, n: Any) -> Any:
    return fl.federated_mean(x, n)


@fl.federated_computation(CLIENT_DATA)
def echo(data: Any) -> Any:
    return data


@slip(80, TypeError, "client 0", "element 0", "float32[?]*", "flatten")
def nested_lists_for_a_flat_sequence() -> None:
    client = [[1.0, 2.0], [3.0, 4.0, 5.0]]
    totals([client, client])


@slip(81, TypeError, "client 3", "element 2", ".x")
def text_among_the_numbers() -> None:
    good = [OrderedDict(x=1.0, y=1), OrderedDict(x=2.0, y=2), OrderedDict(x=3.0, y=3)]
    bad = [*good[:2], OrderedDict(x="3,0", y=3)]
    echo([good, good, good, bad, good])


@slip(83, TypeError)
def ragged_rows() -> None:
    norm = fl.np_computation(lambda m: m.sum(), (np.float32, [2, 3]))
    norm([[1.0, 2.0, 3.0], [4.0, 5.0]])


@slip(86, TypeError, "bare value")
def a_list_for_an_equal_value() -> None:
    everywhere = fl.type_at_clients(np.float32, all_equal=True)
    fl.federated_computation(lambda x: x, everywhere)([1.0, 1.0, 1.0])


@slip(97, TypeError, "w", "weights")
def fields_of_other_names() -> None:
    model = OrderedDict(weights=np.float32, bias=np.float32)
    fl.np_computation(lambda m: m["bias"], fl.to_type(model))({"w": 1.0, "b": 2.0})


@slip(99, TypeError, "<lambda>", "decorate")
def a_plain_function_as_argument() -> None:
    function = fl.FunctionType(np.float32, np.float32)
    apply = fl.federated_computation(lambda f: f(1.0), function)
    apply(lambda x: x + 1)


@slip(202, TypeError, "float32[2]", "float32*", "place(x, SERVER, type)")
def a_list_placed_for_a_vector() -> None:
    vector = fl.type_at_server(fl.TensorType(np.float32, [2]))
    fl.federated_computation(fl.federated_broadcast, vector)(
        fl.place([1.0, 2.0], fl.SERVER)
    )


@slip(203, ValueError, "polymorphic", "half", "types")
def pickling_what_has_no_type_yet() -> None:
    @fl.np_computation
    def half(x: Any) -> Any:
        return x / 2

    pickle.dumps(half)


calls(
    (85, TypeError, "a_client_without_data",
     lambda: mean([1.0, None, 3.0]), "client 1"),
    (87, TypeError, "one_number_for_all_clients", lambda: mean(68.5), "a list"),
    (88, ValueError, "conflicting_numbers_of_clients",
     lambda: weighted([1.0, 2.0, 3.0], [1, 2]), "3 members", "2 members", ".n"),
    (101, TypeError, "the_data_of_one_client",
     lambda: totals([1.0, 2.0, 3.0]), "each client", "client 0"),
    (102, TypeError, "a_dict_of_clients", lambda: mean({"alice": 1.0, "bob": 2.0})),
    (103, TypeError, "a_function_as_data", lambda: mean([1.0, subtract])),
    (104, TypeError, "clients_as_separate_arguments",
     lambda: mean(68.5, 70.3, 69.8), "3 positional", "one list"),
    (105, TypeError, "a_field_too_many",
     lambda: subtract([1.0, 2.0, 3.0]), "2 fields", "2"),
    (201, TypeError, "a_float_that_is_too_large",
     lambda: mean([1.0, 1e39]), "client 1", "1e+39", "float32", "3.40282e+38"),
)  # fmt: skip
