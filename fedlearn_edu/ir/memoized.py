# SPDX-License-Identifier: Apache-2.0
"""`memoized_property`: computed once per object, and without a lock.

In Python 3.11 `functools.cached_property` has one lock for the objects of a class. The
type of a Lambda asks for that of a Block, and the other way round: two threads, each
with a program of its own, would wait for each other. Later versions have no lock.
"""

from contextlib import nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any

__all__ = ["memoized_property"]

if TYPE_CHECKING:
    from functools import cached_property as memoized_property
else:

    class memoized_property(cached_property):  # noqa: N801 - named as its base
        """A property that two threads at once may compute twice, to the same value."""

        def __init__(self, compute: Any) -> None:
            super().__init__(compute)
            self.lock = nullcontext()
