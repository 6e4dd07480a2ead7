# SPDX-License-Identifier: Apache-2.0
"""The spellings of a decorator (semantics 2.2), polymorphic computations (2.4)."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from tests.programs import INT, increment

DECORATORS = [fl.federated_computation, fl.np_computation]


@pytest.fixture(params=DECORATORS, ids=lambda decorator: str(decorator.__name__))
def decorator(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_a_decorator_is_written_in_three_ways(decorator: Any) -> None:
    def first(a: Any, b: Any) -> Any:
        return a

    with_types = decorator(np.int32, np.bool_)(first)
    wrapped = decorator(first, np.int32, np.bool_)
    assert str(with_types.type_signature) == "(<a=int32,b=bool> -> int32)"
    assert wrapped.type_signature == with_types.type_signature
    assert repr(decorator(first)) == "<polymorphic computation first(a, b)>"


@pytest.mark.parametrize("spelling", ["bare", "called", "None"])
def test_a_function_without_parameters_needs_no_types(
    decorator: Any, spelling: str
) -> None:
    def five() -> Any:
        return np.int32(5)

    made = {
        "bare": lambda: decorator(five),
        "called": lambda: decorator()(five),
        "None": lambda: decorator(None)(five),
    }[spelling]()
    assert str(made.type_signature) == "( -> int32)"
    assert made() == 5


class Scaled:
    """A callable with state."""

    def double(self, x: Any) -> Any:
        return x + x

    __call__ = double


@pytest.mark.parametrize(
    "callable_",
    [Scaled().double, Scaled(), functools.partial(lambda a, b: a + b + b, np.int32(0))],
    ids=["method", "instance", "partial"],
)
def test_any_callable_with_a_signature_can_be_decorated(callable_: Any) -> None:
    """differs: the ancestor took functions and methods only."""
    assert fl.np_computation(callable_, np.int32)(4) == 8


def test_an_error_of_the_body_comes_out_and_leaves_no_context_behind(
    decorator: Any,
) -> None:
    def failing() -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        decorator(failing)
    assert increment(1) == 2


def test_a_computation_takes_name_and_documentation_of_its_function(
    decorator: Any,
) -> None:
    def fruit(x: Any) -> Any:
        """Apples."""
        return x

    made = decorator(fruit, np.int32)
    assert (made.__name__, made.__doc__) == ("fruit", "Apples.")
    assert repr(made) == "<computation fruit: (int32 -> int32)>"
    assert decorator(lambda x: x, np.int32).__name__ == "lambda"


def test_a_federated_body_runs_once_at_definition() -> None:
    runs = []

    def body(x: Any) -> Any:
        runs.append(1)
        return x

    made = fl.federated_computation(body, np.int32)
    assert (made(1), made(2), len(runs)) == (1, 2, 1)


# ------------------------------------------------------------------- polymorphic (2.4)


def counting() -> tuple[Any, list[int]]:
    runs: list[int] = []

    def first(a: Any, b: Any) -> Any:
        runs.append(1)
        return a

    return fl.federated_computation(first), runs


def test_it_is_traced_once_for_each_type_of_its_arguments() -> None:
    first, runs = counting()
    for arguments in [(1, 2), (np.int32(3), 4), (1.5, 2), (1.5, np.int32(2))]:
        assert first(*arguments) == arguments[0]
    assert len(runs) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda f: f(1, 2),
        lambda f: f(1, b=2),
        lambda f: f(a=1, b=2),
        lambda f: f(b=2, a=1),
    ],
)
def test_it_is_called_with_positions_and_names(call: Callable[[Any], Any]) -> None:
    first, _ = counting()
    assert call(first) == 1


def test_one_parameter_takes_one_argument_by_position_or_name() -> None:
    same = fl.federated_computation(lambda x: x)
    assert same(1) == same(x=1) == 1
    assert same([1, 2.5]) == [1, 2.5]


# ------------------------------------------------------------------ check_returns_type


def test_a_promised_result_type_is_checked_while_tracing() -> None:
    promise = fl.check_returns_type(np.int32)
    assert fl.federated_computation(promise(lambda x: x), INT)(3) == 3
    assert fl.np_computation(fl.check_returns_type(lambda x: x, INT), INT)(3) == 3
