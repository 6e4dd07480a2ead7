# SPDX-License-Identifier: Apache-2.0
"""What executors say when they are given something they cannot use."""

from fedlearn_edu.errors import ContextError, TypeMismatchError


def waits_on_a_loop() -> ContextError:
    return ContextError(
        "a call waits on an event loop, and there is none",
        expected="work that ends, or that blocks its thread",
        do="await it before the call, and pass the result; inside an executor, block: "
        "time.sleep instead of asyncio.sleep",
    )


def no_values_kept() -> TypeMismatchError:
    return TypeMismatchError(
        "this tape kept no values: none can be shown, counted or replayed",
        expected="the tape of `with fl.record() as tape:`, which keeps them",
        found="events without values",
        do="for a stack of your own, make the tape so: Tape(keep_values=True)",
    )
