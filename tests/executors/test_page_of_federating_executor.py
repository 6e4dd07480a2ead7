# SPDX-License-Identifier: Apache-2.0
"""The old page of `FederatingExecutor`, sentence by sentence.

A test is named after the sentence it holds true. What the page says about methods is
asked of `FederatingExecutor` and of `FederatedExecutor` alike.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.base import ExecutorValue
from fedlearn_edu.framework import (
    FederatingExecutor,
    FederatingStrategy,
    Handle,
    NumPyExecutor,
    implements,
    intrinsic_named,
    ir,
)
from tests.executors.direct import FLAT, refused
from tests.executors.examples import CountingExecutor, federating, run
from tests.ids import plain
from tests.programs import (
    FLOAT,
    INT,
    INT_AT_SERVER,
    INTS,
    NUMBERS,
    NUMBERS_AT_CLIENTS,
    add,
    increment,
    same,
    seven,
)

fw = fl.framework
EQUAL = fl.type_at_clients(INT, all_equal=True)
FIVE = ir.Literal(np.int32(5), INT)
SUM_TYPE = fl.FunctionType(INTS, INT_AT_SERVER)
SUM = ir.Intrinsic("federated_sum", SUM_TYPE)
MAP_TYPE = fl.FunctionType(fl.StructType([increment.type_signature, INTS]), INTS)


@pytest.fixture(params=FLAT)
def executor(request: pytest.FixtureRequest) -> Any:
    """Either form, over two clients."""
    return FLAT[request.param]()


async def embedded(executor: Any, value: Any, type_: Any = None) -> Any:
    return (await executor.create_value(value, type_)).type_signature


async def computed(executor: Any, value: Any, type_: Any = None) -> Any:
    return await (await executor.create_value(value, type_)).compute()


async def called(executor: Any, fn: Any, arg: Any = None) -> Any:
    """Calls on what `fn` and `arg`, pairs of value and type, become."""
    function = await executor.create_value(*fn)
    argument = None if arg is None else await executor.create_value(*arg)
    return await (await executor.create_call(function, argument)).compute()


# ------------------------------------------------------------------ the introduction


def counted(clients: int) -> tuple[Any, CountingExecutor, list[Any], CountingExecutor]:
    server, unplaced = CountingExecutor(), CountingExecutor()
    at_clients = [CountingExecutor() for _ in range(clients)]
    targets: Any = {fl.SERVER: server, fl.CLIENTS: at_clients}
    strategy = fw.FederatedResolvingStrategy.factory(targets)
    return FederatingExecutor(strategy, unplaced), server, at_clients, unplaced


def test_work_is_delegated_to_target_executors_of_individual_placements() -> None:
    executor, server, clients, unplaced = counted(3)

    async def work() -> Any:
        fn = await executor.create_value(increment)
        value = await executor.create_value([1, 2, 3], INTS)
        argument = await executor.create_struct([fn, value])
        mapped = await executor.create_call(
            await executor.create_value(intrinsic_named("federated_map"), MAP_TYPE),
            argument,
        )
        return await mapped.compute()

    assert run(work()) == (2, 3, 4)
    assert [client.calls["create_call"] for client in clients] == [1, 1, 1]
    assert not server.calls
    assert not unplaced.calls


class OneValue(FederatingStrategy):
    """Whatever is federated is one plain value, which everybody shares."""

    async def embed(self, value: Any, type_: Any) -> Any:
        return value if type_.all_equal else value[0]

    async def compute(self, representation: Any, type_: Any) -> Any:
        return representation

    def close(self) -> None:
        """Has no targets."""

    @implements("federated_broadcast")
    async def _broadcast(self, type_: Any, value: Handle) -> Any:
        return value.representation


class Upwards(OneValue):
    """The same, and its broadcast adds a hundred."""

    @implements("federated_broadcast")
    async def _louder(self, type_: Any, value: Handle) -> Any:
        return value.representation + 100


BROADCAST_TYPE = fl.FunctionType(INT_AT_SERVER, EQUAL)
BROADCAST = (intrinsic_named("federated_broadcast"), BROADCAST_TYPE)


def over(strategy: type[FederatingStrategy]) -> FederatingExecutor:
    return FederatingExecutor(lambda executor: strategy(), NumPyExecutor())


def test_the_strategy_decides_which_federated_intrinsics_are_implemented() -> None:
    assert run(called(over(OneValue), BROADCAST, (5, INT_AT_SERVER))) == 5
    value = (intrinsic_named("federated_value"), fl.FunctionType(INT, EQUAL))
    text = refused(
        called(over(OneValue), value, (5, INT)), NotImplementedError, "federated_value"
    )
    assert '@implements("federated_value")' in text


def test_the_strategy_decides_how_federated_intrinsics_are_implemented() -> None:
    assert run(called(over(Upwards), BROADCAST, (5, INT_AT_SERVER))) == 105


def test_the_strategy_decides_how_federated_values_are_represented() -> None:
    async def representation(executor: Any) -> Any:
        return (await executor.create_value([1, 2], INTS)).representation

    assert run(representation(over(OneValue))) == 1
    members = run(representation(federating()))
    assert len(members) == 2
    assert all(isinstance(member, ExecutorValue) for member in members)


def test_the_strategy_decides_how_work_is_delegated_to_the_target_executors() -> None:
    """Two clients may be one target: the flat strategy embeds a function there once."""
    shared = CountingExecutor()
    strategy = fw.FederatedResolvingStrategy.factory({fl.CLIENTS: [shared, shared]})
    executor = FederatingExecutor(strategy, NumPyExecutor())
    program = (
        intrinsic_named("federated_eval"),
        fl.FunctionType(seven.type_signature, INTS),
    )
    assert run(called(executor, program, (seven, None))) == (7, 7)
    assert shared.calls["create_value"] == 1
    assert shared.calls["create_call"] == 2


def test_the_strategy_decides_which_placements_are_implemented() -> None:
    strategy = fw.FederatedResolvingStrategy.factory({fl.CLIENTS: [NumPyExecutor()]})
    executor = FederatingExecutor(strategy, NumPyExecutor())
    assert run(computed(executor, [1], INTS)) == (1,)
    work = executor.create_value(1, INT_AT_SERVER)
    text = refused(work, ValueError, "no participant at SERVER")
    assert "found:    CLIENTS" in text


def test_unplaced_types_computations_and_processing_go_to_the_unplaced_executor() -> (
    None
):
    executor, server, clients, unplaced = counted(1)

    async def work() -> Any:
        one = await executor.create_value(1, INT)
        pair = await executor.create_struct([one, one])
        two = await executor.create_call(await executor.create_value(add), pair)
        return await two.compute()

    assert run(work()) == 2
    assert unplaced.calls["create_value"] == 2
    assert unplaced.calls["create_call"] == 1
    assert not server.calls
    assert not clients[0].calls


def test_a_strategy_injects_its_logic_into_a_stack() -> None:
    program = fl.federated_computation(
        lambda v: fl.federated_broadcast(v), INT_AT_SERVER
    )
    stack = fw.ReferenceResolvingExecutor(over(Upwards))
    assert run(called(stack, (program,), (5, INT_AT_SERVER))) == 105


def test_strategy_factory_accepts_the_executor_and_returns_a_new_strategy() -> None:
    given = []

    def factory(executor: FederatingExecutor) -> FederatingStrategy:
        given.append(executor)
        return OneValue()

    first, second = (FederatingExecutor(factory, NumPyExecutor()) for _ in range(2))
    assert given == [first, second]
    assert isinstance(first.strategy, OneValue)
    assert first.strategy is not second.strategy


@pytest.mark.parametrize(
    "arguments",
    [
        ({fl.SERVER: NumPyExecutor()}, NumPyExecutor()),
        (NumPyExecutor(), NumPyExecutor()),
        (lambda executor: OneValue(), None),
        (lambda executor: OneValue(), NumPyExecutor),
    ],
    ids=["a mapping", "an executor", "nobody", "a class"],
)
def test_the_arguments_are_a_strategy_factory_and_an_executor(arguments: Any) -> None:
    async def work() -> None:
        FederatingExecutor(*arguments)

    text = refused(work(), TypeError, "a strategy factory and an executor")
    assert "FederatedResolvingStrategy.factory" in text


# ------------------------------------------------------------------ close


def test_close_closes_the_target_executors() -> None:
    executor, server, clients, unplaced = counted(2)
    executor.close()
    assert [e.times_closed for e in (server, *clients, unplaced)] == [1, 1, 1, 1]


@pytest.mark.parametrize("form", ["federating", "federated"])
def test_close_closes_an_executor_with_several_roles_once(form: str) -> None:
    one = CountingExecutor()
    targets: Any = {fl.SERVER: one, fl.CLIENTS: [one, one], None: one}
    if form == "federated":
        fw.FederatedExecutor(targets).close()
    else:
        strategy = fw.FederatedResolvingStrategy.factory(targets)
        FederatingExecutor(strategy, one).close()
    assert one.times_closed == 1


def test_close_closes_the_children_of_a_composing_strategy() -> None:
    server, unplaced = CountingExecutor(), CountingExecutor()
    children = [CountingExecutor(federating(1)) for _ in range(2)]
    strategy = fw.FederatedComposingStrategy.factory(server, children, [1, 1])
    FederatingExecutor(strategy, unplaced).close()
    assert [e.times_closed for e in (server, *children, unplaced)] == [1, 1, 1, 1]


# ------------------------------------------------------------------ create_call


@pytest.mark.parametrize(
    ("fn", "argument", "result"),
    [
        ((increment,), (5, INT), 6),
        ((increment.tree,), (5, INT), 6),
        ((seven,), None, 7),
        ((intrinsic_named("federated_sum"), SUM_TYPE), ([1, 2], INTS), 3),
        ((SUM,), ([1, 2], INTS), 3),
    ],
    ids=["leaf", "leaf node", "no argument", "definition", "intrinsic node"],
)
def test_create_call_takes_leaf_code_and_intrinsics(
    executor: Any, fn: Any, argument: Any, result: Any
) -> None:
    assert run(called(executor, fn, argument)) == result


@pytest.mark.tensorflow
@pytest.mark.parametrize("form", FLAT)
def test_create_call_takes_tensorflow(form: str) -> None:
    executor = FLAT[form](leaf=fw.EagerTFExecutor)
    double = fl.tf_computation(lambda x: x + x, np.float32)
    assert run(called(executor, (double,), (1.5, FLOAT))) == 3.0
    constant = fl.tf_computation(lambda: 7)
    assert run(called(executor, (constant,))) == 7


def test_create_call_returns_an_executor_value_representing_the_call(
    executor: Any,
) -> None:
    async def work() -> Any:
        fn = await executor.create_value(intrinsic_named("federated_sum"), SUM_TYPE)
        value = await executor.create_value([1, 2], INTS)
        return await executor.create_call(fn, value)

    call = run(work())
    assert isinstance(call, ExecutorValue)
    assert call.type_signature == INT_AT_SERVER


@pytest.mark.parametrize("comp", [increment, increment.tree, intrinsic_named, 5])
def test_create_call_raises_type_error_if_comp_is_not_embedded(
    executor: Any, comp: Any
) -> None:
    refused(executor.create_call(comp), TypeError, "must be embedded")


@pytest.mark.parametrize("arg", [5, np.int32(5), [5]], ids=plain)
def test_create_call_raises_type_error_if_arg_is_not_embedded(
    executor: Any, arg: Any
) -> None:
    async def work() -> None:
        await executor.create_call(await executor.create_value(increment), arg)

    refused(work(), TypeError, "must be embedded")


@pytest.mark.parametrize("form", FLAT)
@pytest.mark.parametrize("foreign", ["comp", "arg"])
def test_create_call_raises_type_error_if_another_executor_embedded_it(
    executor: Any, form: str, foreign: str
) -> None:
    other = FLAT[form]()
    first, second = (other, executor) if foreign == "comp" else (executor, other)

    async def work() -> None:
        fn = await first.create_value(increment)
        await executor.create_call(fn, await second.create_value(5, INT))

    text = refused(work(), TypeError, "must be embedded in the executor that uses it")
    assert "a value of another executor" in text


@pytest.mark.parametrize(
    ("value", "type_"),
    [(5, INT), ([1, 2], INTS), ([1, 2], [INT, INT]), (fl.CLIENTS, None)],
    ids=plain,
)
def test_create_call_raises_type_error_if_comp_is_no_function(
    executor: Any, value: Any, type_: Any
) -> None:
    work = called(executor, (value, type_))
    refused(work, TypeError, "only functions can be called")


@pytest.mark.parametrize(
    ("fn", "argument", "problem"),
    [
        (increment, None, "too many or too few"),
        (seven, (5, INT), "too many or too few"),
        (increment, (5.0, FLOAT), "not assignable"),
        (increment, (5, INT_AT_SERVER), "not assignable"),
        (SUM, (5, INT_AT_SERVER), "not assignable"),
        (SUM, ([5.0, 6.0], fl.type_at_clients(FLOAT)), "not assignable"),
    ],
    ids=["missing", "superfluous", "dtype", "placed", "placement", "member"],
)
def test_create_call_raises_type_error_if_comp_and_arg_are_not_compatible(
    executor: Any, fn: Any, argument: Any, problem: str
) -> None:
    refused(called(executor, (fn,), argument), TypeError, problem)


def test_create_call_raises_value_error_if_comp_is_a_lambda(executor: Any) -> None:
    text = refused(called(executor, (same,), (5, INT)), ValueError, "not call lambdas")
    assert "ReferenceResolvingExecutor" in text


# ------------------------------------------------------------------ create_selection

PAIR = fl.to_type(OrderedDict(a=np.int32, b=np.float32))


async def selected(executor: Any, source: Any, **how: Any) -> Any:
    return await (await executor.create_selection(source, **how)).compute()


@pytest.mark.parametrize("how", [{"index": 1}, {"name": "b"}], ids=str)
def test_create_selection_selects_from_an_embedded_value(
    executor: Any, how: dict[str, Any]
) -> None:
    async def work() -> Any:
        source = await executor.create_value({"a": 1, "b": 2.5}, PAIR)
        return await selected(executor, source, **how)

    assert run(work()) == 2.5


@pytest.mark.parametrize("how", [{"index": 1}, {"name": "b"}], ids=str)
def test_create_selection_selects_from_an_embedded_computation(
    executor: Any, how: dict[str, Any]
) -> None:
    """A source may be what a computation returned."""
    both = fl.np_computation(lambda x: OrderedDict(a=x, b=x + x), np.int32)

    async def work() -> Any:
        fn = await executor.create_value(both)
        source = await executor.create_call(fn, await executor.create_value(2, INT))
        return await selected(executor, source, **how)

    assert run(work()) == 4


@pytest.mark.parametrize("how", [{"index": 1}, {"name": "b"}], ids=str)
def test_create_selection_selects_from_a_struct(
    executor: Any, how: dict[str, Any]
) -> None:
    async def work() -> Any:
        a = await executor.create_value(5, INT)
        b = await executor.create_value([1, 2], INTS)
        source = await executor.create_struct(OrderedDict(a=a, b=b))
        return await selected(executor, source, **how)

    assert run(work()) == (1, 2)


def test_create_selection_returns_an_executor_value_representing_the_selection(
    executor: Any,
) -> None:
    async def work() -> Any:
        source = await executor.create_value({"a": 1, "b": 2.5}, PAIR)
        return await executor.create_selection(source, 0)

    selection = run(work())
    assert isinstance(selection, ExecutorValue)
    assert selection.type_signature == INT


@pytest.mark.parametrize("form", FLAT)
def test_create_selection_raises_type_error_if_source_is_not_embedded(
    executor: Any, form: str
) -> None:
    async def foreign() -> None:
        source = await FLAT[form]().create_value({"a": 1, "b": 2.5}, PAIR)
        await executor.create_selection(source, 0)

    refused(foreign(), TypeError, "must be embedded")
    for source in ([1, 2], fl.Struct.unnamed(1, 2)):
        refused(executor.create_selection(source, 0), TypeError, "must be embedded")


@pytest.mark.parametrize(
    ("value", "type_", "cure"),
    [
        (5, INT, "as it is"),
        ([1, 2], INTS, "federated_map"),
        ([1, 2], fl.type_at_server([INT, INT]), "federated_map"),
        ([1, 2], NUMBERS, "as it is"),
        (increment, None, "as it is"),
    ],
    ids=plain,
)
def test_create_selection_raises_type_error_if_source_is_no_struct(
    executor: Any, value: Any, type_: Any, cure: str
) -> None:
    async def work() -> None:
        source = await executor.create_value(value, type_)
        await executor.create_selection(source, 0)

    assert cure in refused(work(), TypeError, "only structures have fields")


@pytest.mark.parametrize(
    ("how", "found"), [({}, "neither"), ({"index": 0, "name": "a"}, "both")], ids=str
)
def test_create_selection_raises_value_error_without_exactly_one_of_index_and_name(
    executor: Any, how: dict[str, Any], found: str
) -> None:
    async def work() -> None:
        source = await executor.create_value({"a": 1, "b": 2.5}, PAIR)
        await executor.create_selection(source, **how)

    text = refused(work(), ValueError, "by its index or by its name")
    assert f"found:    {found}" in text


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ({"index": 2}, IndexError),
        ({"index": -1}, IndexError),
        ({"name": "c"}, TypeError),
    ],
    ids=str,
)
def test_create_selection_names_a_field_that_is_not_there(
    executor: Any, how: dict[str, Any], kind: type[Exception]
) -> None:
    async def work() -> None:
        source = await executor.create_value({"a": 1, "b": 2.5}, PAIR)
        await executor.create_selection(source, **how)

    assert "from 0 to 1" in refused(work(), kind, "no such field")


def test_create_selection_raises_value_error_if_source_is_of_no_supported_kind() -> (
    None
):
    """As when a strategy represents a structure in a way of its own."""

    class Twofold(OneValue):
        @implements("federated_value")
        async def _value(self, type_: Any, value: Handle) -> Any:
            return ("one", "two")

    executor = over(Twofold)
    twofold = ir.Intrinsic("federated_value", fl.FunctionType(INT, fl.to_type([INT])))

    async def work() -> None:
        fn = await executor.create_value(twofold)
        source = await executor.create_call(fn, await executor.create_value(1, INT))
        await executor.create_selection(source, 0)

    assert "a Struct" in refused(work(), ValueError, "does not select from this kind")


# ------------------------------------------------------------------ create_struct


class Pair(NamedTuple):
    a: Any
    b: Any


@pytest.mark.parametrize(
    ("make", "type_"),
    [
        (lambda x, y: [x, y], "<int32,{int32}@CLIENTS>"),
        (lambda x, y: (x, y), "<int32,{int32}@CLIENTS>"),
        (lambda x, y: {"b": x, "a": y}, "<b=int32,a={int32}@CLIENTS>"),
        (lambda x, y: OrderedDict(a=x, b=y), "<a=int32,b={int32}@CLIENTS>"),
        (lambda x, y: fl.Struct([("a", x), (None, y)]), "<a=int32,{int32}@CLIENTS>"),
        (Pair, "<a=int32,b={int32}@CLIENTS>"),
        (lambda x, y: (value for value in (x, y)), "<int32,{int32}@CLIENTS>"),
        (lambda x, y: [], "<>"),
    ],
    ids=[
        "list",
        "tuple",
        "dict",
        "OrderedDict",
        "Struct",
        "namedtuple",
        "generator",
        "empty",
    ],
)
def test_create_struct_takes_a_collection_of_embedded_values(
    executor: Any, make: Callable[[Any, Any], Any], type_: str
) -> None:
    async def work() -> Any:
        x = await executor.create_value(5, INT)
        y = await executor.create_value([1, 2], INTS)
        struct = await executor.create_struct(make(x, y))
        assert isinstance(struct, ExecutorValue)
        assert str(struct.type_signature) == type_
        return list(await struct.compute())

    assert run(work()) == ([] if type_ == "<>" else [5, (1, 2)])


def test_create_struct_nests(executor: Any) -> None:
    async def work() -> Any:
        x = await executor.create_value(5, INT)
        inner = await executor.create_struct([x])
        return await (await executor.create_struct({"a": inner, "b": x})).compute()

    assert run(work()) == fl.Struct.named(a=fl.Struct.unnamed(5), b=5)


@pytest.mark.parametrize(
    "elements", [[5], {"a": np.int32(5)}, [[]], "ab", [None]], ids=plain
)
def test_create_struct_raises_type_error_if_elements_are_not_embedded(
    executor: Any, elements: Any
) -> None:
    refused(executor.create_struct(elements), TypeError, "must be embedded")


@pytest.mark.parametrize("form", FLAT)
def test_create_struct_raises_type_error_if_another_executor_embedded_them(
    executor: Any, form: str
) -> None:
    async def work() -> None:
        mine = await executor.create_value(5, INT)
        other = await FLAT[form]().create_value(5, INT)
        await executor.create_struct([mine, other])

    refused(work(), TypeError, "must be embedded")


def test_create_struct_raises_type_error_for_what_is_no_collection(
    executor: Any,
) -> None:
    async def work() -> None:
        await executor.create_struct(await executor.create_value(5, INT))

    assert "[value]" in refused(work(), TypeError, "several embedded values")


# ------------------------------------------------------------------ create_value


@pytest.mark.parametrize(
    ("uri", "type_"),
    [
        ("federated_sum", SUM_TYPE),
        ("federated_map", MAP_TYPE),
        ("federated_broadcast", BROADCAST_TYPE),
        ("federated_value", fl.FunctionType(INT, EQUAL)),
        ("federated_value", fl.FunctionType(INT, INT_AT_SERVER)),
        ("sequence_sum", fl.FunctionType(NUMBERS, INT)),
    ],
    ids=str,
)
def test_create_value_takes_an_intrinsic_definition(
    executor: Any, uri: str, type_: Any
) -> None:
    assert run(embedded(executor, intrinsic_named(uri), type_)) == type_


def test_create_value_asks_for_the_type_of_an_intrinsic_definition(
    executor: Any,
) -> None:
    work = executor.create_value(intrinsic_named("federated_sum"))
    text = refused(work, TypeError, "federated_sum cannot have this type")
    assert "expected: ({T}@CLIENTS -> T@SERVER)" in text
    assert "found:    no type" in text


@pytest.mark.parametrize(
    ("uri", "type_", "problem"),
    [
        ("federated_sum", "int32", "no function"),
        ("federated_sum", "( -> int32@SERVER)", "no function"),
        ("federated_sum", "(int32 -> int32@SERVER)", "form"),
        ("federated_sum", "({int32}@CLIENTS -> float32@SERVER)", "letter T"),
        ("federated_sum", "({int32}@CLIENTS -> int32)", "form"),
        (
            "federated_map",
            "(<(int32 -> bool),{int32}@CLIENTS> -> {int32}@CLIENTS)",
            "U",
        ),
        ("federated_map", "(<(bool -> bool),{int32}@CLIENTS> -> {bool}@CLIENTS)", "T"),
        (
            "federated_map",
            "(<(int32 -> int32),{int32}@CLIENTS> -> int32@CLIENTS)",
            "not assignable",
        ),
        ("federated_collect", "({int32}@CLIENTS -> int32@SERVER)", "form"),
        (
            "federated_zip",
            "(<int32,int32@SERVER> -> <int32,int32>@SERVER)",
            "placement",
        ),
        ("federated_mean", "({int32}@CLIENTS -> int32@SERVER)", "floating-point"),
        ("federated_sum", "({string}@CLIENTS -> string@SERVER)", "added up"),
    ],
)
def test_create_value_checks_an_intrinsic_definition_against_its_generic_type(
    executor: Any, uri: str, type_: str, problem: str
) -> None:
    work = executor.create_value(intrinsic_named(uri), fl.parse_type(type_))
    refused(work, TypeError, problem)


@pytest.mark.parametrize("placement", [fl.CLIENTS, fl.SERVER], ids=str)
def test_create_value_takes_a_placement_literal(executor: Any, placement: Any) -> None:
    assert run(computed(executor, placement)) is placement
    assert run(embedded(executor, placement)) == fl.PlacementType()
    assert run(computed(executor, placement, fl.PlacementType())) is placement
    assert run(computed(executor, ir.PlacementLiteral(placement))) is placement


def test_create_value_raises_type_error_for_a_placement_of_another_type(
    executor: Any,
) -> None:
    refused(executor.create_value(fl.CLIENTS, INT), TypeError, "not assignable")
    refused(executor.create_value(5, fl.PlacementType()), TypeError, "a placement")


@pytest.mark.parametrize(
    "computation",
    [increment, increment.tree, same, same.tree, SUM],
    ids=["leaf", "leaf node", "lambda", "lambda node", "intrinsic node"],
)
def test_create_value_takes_computations_that_are_leaf_code_lambdas_or_intrinsics(
    executor: Any, computation: Any
) -> None:
    type_ = getattr(computation, "type_signature", getattr(computation, "type", None))
    assert run(embedded(executor, computation)) == type_
    assert run(embedded(executor, computation, type_)) == type_


@pytest.mark.tensorflow
@pytest.mark.parametrize("form", FLAT)
def test_create_value_takes_tensorflow(form: str) -> None:
    executor = FLAT[form](leaf=fw.EagerTFExecutor)
    double = fl.tf_computation(lambda x: x + x, np.float32)
    for value in (double, double.tree):
        assert str(run(embedded(executor, value))) == "(float32 -> float32)"


@pytest.mark.parametrize(
    ("type_", "value", "result"),
    [
        (INTS, [1, 2], (1, 2)),
        (INTS, (np.int32(1), np.int32(2)), (1, 2)),
        (fl.FederatedType(INT, fl.SERVER, all_equal=False), [5], (5,)),
        (NUMBERS_AT_CLIENTS, [[1, 2], [3]], ((1, 2), (3,))),
        (
            fl.type_at_clients([INT, INT]),
            [[1, 2], [3, 4]],
            (fl.Struct.unnamed(1, 2), fl.Struct.unnamed(3, 4)),
        ),
    ],
    ids=str,
)
def test_create_value_takes_a_list_if_the_type_is_federated(
    executor: Any, type_: Any, value: Any, result: Any
) -> None:
    assert run(computed(executor, value, type_)) == result


@pytest.mark.parametrize("type_", [EQUAL, INT_AT_SERVER], ids=str)
def test_create_value_takes_the_bare_value_if_the_type_is_all_equal(
    executor: Any, type_: Any
) -> None:
    assert run(computed(executor, 5, type_)) == 5


@pytest.mark.parametrize(
    ("type_", "value", "result"),
    [
        (INT, 5, 5),
        (INT, np.int64(5), 5),
        (FLOAT, 5, 5.0),
        (np.int32, 5, 5),
        ([np.int32, np.float32], [1, 2], fl.Struct.unnamed(1, 2.0)),
        (PAIR, {"b": 2, "a": 1}, fl.Struct.named(a=1, b=2.0)),
        (NUMBERS, [1, 2], (1, 2)),
        (np.str_, "text", b"text"),
        ([], [], fl.Struct([])),
    ],
    ids=str,
)
def test_create_value_takes_a_python_value_of_an_unplaced_type(
    executor: Any, type_: Any, value: Any, result: Any
) -> None:
    assert run(computed(executor, value, type_)) == result


def test_create_value_takes_several_arguments_in_one_structure(executor: Any) -> None:
    """Each field is embedded where it belongs, so intrinsics can be given it whole."""
    apply = (intrinsic_named("federated_map"), MAP_TYPE)
    argument = ([increment, [1, 2]], MAP_TYPE.parameter)
    assert run(called(executor, apply, argument)) == (2, 3)


def test_create_value_returns_a_value_embedded_using_the_strategy() -> None:
    value = run(federating().create_value([1, 2], INTS))
    assert isinstance(value, ExecutorValue)
    assert value.type_signature == INTS
    assert run(computed(over(OneValue), [1, 2], INTS)) == 1


def test_create_value_converts_type_spec_to_a_type(executor: Any) -> None:
    assert run(embedded(executor, 5, np.int32)) == INT
    assert run(embedded(executor, [1, 2], [np.int32, INT])) == fl.to_type([INT, INT])
    refused(executor.create_value(5, "int32"), TypeError, "does not denote a type")


@pytest.mark.parametrize(
    ("value", "type_", "problem"),
    [
        (5.5, INT, "cannot become"),
        ("text", INT, "cannot become"),
        (None, INT, "is missing"),
        (5, [INT, INT], "a structure is needed"),
        ([1, 2, 3], [INT, INT], "number of fields"),
        ({"a": 1, "c": 2}, PAIR, "keys of a dict"),
        (5, NUMBERS, "a sequence is needed"),
        (5, INTS, "one entry for each participant"),
        ({1, 2}, INTS, "one entry for each participant"),
        (object(), INTS, "one entry for each participant"),
        (["a", "b"], INTS, "cannot become"),
        ([[1], [2]], INTS, "wrong shape"),
        ([5], INT_AT_SERVER, "wrong shape"),
        ([1, 2], EQUAL, "wrong shape"),
        ([[1, 2], 5], [INTS, INTS], "one entry per client"),
        (increment, INT, "not assignable"),
        (increment, fl.FunctionType(FLOAT, FLOAT), "not assignable"),
        (SUM, fl.FunctionType(INTS, INT), "not assignable"),
    ],
    ids=plain,
)
def test_create_value_raises_type_error_if_value_and_type_do_not_match(
    executor: Any, value: Any, type_: Any, problem: str
) -> None:
    refused(executor.create_value(value, type_), TypeError, problem)


@pytest.mark.parametrize("value", [5, [1, 2], object(), len], ids=plain)
def test_create_value_raises_type_error_if_a_value_has_no_type(
    executor: Any, value: Any
) -> None:
    refused(executor.create_value(value), TypeError, "needs a type")


@pytest.mark.parametrize("count", [0, 1, 3])
def test_create_value_counts_the_members_of_a_list(executor: Any, count: int) -> None:
    work = executor.create_value([7] * count, INTS)
    text = refused(work, ValueError, "wrong number of members")
    assert "expected: 2 entries" in text
    assert f"found:    {count} entries" in text


@pytest.mark.parametrize(
    "value",
    [
        ir.Reference("x", INT),
        ir.Block((("x", FIVE),), FIVE),
        ir.Call(increment.tree, FIVE),
        ir.Selection(ir.Struct(((None, FIVE),)), 0),
        ir.Struct(((None, FIVE),)),
    ],
    ids=lambda node: type(node).__name__,
)
def test_create_value_raises_value_error_for_trees_of_other_kinds(
    executor: Any, value: Any
) -> None:
    text = refused(executor.create_value(value), ValueError, "this kind of tree")
    assert type(value).__name__ in text
    assert "ReferenceResolvingExecutor" in text


@pytest.mark.parametrize(
    "value",
    [len, lambda x: x, fl.federated_computation(lambda x: x), 5],
    ids=["function", "lambda", "polymorphic", "number"],
)
def test_create_value_raises_value_error_for_functions_that_are_no_computations(
    executor: Any, value: Any
) -> None:
    work = executor.create_value(value, fl.FunctionType(INT, INT))
    text = refused(work, ValueError, "does not embed this kind of function")
    assert "make it a computation" in text


def test_create_value_raises_value_error_for_an_intrinsic_nobody_defined(
    executor: Any,
) -> None:
    unknown = ir.Intrinsic("federated_som", SUM_TYPE)
    text = refused(executor.create_value(unknown), ValueError, "no intrinsic")
    assert "did you mean federated_sum?" in text
    stray = fw.IntrinsicDef("federated_som", ("({T}@CLIENTS -> T@SERVER)",))
    refused(executor.create_value(stray, SUM_TYPE), ValueError, "no intrinsic")
