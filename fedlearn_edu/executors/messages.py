# SPDX-License-Identifier: Apache-2.0
"""What executors say when they are given something they cannot use."""

from fedlearn_edu.errors import ContextError, ExecutorError, TypeMismatchError


def closed(what: str) -> ExecutorError:
    return ExecutorError(
        "this executor is closed", where=what, do="make a new stack of executors"
    )


def nothing_to_wait_for() -> ContextError:
    return ContextError(
        "a call waits for something that cannot come while it waits",
        expected="work that ends, or a timer: in a browser nothing else runs meanwhile",
        do="await it before the call, and pass the result",
    )


def no_values_kept() -> TypeMismatchError:
    return TypeMismatchError(
        "this tape kept no values: none can be shown, counted or replayed",
        expected="the tape of `with fl.record() as tape:`, which keeps them",
        found="events without values",
        do="for a stack of your own, make the tape so: Tape(keep_values=True)",
    )
