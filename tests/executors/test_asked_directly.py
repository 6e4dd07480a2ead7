# SPDX-License-Identifier: Apache-2.0
"""`FederatingExecutor` and `FederatedExecutor` asked directly, without a compiler.

One test for each promise of the pages that `docs/answers.md` is about. What
every executor promises is in `test_base.py`; what strategies and targets are for, in
`test_federating.py`; what both refuse, in `tests/refusals/executors.txt`.
"""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.base import ExecutorValue
from fedlearn_edu.framework import (
    FederatingExecutor,
    NumPyExecutor,
    intrinsic_named,
    ir,
)
from fedlearn_edu.testing import assert_same
from tests.executors.direct import FLAT, called, composed, federated
from tests.executors.examples import CountingExecutor, Plain, federating, run
from tests.programs import (
    FLOAT,
    FLOATS,
    INT,
    INT_AT_SERVER,
    INTS,
    NUMBERS,
    NUMBERS_AT_CLIENTS,
    increment,
    same,
    seven,
)

fw = fl.framework
EQUAL = fl.type_at_clients(INT, all_equal=True)
FLOAT_AT_SERVER = fl.type_at_server(FLOAT)
PAIR = fl.to_type(OrderedDict(a=np.int32, b=np.float32))
SUM_TYPE = fl.FunctionType(INTS, INT_AT_SERVER)
SUM = ir.Intrinsic("federated_sum", SUM_TYPE)
MAP_TYPE = fl.FunctionType(fl.StructType([increment.type_signature, INTS]), INTS)
MAP = (intrinsic_named("federated_map"), MAP_TYPE)


@pytest.fixture(params=FLAT)
def executor(request: pytest.FixtureRequest) -> Any:
    """Either form, over two clients."""
    return FLAT[request.param]()


async def computed(executor: Any, value: Any, type_: Any = None) -> Any:
    return await (await executor.create_value(value, type_)).compute()


# ------------------------------------------------------------------ every intrinsic


def uses(decorate: Any) -> list[tuple[str, Any, tuple[Any, ...]]]:
    """Every intrinsic of the page: name, its use in a body, arguments.

    Arguments are data, as pairs of a value and a type, and functions.
    """
    double = decorate(lambda x: x + x, FLOAT)
    plus = decorate(lambda a, b: a + b, FLOAT, FLOAT)
    one = decorate(lambda: np.float32(1))
    record = OrderedDict(a=FLOAT, b=fl.TensorType(np.float32, [2]))
    values, weights = ([1.0, 2.0, 4.5], FLOATS), ([1.0, 1.0, 2.0], FLOATS)
    rows = ([{"a": 1.0, "b": [1.0, i]} for i in range(3)], fl.type_at_clients(record))
    five, zero = (5.0, FLOAT_AT_SERVER), (0.0, FLOAT)

    folding = (values, zero, plus, plus, double)

    def zipped(first: Any, second: Any) -> Any:
        return fl.federated_zip([first, second])

    def at_clients(name: str) -> Any:
        return lambda argument: getattr(fl, name)(argument, fl.CLIENTS)

    return [
        ("federated_aggregate", fl.federated_aggregate, folding),
        ("federated_apply", fl.federated_apply, (double, five)),
        ("federated_broadcast", fl.federated_broadcast, (five,)),
        ("federated_collect", fl.federated_collect, (rows,)),
        ("federated_eval", at_clients("federated_eval"), (one,)),
        ("federated_map", fl.federated_map, (double, values)),
        ("federated_map", fl.federated_map, (double, five)),
        ("federated_mean", fl.federated_mean, (rows,)),
        ("federated_reduce", fl.federated_reduce, (values, zero, plus)),
        ("federated_sum", fl.federated_sum, (rows,)),
        ("federated_value", at_clients("federated_value"), (zero,)),
        ("federated_weighted_mean", fl.federated_weighted_mean, (rows, weights)),
        ("federated_zip", zipped, (values, weights)),
        ("federated_zip", zipped, (five, five)),
    ]


def _whole(body: Any, arguments: tuple[Any, ...]) -> tuple[Any, fl.FunctionType]:
    """A computation of this one use, and the type of the intrinsic in it."""
    types = [a[1] if isinstance(a, tuple) else a.type_signature for a in arguments]
    data = [a[1] for a in arguments if isinstance(a, tuple)]

    def use(values: Any) -> Any:
        rest = iter(values)
        return body(*(next(rest) if isinstance(a, tuple) else a for a in arguments))

    if data:
        program = fl.federated_computation(use, data)
    else:
        program = fl.federated_computation(lambda: use(()))
    parameter = fl.StructType([(None, t) for t in types]) if types[1:] else types[0]
    return program, fl.FunctionType(parameter, program.type_signature.result)


@pytest.mark.parametrize("form", [*FLAT, "composed"])
@pytest.mark.parametrize(
    "leaf", ["numpy", pytest.param("tensorflow", marks=pytest.mark.tensorflow)]
)
def test_every_intrinsic_is_there_by_its_definition_and_as_a_node(
    form: str, leaf: str
) -> None:
    numpy = leaf == "numpy"
    bottom = fw.NumPyExecutor if numpy else fw.EagerTFExecutor
    executor = {**FLAT, "composed": composed}[form](3, leaf=bottom)
    for uri, body, arguments in uses(fl.np_computation if numpy else fl.tf_computation):
        program, type_ = _whole(body, arguments)
        data = [a[0] for a in arguments if isinstance(a, tuple)]
        with fw.ReferenceContext(default_num_clients=3):
            expected = program(data) if data else program()
        embedded = [a if isinstance(a, tuple) else (a,) for a in arguments]
        for fn in ((intrinsic_named(uri), type_), (ir.Intrinsic(uri, type_),)):
            found = run(called(executor, fn, *embedded))
            assert_same(fl.types.restore(found, type_.result), expected)
    executor.close()


