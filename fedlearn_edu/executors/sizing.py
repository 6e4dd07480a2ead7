# SPDX-License-Identifier: Apache-2.0
"""Counting what crosses the edge of an executor, in bytes, by direction and type.

Wrapped around each client's stack it measures communication: what is embedded went
*down* to the client, what is computed came *up*. Sequences do not count: a client's
data set stays where it is. Of a function, only captured values count.
"""

import threading
from collections import Counter
from typing import Any, final

from fedlearn_edu.executors.base import Executor, as_node
from fedlearn_edu.executors.traffic import SizeInfo, size_bytes
from fedlearn_edu.executors.wrapping import Work, WrappingExecutor
from fedlearn_edu.ir.traversal import captured_constants
from fedlearn_edu.types import Type
from fedlearn_edu.types.sequences import unwrap


@final
class Meter:
    """Adds up bytes from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.reset()

    def add(self, direction: str, type_: Type, plain: Any) -> None:
        """Counts one value that crossed, `"down"` or `"up"`."""
        if size := size_bytes(plain):
            with self._lock:
                self._counts[direction][str(type_)] += size

    def read(self) -> SizeInfo:
        """What has crossed so far."""
        with self._lock:
            return SizeInfo(**{d: dict(count) for d, count in self._counts.items()})

    def reset(self) -> None:
        """Starts again from zero."""
        with self._lock:
            self._counts = {"down": Counter[str](), "up": Counter[str]()}


@final
class SizingExecutor(WrappingExecutor):
    """Measures what goes into its target and comes out of it.

    Source: `tff.framework.SizingExecutor`.
    """

    def __init__(self, target_executor: Executor, meter: Meter) -> None:
        super().__init__(target_executor)
        self._meter = meter

    async def around(self, what: str, work: Work, subject: Any) -> Any:
        """Runs `work()` and counts plain data that went in or came out."""
        result = await work()
        node = as_node(subject)
        if what == "compute":
            self._meter.add("up", subject.type_signature, result)
        elif what == "create_value" and node is None:
            self._meter.add("down", result.type_signature, unwrap(subject))
        elif what == "create_value" and node is not None:
            for literal in captured_constants(node):
                self._meter.add("down", literal.type, literal.value)
        return result
