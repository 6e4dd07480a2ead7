# SPDX-License-Identifier: Apache-2.0
"""What is made once and used again: compiled programs, and stacks.

A cache is bounded, and says on the tape what it made and what it had already.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar, final

from fedlearn_edu.executors.recording import Tape

K = TypeVar("K")
V = TypeVar("V")


@final
class _Entry(Generic[K, V]):
    """A place for one value: one thread makes it, others wait for it."""

    def __init__(self, key: K) -> None:
        self.key = key
        self.lock = threading.RLock()
        self.made: list[V] = []


@final
class Cache(Generic[K, V]):
    """The `size` values that were used last; any thread may ask for one.

    What is thrown away is forgotten, not closed: a call that is under way keeps it.
    """

    def __init__(self, size: int, made: str, tape: Tape | None) -> None:
        self._size, self._made, self._tape = size, made, tape
        self._entries: OrderedDict[K, _Entry[K, V]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[], V], type_: object, detail: str) -> V:
        """The value under `key`, made if it is not there; `type_` is for the tape."""
        start = None if self._tape is None else self._tape.start()
        with self._lock:
            entry = self._entries.setdefault(key, _Entry(key))
            self._entries.move_to_end(entry.key)  # itself: to compare may take long
        with entry.lock:
            what = "reused" if entry.made else self._made
            try:
                entry.made = entry.made or [make()]
            except Exception:
                self.forget(lambda other: other is entry.key)
                raise
        with self._lock:
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)
        if self._tape is not None and start is not None:
            self._tape.record(start, "context", "all", what, str(type_), detail)
        return entry.made[0]

    def forget(self, is_meant: Callable[[K], bool]) -> list[V]:
        """Forgets the values whose keys are meant, and returns them."""
        with self._lock:
            keys = [key for key in self._entries if is_meant(key)]
            return [value for key in keys for value in self._entries.pop(key).made]
