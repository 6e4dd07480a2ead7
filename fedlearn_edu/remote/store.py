# SPDX-License-Identifier: Apache-2.0
"""A cache that is bounded in bytes: what was used last stays."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, final


@final
@dataclass(eq=False)
class _Kept:
    lock: threading.RLock
    value: Any
    size: int


@final
class Store:
    """Values by key, the last used ones, as many as fit into a number of bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[Any, _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self.size = 0

    def put(self, key: Any, value: Any, size: int) -> None:
        """Keeps a value; what was used least goes, if need be."""
        with self._lock:
            self._set(key, _Kept(threading.RLock(), value, size))

    def get(self, key: Any, make: Callable[[Any], tuple[Any, int]]) -> Any:
        """What `make` makes of the value under `key` (or of `None`), made only once."""
        with self._lock:
            kept = self._kept.setdefault(key, _Kept(threading.RLock(), None, 0))
            self._kept.move_to_end(key)
        with kept.lock:
            if not isinstance(kept.value, _Made):
                try:
                    value, size = make(kept.value)
                except BaseException:
                    self.forget(key)
                    raise
                with self._lock:
                    self.size += size - kept.size if self._kept.get(key) is kept else 0
                    kept.value, kept.size = _Made(value), size
                    self._shrink()
            return kept.value.value

    def forget(self, key: Any) -> None:
        """Lets go of a value."""
        with self._lock:
            if key in self._kept:
                self.size -= self._kept.pop(key).size

    def list_keys(self) -> list[Any]:
        """All keys."""
        with self._lock:
            return list(self._kept)

    def _set(self, key: Any, kept: _Kept) -> None:
        old = self._kept.pop(key, None)
        self.size += kept.size - (old.size if old else 0)
        self._kept[key] = kept
        self._shrink()

    def _shrink(self) -> None:
        while self.size > self._limit and len(self._kept) > 1:
            self.size -= self._kept.popitem(last=False)[1].size


class _Made(NamedTuple):
    value: Any
