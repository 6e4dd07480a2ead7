# SPDX-License-Identifier: Apache-2.0
"""A time limit for what a check runs, or a loop without an end would never return.

The limit interrupts the main thread as Ctrl-C does, so it works on every system, and a
federated computation that is running is cancelled by it. What already runs in another
thread, inside NumPy or TensorFlow, cannot be stopped; the message says what to do then.
"""

import _thread
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import final

_TIMES = 3
"""How many limits may pass on the clock while other programs have the processor."""


@final
class TookTooLongError(Exception):
    """An answer did not end in time."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises `TookTooLongError` in a block that takes longer; main thread only.

    >>> with time_limit(0.05):
    ...     while True:
    ...         pass
    Traceback (most recent call last):
    ...
    fedlearn_edu.course.limit.TookTooLongError: not after 0.05 seconds
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    rang, over, lock = threading.Event(), threading.Event(), threading.Lock()
    began = time.process_time()

    def ring() -> None:
        for _ in range(_TIMES):
            if over.wait(seconds) or time.process_time() - began > 0.8 * seconds:
                break
        with lock:
            if not over.is_set():
                rang.set()
                _interrupt()

    threading.Thread(target=ring, daemon=True).start()
    try:
        with _interruptible():
            yield
        with lock:  # from here on the bell is silent
            over.set()
        if rang.is_set():  # and the block caught it
            raise TookTooLongError(_late(seconds))
    except KeyboardInterrupt:
        if not rang.is_set():
            raise  # it was Ctrl-C
        raise TookTooLongError(_late(seconds)) from None
    finally:
        with suppress(KeyboardInterrupt):
            over.set()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Lets interrupts through: programs in the background of a shell ignore them."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _late(seconds: float) -> str:
    return f"not after {seconds:g} seconds"


def _interrupt() -> None:
    if not hasattr(signal, "pthread_kill"):
        _thread.interrupt_main()
        return
    # A real signal also ends the wait for another thread.
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
