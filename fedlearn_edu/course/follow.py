# SPDX-License-Identifier: Apache-2.0
"""Follows a value through a stack: what lesson 6 prints after its exercises."""

import sys
from collections.abc import Callable
from typing import Any

from fedlearn_edu.course.exercise import shown
from fedlearn_edu.framework import Executor, NumPyExecutor, RecordingExecutor, Tape


async def follow(
    build: Callable[[Executor], Executor] | None, program: Any, data: Any, type_: Any
) -> Any:
    """Runs a program on a stack, and prints each request with what came of it.

    Requests to the leaf are printed further in than those to the stack above it.

    Args:
        build: puts the stack on a leaf; `None` for the leaf alone.
        program: a function with one argument.
        data: its argument.
        type_: the type of the argument.

    >>> import asyncio
    >>> import numpy as np
    >>> import fedlearn_edu as fl
    >>> double = fl.np_computation(lambda x: x + x, np.float32)
    >>> asyncio.run(follow(None, double, 21.0, np.float32))
    leaf create_value lambda
    leaf create_value 21.0
    leaf create_call 42.0
    leaf compute 42.0
    np.float32(42.0)
    """
    tape = Tape(keep_values=True)
    leaf = stack = RecordingExecutor(NumPyExecutor(), tape, layer="leaf")
    if build is not None:
        stack = RecordingExecutor(build(leaf), tape, layer="stack")
    fn = await stack.create_value(program)
    arg = await stack.create_value(data, type_)
    called = await stack.create_call(fn, arg)
    result = await called.compute()
    for event in tape.events:
        is_data = "->" not in event.type and event.what != "compute"
        made = shown(await event.made.compute()) if is_data else event.detail
        indent = 8 * " " if build is not None and event.layer == "leaf" else ""
        sys.stdout.write(f"{indent}{event.layer} {event.what} {made}\n")
    return result
