# SPDX-License-Identifier: Apache-2.0
"""The contract of five methods, which every executor keeps alike."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import TypeMismatchError, TypeNotAssignableError
from fedlearn_edu.executors.base import Executor, resolve
from fedlearn_edu.structure import Struct
from tests.executors.examples import EXAMPLES, call, run
from tests.programs import FLOAT, INT, Pair, add, increment, seven

# These pass on what they are asked; or are another one with a mapping in front.
THOROUGH = ("ThreadDelegating", "Recording", "Federated")


@pytest.fixture(
    params=[
        pytest.param(name, marks=[pytest.mark.thorough] * (name in THOROUGH))
        for name in EXAMPLES
    ]
)
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """Each executor once, over the smallest stack that serves it."""
    made = EXAMPLES[request.param]()
    yield made
    made.close()


def test_a_structure_comes_out_as_a_struct(executor: Executor) -> None:
    type_ = fl.to_type(OrderedDict(a=np.int32, b=[np.float32]))
    plain = Struct.named(a=np.int32(1), b=Struct.unnamed(np.float32(2)))

    async def work() -> Any:
        return await (await executor.create_value(plain, type_)).compute()

    assert run(work()) == plain


def test_functions_are_called(executor: Executor) -> None:
    assert run(call(executor, increment, np.int32(5))) == 6
    assert run(call(executor, seven)) == 7
    assert run(call(executor, add, Struct.named(a=np.int32(2), b=np.int32(3)))) == 5


@pytest.mark.parametrize(
    ("make", "type_"),
    [
        (lambda x, y: [x, y], "<int32,int32>"),
        (lambda x, y: (x, y), "<int32,int32>"),
        (lambda x, y: {"a": x, "b": y}, "<a=int32,b=int32>"),
        (lambda x, y: OrderedDict(a=x, b=y), "<a=int32,b=int32>"),
        (lambda x, y: Struct([("a", x), (None, y)]), "<a=int32,int32>"),
        (Pair, "<a=int32,b=int32>"),
        (lambda x, y: iter([x, y]), "<int32,int32>"),
    ],
    ids=["list", "tuple", "dict", "OrderedDict", "Struct", "namedtuple", "iterator"],
)
def test_a_structure_is_made_of_embedded_values(
    executor: Executor, make: Callable[[Any, Any], Any], type_: str
) -> None:
    async def work() -> Any:
        x = await executor.create_value(np.int32(1), INT)
        y = await executor.create_value(np.int32(2), INT)
        struct = await executor.create_struct(make(x, y))
        assert str(struct.type_signature) == type_
        first = await executor.create_selection(struct, 0)
        return list(await struct.compute()), await first.compute()

    assert run(work()) == ([1, 2], 1)


def test_a_field_is_selected_by_position_or_by_name(executor: Executor) -> None:
    async def work() -> Any:
        source = await executor.create_value(*PAIR)
        by_index = await executor.create_selection(source, 1)
        by_name = await executor.create_selection(source, name="b")
        assert by_index.type_signature == INT
        return await by_index.compute(), await by_name.compute()

    assert run(work()) == (2, 2)


async def select(executor: Executor, value: Any, **field: Any) -> None:
    await executor.create_selection(await executor.create_value(*value), **field)


async def apply(executor: Executor, fn: Any, *argument: Any) -> None:
    embedded = await executor.create_value(*fn)
    given = await executor.create_value(*argument) if argument else None
    await executor.create_call(embedded, given)


async def compute(executor: Executor, *value: Any) -> None:
    await (await executor.create_value(*value)).compute()


ONE = (np.int32(1), INT)
PAIR = (
    Struct.named(a=np.int32(1), b=np.int32(2)),
    fl.to_type(OrderedDict(a=np.int32, b=np.int32)),
)
NO_HANDLE: Any = None
REFUSED: list[tuple[Callable[[Executor], Any], type[Exception], str]] = [
    (lambda e: select(e, PAIR, index=2), IndexError, "from 0 to 1"),
    (lambda e: select(e, PAIR, index=-1), IndexError, "from 0 to 1"),
    (lambda e: select(e, PAIR, name="c"), TypeError, "no such field"),
    (lambda e: select(e, PAIR), ValueError, "found:    neither"),
    (lambda e: select(e, PAIR, index=0, name="a"), ValueError, "both"),
    (lambda e: select(e, ONE, index=0), TypeMismatchError, "structure"),
    (lambda e: apply(e, [increment]), TypeMismatchError, "too many or too few"),
    (lambda e: apply(e, [seven], *ONE), TypeMismatchError, "too many or too few"),
    (lambda e: apply(e, [increment], np.float32(1), FLOAT), TypeMismatchError,
     "not assignable"),
    (lambda e: apply(e, ONE), TypeMismatchError, "only functions"),
    (lambda e: compute(e, increment), TypeMismatchError, "function"),
    (lambda e: e.create_value(np.int32(5)), TypeMismatchError, "needs a type"),
    (lambda e: e.create_value(increment, fl.FunctionType(FLOAT, FLOAT)),
     TypeNotAssignableError, "not assignable"),
    (lambda e: e.create_struct([5]), TypeMismatchError, "embedded in the executor"),
    (lambda e: e.create_call(NO_HANDLE), TypeMismatchError, "embedded in the executor"),
]  # fmt: skip


def test_what_no_executor_can_do_is_refused(executor: Executor) -> None:
    for work, error, says in REFUSED:
        with pytest.raises(error, match=says):
            run(work(executor))


def test_handles_of_another_executor_are_refused(executor: Executor) -> None:
    foreign = fl.framework.NumPyExecutor().create_value

    async def as_function() -> Any:
        await executor.create_call(await foreign(seven))

    async def as_argument() -> Any:
        own = await executor.create_value(increment)
        await executor.create_call(own, await foreign(np.int32(1), INT))

    async def as_element() -> Any:
        await executor.create_struct([await foreign(np.int32(1), INT)])

    async def as_source() -> Any:
        await executor.create_selection(
            await foreign(Struct.unnamed(np.int32(1)), fl.to_type([INT])), 0
        )

    for work in (as_function, as_argument, as_element, as_source):
        with pytest.raises(TypeMismatchError, match="embedded in the executor"):
            run(work())


def test_closing_twice_does_no_harm(executor: Executor) -> None:
    executor.close()
    executor.close()


# ------------------------------------------------------------------ the helpers


def test_a_type_may_be_asked_for_that_is_more_general() -> None:
    wanted = fl.FunctionType(
        fl.TensorType(np.int32, [3]), fl.TensorType(np.int32, [None])
    )
    vector = fl.TensorType(np.int32, [None])
    same = fl.np_computation(lambda x: x, vector)
    assert resolve(same, wanted)[1] == wanted
