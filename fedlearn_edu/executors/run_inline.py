# SPDX-License-Identifier: Apache-2.0
"""Running a coroutine to its end from plain Python, on whatever thread this is.

A lazily mapped sequence is read by code that knows no event loop: a TensorFlow
pipeline's own thread, or a NumPy function. It must not wait for a worker that may be
waiting for it. So coroutines are *stepped*: below a participant nothing truly suspends,
and an executor that would hand work to a thread does it in place while it is being
stepped.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

_stepping: ContextVar[bool] = ContextVar("stepping", default=False)


def is_stepping() -> bool:
    """Whether the running coroutine is being stepped: it must not change threads."""
    return _stepping.get()


def step(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs `make()` to its end and returns its result.

    If the coroutine does suspend after all (somebody's own executor), it is run again
    on an event loop of its own; element functions have no side effects.
    """
    coroutine = make()
    token = _stepping.set(True)
    try:
        coroutine.send(None)
    except StopIteration as finished:
        result: T = finished.value
        return result
    except RuntimeError as error:
        if "no running event loop" not in str(error):
            raise
    finally:
        _stepping.reset(token)
    coroutine.close()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, make()).result()
