# SPDX-License-Identifier: Apache-2.0
"""Programs to draw, from the smallest to such as are hard to fit on a page."""

from typing import Any

import numpy as np

import fedlearn_edu as fl

MODEL = fl.parse_type("<weights=float32[784,10],bias=float32[10]>")
BATCHES = fl.parse_type("<x=float32[?,784],y=int32[?]>*")
AT_CLIENTS, AT_SERVER = fl.type_at_clients(np.float32), fl.type_at_server(np.float32)
LONG = "a_name_that_somebody_found_necessary_for_reasons_of_their_own"
STEPS = 3


@fl.np_computation(np.float32)
def double(x: Any) -> Any:
    return np.float32(2 * x)


@fl.np_computation(np.float32, np.float32)
def add(x: Any, y: Any) -> Any:
    return np.float32(x + y)


@fl.federated_computation(AT_CLIENTS)
def average(values: Any) -> Any:
    return fl.federated_mean(values)


@fl.federated_computation(
    fl.type_at_server(MODEL), AT_SERVER, fl.type_at_clients(BATCHES)
)
def train(model: Any, rate: Any, data: Any) -> Any:
    @fl.np_computation(MODEL, np.float32, BATCHES)
    def learn(model: Any, rate: Any, batches: Any) -> Any:
        del rate, batches
        return model

    given = [fl.federated_broadcast(model), fl.federated_broadcast(rate), data]
    return fl.federated_mean(fl.federated_map(learn, given))


@fl.federated_computation
def hello() -> Any:
    return "hello"


@fl.federated_computation(AT_CLIENTS, AT_SERVER)
def back_and_forth(x: Any, y: Any) -> Any:
    for _ in range(STEPS):
        x = fl.federated_map(double, x)
        y = fl.federated_sum(x) + y
        x = fl.federated_map(add, [x, fl.federated_broadcast(y)])
    return [x, y]


@fl.federated_computation(np.float32)
def chain(x: Any) -> Any:
    for _ in range(STEPS):
        x = double(x)
    return x


def _renamed(name: str) -> Any:
    types = [fl.type_at_server([(f"{name}_{i}", np.float32) for i in range(9)])]

    def program(**given: Any) -> Any:
        (value,) = given.values()
        return fl.federated_map(double, fl.federated_broadcast(value[0]))

    return fl.federated_computation(lambda value: program(v=value), *types)


long_names = _renamed(LONG)


@fl.federated_computation(fl.type_at_clients(np.int32), np.int32)
def secret(x: Any, limit: Any) -> Any:
    return fl.federated_secure_sum(x, limit)


@fl.federated_computation(AT_CLIENTS)
def fold(x: Any) -> Any:
    return fl.federated_aggregate(x, np.float32(0), add, add, double)


@fl.federated_computation(
    fl.type_at_clients(fl.parse_type("int32[2]")),
    fl.type_at_server(fl.parse_type("float32[100,3]")),
)
def select(keys: Any, table: Any) -> Any:
    @fl.np_computation(fl.parse_type("float32[100,3]"), np.int32)
    def row(table: Any, key: Any) -> Any:
        return table[key]

    limit = fl.federated_value(np.int32(100), fl.SERVER)
    return fl.federated_select(keys, limit, table, row)


@fl.federated_computation(AT_CLIENTS, fl.type_at_clients(np.int32))
def gather(x: Any, count: Any) -> Any:
    total = fl.federated_secure_sum(count, 1000)
    return fl.federated_collect(x), fl.federated_mean(x), total


ALL = {
    name: program
    for name, program in globals().items()
    if isinstance(program, fl.Computation)
}
