# SPDX-License-Identifier: Apache-2.0
"""A bounded cache that any thread may ask: for compiled programs, and for stacks."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar, final

from fedlearn_edu.executors.recording import Tape

K = TypeVar("K")
V = TypeVar("V")


@final
class Cache(Generic[K, V]):
    """The `size` values that were used last.

    One thread makes a value, others that want it wait. What is thrown away is
    forgotten, not closed: a call that is under way keeps it.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        # The key, which is quick to compare with itself; who makes it; and the value.
        self._kept: OrderedDict[K, tuple[K, threading.RLock, list[V]]] = OrderedDict()
        self._lock = threading.Lock()

    def get(
        self,
        key: K,
        make: Callable[[], V],
        tape: Tape | None = None,
        what: str = "built",
        type_: object = "",
        detail: str = "",
    ) -> V:
        """The value under `key`, made if it is not there; the rest is for a tape."""
        event = None if tape is None else tape.begin("context", "all", what)
        with self._lock:
            new = (key, threading.RLock(), list[V]())
            own, making, made = self._kept.setdefault(key, new)
            self._kept.move_to_end(own)
        with making:
            if made:
                what = "reused"
            else:
                try:
                    made.append(make())
                except Exception:
                    self.forget(lambda other: other is own)
                    raise
        with self._lock:
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        if tape is not None and event is not None:
            tape.end(event, what=what, type=str(type_), detail=detail)
        return made[0]

    def forget(self, is_meant: Callable[[K], bool]) -> list[V]:
        """Removes and returns the values whose keys satisfy the predicate."""
        with self._lock:
            keys = [key for key in self._kept if is_meant(key)]
            return [value for key in keys for value in self._kept.pop(key)[2]]
