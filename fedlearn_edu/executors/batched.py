# SPDX-License-Identifier: Apache-2.0
"""Many participants in one call: what a runtime may offer beside its leaf executor.

`grouping.py` asks; a runtime that supports it answers, or declines.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import Type


@final
@dataclass(frozen=True)
class Entries:
    """One entry for each participant, in plain form.

    Attributes:
        values: the entries.
        made_together: whether they are what one call of a batched runtime returned.
    """

    values: Sequence[Any]
    made_together: bool = False


@final
@dataclass(frozen=True)
class Same:
    """One value, in plain form, that each of `count` participants holds."""

    value: Any
    count: int


@final
@dataclass(frozen=True)
class Parts:
    """A structure whose parts are held in different ways."""

    fields: Struct


Held = Entries | Same | Parts


@final
@dataclass(frozen=True)
class Group:
    """What a group of participants holds.

    Attributes:
        held: the data.
        type: the type of what each of them holds.
        count: how many they are.
    """

    held: Held
    type: Type
    count: int


class Declined(Exception):  # noqa: N818 (it is an answer)
    """Participants go one by one; the text says why."""


class BatchedRuntime(ABC):
    """Runs a function for all members of a group at once, or raises `Declined`."""

    @abstractmethod
    def map(self, function: ir.Node, group: Group) -> Sequence[Any]:
        """The function's result for each member in plain form."""

    @abstractmethod
    def fold(
        self, function: ir.Node, group: Group, zero: Any, accumulate: ir.Node
    ) -> Any:
        """`accumulate(… accumulate(zero, f(x0)) …, f(xn))`."""
