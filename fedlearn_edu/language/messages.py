# SPDX-License-Identifier: Apache-2.0
"""Every error of the language, as one text; the code that raises them is elsewhere.

Each function builds one error, in the order in which a learner may meet it: defining a
computation, calling one, using values in a body, using intrinsics, placing data.
"""

from fedlearn_edu.errors import ArgumentsError, ContextError
from fedlearn_edu.types import FederatedType, StructType, Type

# ------------------------------------------------------------- calling a computation


def not_closed(callee: str, name: str, type_: Type) -> ContextError:
    return ContextError(
        f"{callee} uses the value {name!r} of the computation it was "
        "defined in, and can run only inside it",
        expected=f"a call inside the body that {name!r} belongs to",
        found=f"{name}: {type_}",
        do=f"call {callee} inside that body, or make {name!r} a parameter",
    )


def takes_no_argument(callee: str, count: int) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} takes no argument",
        expected=f"{callee}()",
        found=f"{count} argument(s)",
        do="leave the argument out",
    )


def called_without_argument(callee: str, type_: Type) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} was called without its argument",
        expected=str(type_),
        found=f"{callee}()",
        do=f"pass the data: {callee}(…)",
    )


def takes_one_argument(
    callee: str, type_: Type, positional: int, keyword: int
) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} takes one argument",
        expected=str(type_),
        found=f"{positional} positional and {keyword} keyword argument(s)",
        do=f"put the values of all participants into one list: {callee}([…, …])"
        if isinstance(type_, FederatedType)
        else "pass exactly one argument, by position",
    )


def bad_call(
    type_: StructType, callee: str, problem: str, found: str
) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} {problem}",
        expected=str(type_),
        found=found,
        where=f"the call of {callee}",
        do=f"pass {len(type_)} arguments, one for each field, in order or by name",
    )
