# SPDX-License-Identifier: Apache-2.0
"""The old page of `FederatedExecutor`, sentence by sentence.

Its list of intrinsics is asked of `FederatedExecutor`, of `FederatingExecutor` and of a
composition, directly, and compared with what the reference context gives. What it says
about methods is in `test_page_of_federating_executor.py`.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.framework import FederatedExecutor, intrinsic_named, ir
from fedlearn_edu.testing import assert_same
from tests.executors.direct import FLAT, composed, federated, refused
from tests.executors.examples import CountingExecutor, run
from tests.programs import (
    FLOAT,
    FLOATS,
    INT,
    INT_AT_SERVER,
    INTS,
    add,
    increment,
    same,
    seven,
)

fw = fl.framework
FLOAT_AT_SERVER = fl.type_at_server(FLOAT)
RECORD = fl.to_type(OrderedDict(a=FLOAT, b=fl.TensorType(np.float32, [2])))
RECORDS = fl.type_at_clients(RECORD)
PAGE = {
    "federated_aggregate",
    "federated_apply",
    "federated_broadcast",
    "federated_collect",
    "federated_eval",
    "federated_map",
    "federated_mean",
    "federated_reduce",
    "federated_sum",
    "federated_value",
    "federated_weighted_mean",
    "federated_zip",
}
LEAVES = [
    pytest.param("numpy", id="numpy"),
    pytest.param("tensorflow", id="tensorflow", marks=pytest.mark.tensorflow),
]


# ------------------------------------------------------------------ the list


@dataclass(frozen=True)
class Use:
    """One use of an intrinsic.

    Attributes:
        uri: its name.
        body: the same use, as a body writes it.
        arguments: data as pairs of a value and a type, and functions.
    """

    uri: str
    body: Callable[..., Any]
    arguments: tuple[Any, ...]

    @property
    def types(self) -> list[fl.Type]:
        """The types of the arguments."""
        return [
            a[1] if isinstance(a, tuple) else a.type_signature for a in self.arguments
        ]

    @property
    def program(self) -> Any:
        """A computation of this one intrinsic, whose parameter is the data."""
        types = [a[1] for a in self.arguments if isinstance(a, tuple)]

        def body(data: Any) -> Any:
            values = iter(data)
            arguments = (
                next(values) if isinstance(a, tuple) else a for a in self.arguments
            )
            return self.body(*arguments)

        if types:
            return fl.federated_computation(body, types)
        return fl.federated_computation(lambda: body(()))

    @property
    def type(self) -> fl.FunctionType:
        """The concrete type of the intrinsic."""
        types = self.types
        whole = (
            fl.StructType([(None, t) for t in types]) if len(types) > 1 else types[0]
        )
        return fl.FunctionType(whole, self.program.type_signature.result)

    def by_reference(self, clients: int) -> Any:
        """What the reference context gives."""
        data = [a[0] for a in self.arguments if isinstance(a, tuple)]
        with fw.ReferenceContext(default_num_clients=clients):
            return self.program(data) if data else self.program()

    async def asked_of(self, executor: Any, fn: Any) -> Any:
        """What an executor gives that is asked for `fn` at once."""
        arguments = [
            await executor.create_value(*(a if isinstance(a, tuple) else (a,)))
            for a in self.arguments
        ]
        arg = arguments[0]
        if len(arguments) > 1:
            arg = await executor.create_struct(arguments)
        result = await executor.create_call(
            await executor.create_value(fn, self.type), arg
        )
        assert result.type_signature == self.type.result
        return fl.types.restore(await result.compute(), self.type.result)


def uses(leaf: str) -> dict[str, Use]:
    """Every intrinsic of the page over three clients, with functions of one runtime."""
    decorate: Any = fl.np_computation if leaf == "numpy" else fl.tf_computation
    double = decorate(lambda x: x + x, FLOAT)
    plus = decorate(lambda a, b: a + b, FLOAT, FLOAT)
    one = decorate(lambda: np.float32(1))
    quadruple = fl.federated_computation(lambda x: double(double(x)), FLOAT)
    values = ([1.0, 2.0, 4.5], FLOATS)
    weights = ([1.0, 1.0, 2.0], FLOATS)
    rows = ([{"a": 1.0, "b": [1.0, i]} for i in range(3)], RECORDS)
    five = (5.0, FLOAT_AT_SERVER)
    zero, ten = (0.0, FLOAT), (10.0, FLOAT)

    def at(placement: Any, use: Any) -> Any:
        return lambda argument: use(argument, placement)

    def zipped(first: Any, second: Any) -> Any:
        return fl.federated_zip([first, second])

    table: dict[str, tuple[Any, ...]] = {
        "aggregate": (fl.federated_aggregate, values, zero, plus, plus, double),
        "apply": (fl.federated_apply, double, five),
        "broadcast": (fl.federated_broadcast, five),
        "collect": (fl.federated_collect, values),
        "collect: records": (fl.federated_collect, rows),
        "eval: clients": (at(fl.CLIENTS, fl.federated_eval), one),
        "eval: server": (at(fl.SERVER, fl.federated_eval), one),
        "map: clients": (fl.federated_map, double, values),
        "map: server": (fl.federated_map, double, five),
        "map: lambda": (fl.federated_map, quadruple, values),
        "mean": (fl.federated_mean, values),
        "mean: records": (fl.federated_mean, rows),
        "reduce": (fl.federated_reduce, values, ten, plus),
        "sum": (fl.federated_sum, values),
        "sum: records": (fl.federated_sum, rows),
        "value: clients": (at(fl.CLIENTS, fl.federated_value), ten),
        "value: server": (at(fl.SERVER, fl.federated_value), ten),
        "weighted_mean": (fl.federated_weighted_mean, values, weights),
        "weighted_mean: records": (fl.federated_weighted_mean, rows, weights),
        "zip: clients": (zipped, values, weights),
        "zip: server": (zipped, five, five),
    }
    return {
        name: Use(f"federated_{name.partition(':')[0]}", body, tuple(arguments))
        for name, (body, *arguments) in table.items()
    }


NAMES = sorted(uses("numpy"))


def bottom(leaf: str) -> Any:
    return fw.NumPyExecutor if leaf == "numpy" else fw.EagerTFExecutor


def test_the_intrinsics_of_the_page_are_all_here() -> None:
    assert {use.uri for use in uses("numpy").values()} == PAGE


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", [*FLAT, "composed"])
def test_the_intrinsics_currently_implemented_include(
    form: str, name: str, leaf: str
) -> None:
    """Asked for by its definition, and by a node of a tree."""
    use = uses(leaf)[name]
    expected = use.by_reference(clients=3)
    for fn in (intrinsic_named(use.uri), ir.Intrinsic(use.uri, use.type)):
        executor = {**FLAT, "composed": composed}[form](3, leaf=bottom(leaf))
        assert_same(run(use.asked_of(executor, fn)), expected)
        executor.close()


ONE_CLIENT_OR_NONE = {
    "federated_sum": (6, 0),
    "federated_collect": ([6], []),
    "federated_reduce": (16, 10),
}


@pytest.mark.parametrize("form", FLAT)
@pytest.mark.parametrize("uri", ONE_CLIENT_OR_NONE)
@pytest.mark.parametrize("clients", [1, 0])
def test_the_intrinsics_work_for_one_client_and_for_none(
    form: str, uri: str, clients: int
) -> None:
    data: tuple[Any, ...] = (([6] * clients, INTS),)
    if uri == "federated_reduce":
        data = (*data, (10, INT), add)
    use = Use(uri, getattr(fl, uri), data)
    result = run(use.asked_of(FLAT[form](clients), intrinsic_named(uri)))
    assert_same(result, ONE_CLIENT_OR_NONE[uri][1 - clients])


@pytest.mark.parametrize("form", FLAT)
@pytest.mark.parametrize("uri", ["federated_mean", "federated_weighted_mean"])
def test_a_mean_over_nobody_says_so(form: str, uri: str) -> None:
    nobody: Any = ([], FLOATS)
    data = (nobody,) if uri == "federated_mean" else (nobody, nobody)
    use = Use(uri, getattr(fl, uri), data)
    work = use.asked_of(FLAT[form](0), intrinsic_named(uri))
    refused(work, ZeroDivisionError, "no clients")


# ------------------------------------------------------------------ responsibilities


def leaf_executor() -> Any:
    return fw.ReferenceResolvingExecutor(fw.NumPyExecutor())


class Watched:
    """A `FederatedExecutor` over executors that count what they are asked."""

    def __init__(self, clients: int) -> None:
        self.server, self.unplaced, *self.clients = [
            CountingExecutor(leaf_executor()) for _ in range(2 + clients)
        ]
        targets: Any = {
            fl.SERVER: self.server,
            fl.CLIENTS: self.clients,
            None: self.unplaced,
        }
        self.executor = FederatedExecutor(targets)

    @property
    def calls(self) -> list[int]:
        """How many calls there were: unplaced, at the server, at each client."""
        everybody = (self.unplaced, self.server, *self.clients)
        return [executor.calls["create_call"] for executor in everybody]


def test_work_is_delegated_to_the_participants_it_is_associated_with() -> None:
    watched = Watched(2)
    use = uses("numpy")["map: lambda"]
    values = ([1.0, 2.0], FLOATS)
    mapped = Use(use.uri, use.body, (use.arguments[0], values))
    run(mapped.asked_of(watched.executor, intrinsic_named(use.uri)))
    assert watched.calls == [0, 0, 1, 1]
    run(uses("numpy")["apply"].asked_of(watched.executor, intrinsic_named(use.uri)))
    assert watched.calls == [0, 1, 1, 1]

    async def unplaced() -> None:
        fn = await watched.executor.create_value(seven)
        await watched.executor.create_call(fn)

    run(unplaced())
    assert watched.calls == [1, 1, 1, 1]


FIVE = ir.Literal(np.int32(5), INT)


@pytest.mark.parametrize(
    "node",
    [
        ir.Block((("x", FIVE),), FIVE),
        ir.Reference("x", INT),
        ir.Call(increment.tree, FIVE),
        ir.Struct(((None, FIVE),)),
        ir.Selection(ir.Struct(((None, FIVE),)), 0),
    ],
    ids=lambda node: type(node).__name__,
)
def test_it_does_not_interpret_lambda_calculus_and_blocks(node: ir.Node) -> None:
    text = refused(federated().create_value(node), ValueError, "this kind of tree")
    assert "ReferenceResolvingExecutor" in text


def test_it_keeps_a_lambda_it_can_delegate_and_calls_none() -> None:
    async def work() -> Any:
        executor = federated()
        fn = await executor.create_value(same)
        return await executor.create_call(fn, await executor.create_value(5, INT))

    refused(work(), ValueError, "does not call lambdas")


def test_it_understands_placements() -> None:
    async def work() -> Any:
        executor = federated()
        return [
            await (await executor.create_value(placement)).compute()
            for placement in (fl.SERVER, fl.CLIENTS)
        ]

    assert run(work()) == [fl.SERVER, fl.CLIENTS]


def test_it_handles_tuples_selections_and_calls_in_a_limited_way() -> None:
    async def work() -> Any:
        executor = federated()
        clients = await executor.create_value([1, 2], INTS)
        struct = await executor.create_struct({"a": clients, "b": clients})
        value = await executor.create_selection(struct, name="b")
        total = await executor.create_value(
            intrinsic_named("federated_sum"), fl.FunctionType(INTS, INT_AT_SERVER)
        )
        return await (await executor.create_call(total, value)).compute()

    assert run(work()) == 3


def test_it_has_no_concept_of_intermediate_aggregation() -> None:
    """The server folds all clients, one by one; `merge` is never called."""
    never = fl.np_computation(lambda a, b: a + b + np.float32(1000), FLOAT, FLOAT)
    plus = fl.np_computation(lambda a, b: a + b, FLOAT, FLOAT)
    double = fl.np_computation(lambda x: x + x, FLOAT)
    data = (([1.0, 2.0, 4.0], FLOATS), (0.0, FLOAT))
    use = Use(
        "federated_aggregate", fl.federated_aggregate, (*data, plus, never, double)
    )
    watched = Watched(3)
    result = run(use.asked_of(watched.executor, intrinsic_named(use.uri)))
    assert result == 14.0
    assert watched.calls == [0, 4, 0, 0, 0]


def test_it_does_not_optimize_values_that_are_all_equal() -> None:
    """Each client is given a value of its own, by way of plain Python."""
    watched = Watched(3)
    use = uses("numpy")["broadcast"]
    run(use.asked_of(watched.executor, intrinsic_named(use.uri)))
    assert watched.server.calls["compute"] == 1
    assert [client.calls["create_value"] for client in watched.clients] == [1, 1, 1]


# ------------------------------------------------------------------ target_executors


TOTAL = (intrinsic_named("federated_sum"), fl.FunctionType(INTS, INT_AT_SERVER))


async def total(executor: Any, count: int) -> Any:
    fn = await executor.create_value(*TOTAL)
    value = await executor.create_value(list(range(count)), INTS)
    return await (await executor.create_call(fn, value)).compute()


@pytest.mark.parametrize("listed", [False, True], ids=["single", "lists"])
def test_target_executors_maps_placements_to_executors_or_lists(listed: bool) -> None:
    one: Any = [leaf_executor()] if listed else leaf_executor()
    executor = FederatedExecutor({fl.SERVER: one, fl.CLIENTS: one, None: one})
    assert run(total(executor, 1)) == 0
    several = [leaf_executor() for _ in range(3)]
    executor = FederatedExecutor({fl.SERVER: one, fl.CLIENTS: several, None: one})
    assert run(total(executor, 3)) == 3


def test_none_is_the_key_of_the_executor_for_unplaced_computations() -> None:
    async def work(targets: Any) -> None:
        FederatedExecutor(targets)

    targets = {fl.SERVER: leaf_executor(), fl.CLIENTS: [leaf_executor()]}
    text = refused(work(targets), ValueError, "nobody for unplaced work")
    assert "None: executor" in text


@pytest.mark.parametrize(
    ("targets", "kind", "problem"),
    [
        ({"server": leaf_executor()}, TypeError, "no placement"),
        ({fl.SERVER: 5, None: leaf_executor()}, TypeError, "something else"),
        ({fl.CLIENTS: [leaf_executor(), None]}, TypeError, "something else"),
        ([leaf_executor()], TypeError, "maps placements to executors"),
        ({fl.SERVER: [leaf_executor()] * 2}, ValueError, "exactly one participant"),
        ({None: []}, ValueError, "exactly one participant"),
    ],
    ids=["key", "value", "list", "no mapping", "two servers", "nobody"],
)
def test_target_executors_of_another_form_are_refused(
    targets: Any, kind: type[Exception], problem: str
) -> None:
    async def work() -> None:
        FederatedExecutor(targets)

    refused(work(), kind, problem)


@pytest.mark.parametrize(
    ("value", "type_"), [([1, 2], INTS), (5, INT_AT_SERVER)], ids=["clients", "server"]
)
def test_a_placement_without_executors_has_no_participant(
    value: Any, type_: Any
) -> None:
    executor = FederatedExecutor({None: leaf_executor()})
    work = executor.create_value(value, type_)
    refused(work, ValueError, f"no participant at {type_.placement}")


def test_value_error_if_the_value_is_unrecognized() -> None:
    unknown = ir.Intrinsic("federated_nonsense", TOTAL[1])
    text = refused(federated().create_value(unknown), ValueError, "no intrinsic")
    assert "federated_nonsense" in text


def test_close_closes_every_target_once() -> None:
    watched = Watched(2)
    watched.executor.close()
    everybody = (watched.unplaced, watched.server, *watched.clients)
    assert [executor.times_closed for executor in everybody] == [1] * 4
