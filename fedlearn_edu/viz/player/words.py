# SPDX-License-Identifier: Apache-2.0
"""An event in words: who does what, and what it made."""

from typing import Any

from fedlearn_edu.errors import counted
from fedlearn_edu.executors.base import ExecutorValue, as_node
from fedlearn_edu.executors.recording import Event, look
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.language.federated_value import brief
from fedlearn_edu.types import CLIENTS, FederatedType, FunctionType, SequenceType, Type
from fedlearn_edu.types.sequences import unwrap
from fedlearn_edu.viz.shortening import clipped

_MAX_MEMBERS = 4
_WHO = {
    "all": "the stack",
    "server": "the server",
    "unplaced": "the program",
    "": "an executor",
}
_KINDS = ("Block", "Call", "Lambda", "Literal", "Selection", "Struct")


def who(event: Event) -> str:
    """Who it works for, and in which layer: `client 3 (leaf)`."""
    name = _WHO.get(event.participant, event.participant)
    if event.client is not None:
        name = f"client {event.client}"
    return f"{name} ({event.layer.replace('_', ' ')})"


def does(event: Event, function: str) -> str:
    """What happens, as a verb and its object.

    Args:
        event: any.
        function: the name of what is called, if it has one.
    """
    match event.what:
        case "create_call":
            text = f"calls {function or 'a function'}"
        case "create_value" if as_node(event.given) is not None:
            text = f"is handed {_function(event)}"
        case "create_value":
            text = f"is handed a value of type {clipped(event.type)}"
        case "create_struct":
            count = len(event.operands)
            text = f"puts {counted(count, 'value')} side by side"
        case "create_selection":
            text = f"selects {event.detail}"
        case "compute":
            text = f"hands out a value of type {clipped(event.type)}"
        case "convert":
            text = f"converts data of type {clipped(event.type)}"
        case "batched_call":
            text = f"runs in one call {event.detail}"
        case "compiled" | "built" | "reused" | "declined":
            text = f"{event.what} {event.detail}"
        case other:
            text = other
    return f"{text}, and fails" if event.error else text


def _function(event: Event) -> str:
    name = event.detail.partition(",")[0]
    if name in _KINDS:
        article = "the program" if event.caller is None else f"a {name.lower()}"
        return article + event.detail[len(name) :]
    return event.detail


def value_of(event: Event) -> str:
    """What an event made, in a few words; it is fetched now, if it has to be."""
    made = event.made
    if made is None:
        return "none: it is only noted that it happened"
    if event.what == "create_value":
        node = as_node(event.given)
        type_ = made.type_signature
        return (
            clipped(to_text(node)) if node is not None else _shown(event.given, type_)
        )
    if event.what == "compute":
        return _shown(made, event.given.type_signature)
    if not isinstance(made, ExecutorValue):
        return "none"
    type_ = made.type_signature
    if type_.contains(lambda t: isinstance(t, FunctionType)):
        return "a function is in it: it can be called, not shown"
    if type_.contains(lambda t: isinstance(t, SequenceType)):
        return "a sequence is in it: it is read only where it is needed"
    return _shown(look(made), type_)


def _shown(plain: Any, type_: Type) -> str:
    plain = unwrap(plain)
    is_group = isinstance(type_, FederatedType) and not type_.all_equal
    if not (is_group and isinstance(plain, tuple | list)):
        return brief(plain)
    assert isinstance(type_, FederatedType)
    noun = "client" if type_.placement is CLIENTS else "server"
    shown = [f"{noun} {i}: {brief(m)}" for i, m in enumerate(plain[:_MAX_MEMBERS])]
    if len(plain) > _MAX_MEMBERS:
        shown.append(f"… {len(plain) - _MAX_MEMBERS} more")
    return "\n".join(shown) or "nobody"
