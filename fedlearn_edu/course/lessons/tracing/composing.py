# SPDX-License-Identifier: Apache-2.0
"""Lesson 03: one program, made of two others."""

from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, looks, raises


def _composed(first: Any, second: Any) -> Any:
    parameter = first.type_signature.parameter
    return fl.federated_computation(lambda x: second(first(x)), parameter)


def _add_one() -> Any:
    return fl.federated_computation(_plus_one, np.float32)


def _plus_one(x: Any) -> Any:
    return x + 1.0


def _times_ten() -> Any:
    return fl.federated_computation(_ten_times, np.float32)


def _ten_times(x: Any) -> Any:
    return x * 10.0


def _is_warm(x: Any) -> Any:
    return x > 20


def _answered(answer: Any, first: Any, second: Any, data: Any) -> Any:
    return _checked(answer(first, second))(data)


def _typed(answer: Any, first: Any, second: Any) -> str:
    return str(_checked(answer(first, second)).type_signature)


def _checked(made: Any) -> Any:
    """What was made, if it is a computation: a Python function has no type."""
    if made is not None and not isinstance(made, fl.Computation):
        found = "a polymorphic computation" if _is_polymorphic(made) else type(made)
        raise TypeError(f"compose returned {found}, not a computation with a type")
    return made


def _is_polymorphic(made: Any) -> bool:
    return "polymorphic" in repr(made)


def _said_twice() -> Any:
    return fl.federated_computation(lambda said: (said, said), np.bool_)


def _at_clients() -> tuple[Any, ...]:
    readings = fl.type_at_clients(np.float32)
    double = fl.federated_computation(lambda x: x + x, readings)
    return (
        double,
        fl.federated_computation(fl.federated_mean, readings),
        [1.0, 2.0, 6.0],
    )


COMPOSE = Exercise(
    name="compose",
    title="one after the other",
    points=15,
    want=wants.function(2),
    reference=lambda: _composed,
    cases=(
        Case("the order matters", lambda: (_add_one(), _times_ten(), 2.0), _answered),
        Case(
            "its type says what goes in and what comes out",
            lambda: (fl.np_computation(_is_warm, np.float32), _said_twice()),
            _typed,
        ),
        Case("twice the same", lambda: (_add_one(), _add_one(), 0.5), _answered),
        Case("clients first, then the server", _at_clients, _answered),
    ),
    mistakes=(
        raises(
            "this is a Python function: put `@fl.federated_computation(…)` above it, "
            "so that it becomes a computation",
            "returned <class 'function'>",
        ),
        raises(
            "the decorator says no types: take them from `first`, as the text says",
            "returned a polymorphic",
        ),
        raises(
            "this is what came out of a call; return the computation itself, uncalled",
            "returned <class|computation and the types|one argument",
        ),
        raises(
            "`federated_map` is for what the clients hold; here `second` is simply "
            "called",
            "federated_map needs",
        ),
        raises(
            "the type of the parameter comes from `first`: it is not always the same",
            r"type [^(]\S* is not assignable",
        ),
        raises(
            "a leaf has no clients and calls no computations: decorate with "
            "`fl.federated_computation`",
            "not for leaf code",
        ),
        raises(
            "the inner function returns nothing: is there a `return` in it?",
            "ReturnedNone",
        ),
        raises(
            "a computation cannot be applied to another one: apply each to data, "
            "inside a body of its own",
            "NotAssignable|cannot be part|Mismatch",
        ),
        raises("nothing came back: is there a `return`?", "NoneType"),
        gives(
            "`second` ran before `first`: the inner call is the first one",
            lambda first, second, data: first(second(data)),
        ),
        gives(
            "there are two results here: only what comes out at the end is asked for",
            lambda first, second, data: (first(data), second(first(data))),
        ),
        gives("only `first` was applied", lambda first, second, data: first(data)),
        gives("only `second` was applied", lambda first, second, data: second(data)),
        gives(
            "`first` was applied twice, and `second` not at all",
            lambda first, second, data: first(first(data)),
        ),
        looks(
            "compose is a Python function here, without a decorator", _is_polymorphic
        ),
    ),
    hints=(
        "Write a program inside `compose`, with one parameter, whose body calls both. "
        "And return it.",
        "composed(x) = second(first(x)). The decorator wants the type of x.",
        "Fill the gaps:\n"
        "    def compose(first, second):\n"
        "        @fl.federated_computation(first.type_signature.parameter)\n"
        "        def composed(x):\n"
        "            return ...\n"
        "\n"
        "        return ...",
    ),
)
