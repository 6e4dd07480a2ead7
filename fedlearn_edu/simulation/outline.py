# SPDX-License-Identifier: Apache-2.0
"""A stack of executors in words: its layers from top to bottom, and what each is for.

Environments show it as text, `viz` as a picture. It is read off the factory that builds
it (`contexts/factories.py`), so it stands for any number of clients.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from fedlearn_edu.contexts.factories import LocalExecutorFactory
from fedlearn_edu.executors.composing import FederatedComposingStrategy
from fedlearn_edu.executors.resolving import FederatedResolvingStrategy
from fedlearn_edu.executors.sequence import IMPLEMENTED
from fedlearn_edu.runtimes.registry import LeafSpec

_CODE = {"numpy": "NumPy code", "tensorflow": "TensorFlow code"}
_ON_TOP = {"[Thread]": "where several clients can work side by side"}


@final
@dataclass(frozen=True)
class LayerOutline:
    """One layer.

    Attributes:
        name: of its executor, without "Executor".
        task: what it handles; the rest goes down to the layer below.
        is_there: whether this stack has it; only the sequence layer may be missing.
    """

    name: str
    task: str
    is_there: bool = True


@final
@dataclass(frozen=True)
class GroupOutline:
    """Participants, each with a stack of its own below the federating layer.

    Attributes:
        name: the placement, or "unplaced".
        count: how many: "1" or "n".
        on_top: layers only these have, on top of their stacks; optional in brackets.
    """

    name: str
    count: str
    on_top: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([f"{self.name} × {self.count}", *self.on_top])


@final
@dataclass(frozen=True)
class StackOutline:
    """All layers, from top to bottom.

    Attributes:
        shared: the layers above the participants.
        groups: who has a stack below these.
        own: the layers of each such stack.
        remarks: what the layers do not show, as (word, explanation).
    """

    shared: tuple[LayerOutline, ...]
    groups: tuple[GroupOutline, ...]
    own: tuple[LayerOutline, ...]
    remarks: tuple[tuple[str, str], ...]

    @property
    def has_sequence_operators(self) -> str:
        """In a word, "yes" or "no"."""
        return "yes" if all(layer.is_there for layer in self.own) else "no"

    def to_text(self) -> str:
        """The tree, for terminals."""
        rows = [
            *_chain(self.shared, 0),
            *((branch, "") for branch in _branches(self.groups)),
            *_chain(self.own, 3 * len(self.shared)),
        ]
        column = 2 + max(len(left) for left, right in rows if right)
        tree = [f"{left:<{column}}{right}".rstrip() for left, right in rows]
        return "\n".join([*tree, *(f"{word}: {what}" for word, what in self.remarks)])


def outline_of(factory: LocalExecutorFactory) -> StackOutline:
    """What stacks of this factory look like."""
    resolving = LayerOutline("ReferenceResolving", "names and functions")
    operators = ", ".join(sorted(IMPLEMENTED))
    sequence = [LayerOutline("Sequence", operators), resolving]
    if not factory.support_sequence_ops:
        refused = f"{operators} are refused"
        sequence = [LayerOutline("Sequence", refused, is_there=False)]
    return StackOutline(
        shared=(resolving, LayerOutline("Federating", "placements, federated_*")),
        groups=(
            GroupOutline("SERVER", "1"),
            GroupOutline("CLIENTS", "n", tuple(_on_top_of_clients(factory))),
            GroupOutline("unplaced", "1"),
        ),
        own=(resolving, *sequence, LayerOutline("leaf", _code(factory.leaf))),
        remarks=tuple(_remarks(factory)),
    )


def _on_top_of_clients(factory: LocalExecutorFactory) -> Iterator[str]:
    if not factory.on_callers_thread and factory.tape is None:
        yield "[Thread]"


def _code(leaf: LeafSpec) -> str:
    if leaf is None:
        return "NumPy or TensorFlow code"
    if isinstance(leaf, str):
        return _CODE.get(leaf, f"{leaf} code")
    name = getattr(leaf, "__name__", "<lambda>")
    return f"what {'your function' if name == '<lambda>' else name} makes"


def _remarks(factory: LocalExecutorFactory) -> Iterator[tuple[str, str]]:
    count = factory.default_num_clients
    yield "n", f"one client per entry of the data; {count} without such data"
    if factory.strategy is None:
        flat, deep = FederatedResolvingStrategy, FederatedComposingStrategy
        groups = f"from {factory.max_fanout} clients on {deep.__name__}"
        yield "strategy", f"{flat.__name__}, {groups}"
        if factory.runs_together:
            yield "leaf", "TensorFlow runs all clients of a group in one call"
    else:
        yield "strategy", factory.strategy.__name__
    for layer in _on_top_of_clients(factory):
        yield layer, _ON_TOP[layer]
    if factory.tape is not None:
        yield "tape", "records what every layer is asked"
    if factory.sizes is not None:
        yield "sizing", "counts the bytes to and from clients"


def _chain(layers: Sequence[LayerOutline], indent: int) -> Iterator[tuple[str, str]]:
    for depth, layer in enumerate(layers):
        branch = " " * (indent + 3 * depth - 3) + "└─ " if depth else " " * indent
        name = layer.name if layer.is_there else f"(no {layer.name})"
        yield f"{branch}{name}", layer.task


def _branches(groups: Sequence[GroupOutline]) -> Iterator[str]:
    last, width = len(groups) - 1, max(len(str(group)) for group in groups)
    for index, group in enumerate(groups):
        left = "└─" if index == last else "├─"
        right = "┐" if index == 0 else "┘" if index == last else "┤ each of them:"
        yield f"   {left} {group!s:<{width}} {right}"