# ------------------------------------------------------------------ who does what


def test_an_aggregation_is_folded_by_the_server_and_merges_nothing() -> None:
    never = fl.np_computation(lambda a, b: a + b + np.float32(1000), FLOAT, FLOAT)
    plus = fl.np_computation(lambda a, b: a + b, FLOAT, FLOAT)
    double = fl.np_computation(lambda x: x + x, FLOAT)
    arguments = (([1.0, 2.0, 4.0], FLOATS), (0.0, FLOAT), plus, never, double)
    _, type_ = _whole(fl.federated_aggregate, arguments)
    embedded = [a if isinstance(a, tuple) else (a,) for a in arguments]
    fn = (intrinsic_named("federated_aggregate"), type_)
    assert run(called(federated(3), fn, *embedded)) == 14.0


def test_a_value_that_is_all_equal_is_given_to_each_client() -> None:
    server, *clients = [CountingExecutor() for _ in range(4)]
    targets: Any = {fl.SERVER: server, fl.CLIENTS: clients, None: NumPyExecutor()}
    broadcast = intrinsic_named("federated_broadcast")
    fn = (broadcast, fl.FunctionType(INT_AT_SERVER, EQUAL))
    run(called(fw.FederatedExecutor(targets), fn, (5, INT_AT_SERVER)))
    assert server.calls["compute"] == 1
    assert [client.calls["create_value"] for client in clients] == [1, 1, 1]


def test_two_clients_may_be_one_executor_which_is_told_a_function_once() -> None:
    shared = CountingExecutor()
    strategy = fw.FederatedResolvingStrategy.factory({fl.CLIENTS: [shared, shared]})
    executor = FederatingExecutor(strategy, NumPyExecutor())
    type_ = fl.FunctionType(seven.type_signature, INTS)
    program = (intrinsic_named("federated_eval"), type_)
    assert run(called(executor, program, (seven, None))) == (7, 7)
    assert shared.calls["create_value"] == 1
    assert shared.calls["create_call"] == 2


def test_the_strategy_decides_how_federated_values_are_represented() -> None:
    async def representation(executor: Any) -> Any:
        return (await executor.create_value([1, 2], INTS)).representation

    plain = FederatingExecutor(lambda executor: Plain(), NumPyExecutor())
    assert list(run(representation(plain))) == [1, 2]
    members = run(representation(federating()))
    assert len(members) == 2
    assert all(isinstance(member, ExecutorValue) for member in members)


def test_closing_closes_everybody_once() -> None:
    server, unplaced = CountingExecutor(), CountingExecutor()
    children = [CountingExecutor(federating(1)) for _ in range(2)]
    strategy = fw.FederatedComposingStrategy.factory(server, children, [1, 1])
    FederatingExecutor(strategy, unplaced).close()
    assert [e.times_closed for e in (server, *children, unplaced)] == [1, 1, 1, 1]
    one = CountingExecutor()
    targets: Any = {fl.SERVER: one, fl.CLIENTS: [one, one], None: one}
    fw.FederatedExecutor(targets).close()
    assert one.times_closed == 1


# ------------------------------------------------------------------ what is embedded


def test_values_of_every_type_are_embedded(executor: Any) -> None:
    for value, type_, result in [
        ([1, 2], INTS, (1, 2)),
        ([5], fl.FederatedType(INT, fl.SERVER, all_equal=False), (5,)),
        ([[1, 2], [3]], NUMBERS_AT_CLIENTS, ((1, 2), (3,))),
        (5, EQUAL, 5),
        (5, INT_AT_SERVER, 5),
        (np.int64(5), INT, 5),
        (5, FLOAT, 5.0),
        (5, np.int32, 5),
        ({"b": 2, "a": 1}, PAIR, fl.Struct.named(a=1, b=2.0)),
        ([1, 2], NUMBERS, (1, 2)),
        ("text", np.str_, b"text"),
        ([], [], fl.Struct([])),
        (fl.CLIENTS, None, fl.CLIENTS),
        (ir.PlacementLiteral(fl.SERVER), fl.PlacementType(), fl.SERVER),
    ]:
        assert run(computed(executor, value, type_)) == result, type_


def test_functions_of_every_kind_are_embedded(executor: Any) -> None:
    values = (increment, increment.tree, same, same.tree, SUM)
    for value in values:
        type_ = getattr(value, "type_signature", getattr(value, "type", None))
        assert run(executor.create_value(value, type_)).type_signature == type_
    assert run(executor.create_value(*MAP)).type_signature == MAP_TYPE


def test_several_arguments_may_come_in_one_structure(executor: Any) -> None:
    argument = ([increment, [1, 2]], MAP_TYPE.parameter)
    assert run(called(executor, MAP, argument)) == (2, 3)


def test_fields_are_selected_from_what_was_made_of_placed_values(executor: Any) -> None:
    async def work() -> Any:
        x = await executor.create_value(5, INT)
        y = await executor.create_value([1, 2], INTS)
        inner = await executor.create_struct(OrderedDict(x=x, y=y))
        outer = await executor.create_struct([inner, y])
        assert str(outer.type_signature) == (
            "<<x=int32,y={int32}@CLIENTS>,{int32}@CLIENTS>"
        )
        again = await executor.create_selection(outer, 0)
        return await (await executor.create_selection(again, name="y")).compute()

    assert run(work()) == (1, 2)
