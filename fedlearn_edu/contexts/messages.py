# SPDX-License-Identifier: Apache-2.0
"""The errors of contexts: participants, time limits, factories."""

from collections.abc import Iterable, Sequence

from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.errors import (
    ArgumentsError,
    CardinalityError,
    ComputationTimeoutError,
    ContextError,
    FedLearnError,
    StructureError,
    TypeMismatchError,
    counted,
    describe,
    is_whole_number,
)
from fedlearn_edu.language.context_stack import Context
from fedlearn_edu.types import FunctionType, Placement, Type

# ------------------------------------------------------------------------- participants


def unknown_number_of_clients(callee: str, type_: Type) -> CardinalityError:
    return CardinalityError(
        f"nothing tells {callee} how many clients there are",
        expected="data with one entry per client, or a default number of clients",
        found=str(type_),
        do="place([…, …], CLIENTS) says it; so does "
        "local_executor_factory(default_num_clients=3)",
    )


def counts_disagree(
    placement: Placement, count: int, where: str, found: int, path: str
) -> CardinalityError:
    return CardinalityError(
        f"parts of the argument disagree on the number of {placement.uri}",
        expected=f"{counted(count, 'member')}, as in {where}",
        found=counted(found, "member"),
        where=path,
        do="pass one entry for each participant, everywhere",
    )


def not_a_computation(
    callee: str, type_: FunctionType, found: object
) -> TypeMismatchError:
    return TypeMismatchError(
        f"{callee} takes a computation here",
        expected=str(type_),
        found=describe(found),
        where=f"{callee}'s argument",
        do="decorate the function: np_computation(function, type), …",
    )


# --------------------------------------------------------------------------------- time


def no_time_limit(found: object) -> ArgumentsError:
    return ArgumentsError(
        "a time limit is a number of seconds",
        expected="a positive number, or timeout=None for no limit",
        found=describe(found),
        do="write 10 for ten seconds",
    )


def cannot_be_given_up(seconds: float) -> ContextError:
    return ContextError(
        "a call on your own thread cannot be given up",
        expected="a stack with threads of its own",
        found=f"a time limit of {seconds:g} s",
        do="leave the limit out, or take local_executor_factory()",
    )


def too_late(
    callee: str, seconds: float | None, under_way: Sequence[str]
) -> ComputationTimeoutError:
    oldest, *others = under_way or ["no leaf code"]
    goes_on = "; the code goes on in its thread, for Python cannot stop one"
    more = f", and {len(others)} more" if others else ""
    return ComputationTimeoutError(
        f"{callee} did not end in time",
        expected=f"a result within {seconds:g} s",
        found=f"still running: {oldest}{more}",
        do="look there for what does not end, or allow more time"
        + ("" if is_browser() else goes_on),
    )


def waits_for_itself() -> ContextError:
    return ContextError(
        "a synchronous call was made on a thread that runs calls",
        expected="a call from your own code",
        do="in a generator, compute the elements without calls, or beforehand; "
        "inside an executor or a coroutine of ours, await the work instead",
    )


# ---------------------------------------------------------------------------- factories


def not_a_factory(found: object) -> TypeMismatchError:
    if isinstance(found, Context):
        do = "it is a context already: use it as it is"
    elif callable(found):
        do = "call it: the parentheses are missing"
    else:
        do = "pass the factory, not an executor"
    return TypeMismatchError(
        "an execution context needs an executor factory",
        expected="for example framework.local_executor_factory()",
        found=describe(found),
        do=do,
    )


def not_a_count(name: str, value: object, least: int, do: str) -> FedLearnError:
    expected = f"an int of at least {least}"
    if is_whole_number(value):
        problem = f"{name} is too small"
        return CardinalityError(problem, expected=expected, found=value, do=do)
    problem = f"{name} is a number"
    return TypeMismatchError(problem, expected=expected, found=describe(value), do=do)


def counts_no_bytes() -> TypeMismatchError:
    return TypeMismatchError(
        "this factory does not count bytes",
        expected="a factory made by sizing_executor_factory",
    )


def no_such_runtime(name: object, known: Iterable[str]) -> StructureError:
    return StructureError(
        f"there is no runtime {name!r}",
        expected="one of " + ", ".join(known),
        found=name,
        where="leaf=",
        do="choose one of these, or register_runtime(name, make_executor)",
    )
