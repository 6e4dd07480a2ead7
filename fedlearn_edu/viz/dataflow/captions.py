# SPDX-License-Identifier: Apache-2.0
"""A flow in words: what is written in each node, and what travels, in a sentence."""

from fedlearn_edu.dataflow.flow import Flow, Item, Kind, Lane, Node
from fedlearn_edu.dataflow.server_view import WAYS
from fedlearn_edu.viz.dataflow.primitives import NAME, PLAIN, QUIET, Line, wrapped
from fedlearn_edu.viz.shortening import clipped, names_only, short, size_text

_MAX_INSIDE = 6
_MAX_NAMES_CHARS = 60
_TO_CLIENTS = {
    "federated_value": "the same for all",
    "federated_select": "to each client, what its keys ask for",
    "federated_pairwise_masks": "random masks that cancel out in the sum",
}
_WITH_CODE = ("captured", "captured constant", "given constant")
_SENDERS = {
    Lane.SERVER: "the server sends",
    Lane.CLIENTS: "each client sends",
    Lane.UNPLACED: "the program sends",
}


def words(message: Node) -> str:
    """What becomes of a message, in a few plain words."""
    to_server = message.lane is Lane.SERVER
    if message.name in _WITH_CODE:
        target = "the server" if to_server else "every client"
        return f"travels with the code to {target}"
    if not to_server:
        return _TO_CLIENTS.get(message.name, "to every client")
    if message.name == "federated_value":
        return "put at the server"
    way = WAYS.get(message.name)
    return f"from each client, {way[1]}" if way else "from each client"


def summary(flow: Flow) -> str:
    """What each client gets and sends, as far as types tell."""
    if not any(node.is_message for node in flow.nodes):
        return "" if flow.columns == [Lane.UNPLACED] else "Nothing travels."
    got = [m for m in flow.messages(Lane.CLIENTS) if m.name != "federated_value"]
    sent = [m for m in flow.messages(Lane.SERVER) if flow.origin(m) is Lane.CLIENTS]
    parts = [f"receives {_total(got)}"] if got else []
    ones = ", and a 1 for each mean" * any(m.name.endswith("_mean") for m in sent)
    parts += [f"sends {_total(sent)}{ones}"] if sent else []
    return f"In one run each client {' and '.join(parts)}." if parts else ""


def _total(messages: list[Node]) -> str:
    sizes = [item.size_bytes for message in messages for item in message.items]
    known = sum(size for size in sizes if size is not None)
    if None not in sizes:
        return size_text(known)
    if not known:
        return "values whose size depends on the data"
    return f"{size_text(known)} and what has no fixed size"


def sentence(flow: Flow) -> str:
    """All that travels, by name, type and size; for those who cannot see it."""
    if flow.columns == [Lane.UNPLACED]:
        return f"{flow.name}: {_unplaced(flow)}."
    said = [_sent(flow, node) for node in flow.nodes if node.is_message]
    if stays := [node.name for node in flow.nodes if flow.stays(node)]:
        verb = "stays" if len(stays) == 1 else "stay"
        said.append(f"{' and '.join(stays)} {verb} with the clients")
    return f"{flow.name}: {'; '.join(said) or 'nothing travels'}."


def _sent(flow: Flow, message: Node) -> str:
    items = " and ".join(map(_value, message.items))
    way = f" {words(message)}".removeprefix(" from each client")
    return f"{_SENDERS[flow.origin(message)]} {items}{way}"


def _unplaced(flow: Flow) -> str:
    steps = [node.name for node in flow.nodes if node.kind is Kind.STEP]
    takes = [node.name for node in flow.nodes if node.kind is Kind.PARAMETER]
    given = f"takes {', '.join(takes)}" if takes else "takes nothing"
    does = f", does {', '.join(steps)}" if steps else ""
    result = _value(flow.nodes[-1].items[0])
    return f"{given}{does}, and returns {result}; it has no placement"


def _value(item: Item) -> str:
    details = filter(None, [short(item.type), size_text(item.size_bytes)])
    return f"{item.name or 'a value'} ({', '.join(details)})"


def label(flow: Flow, node: Node, width_in: float) -> list[Line]:
    """What is written in a node of this width; of a message, above its arrow."""
    if node.kind is Kind.STEP:
        lines = wrapped(node.name, NAME, width_in)
        return lines + wrapped(node.note, QUIET, width_in) + _inside(node, width_in)
    note = "stays with its client" if flow.stays(node) else node.note
    is_named = node.kind is Kind.RESULT and node.name != "result"
    heading = f"result: {node.name}" if is_named else node.name
    name = "" if node.is_message else f"{heading} "
    lines = []
    for item in node.items:
        lines += _item(f"{name}{item.name}".strip(), item, width_in)
    return lines + wrapped(note, QUIET, width_in)


def label_below(message: Node, width_in: float) -> list[Line]:
    """What is written below the arrow of a message."""
    said = wrapped(words(message), PLAIN, width_in)
    return said + wrapped(message.name, QUIET, width_in)


def _item(name: str, item: Item, width_in: float) -> list[Line]:
    size = size_text(item.size_bytes)
    lines = wrapped(" · ".join(filter(None, [name, size])), NAME, width_in)
    if len(lines) > 1:
        lines = wrapped(name, NAME, width_in) + wrapped(size, NAME, width_in)
    types = wrapped(short(item.type), PLAIN, width_in)
    if any(not line.text.endswith(",") for line in types[:-1]):  # torn
        names = clipped(names_only(item.type), _MAX_NAMES_CHARS)
        types = wrapped(names, PLAIN, width_in)
    return lines + types


def _inside(node: Node, width_in: float) -> list[Line]:
    steps = [*node.inside[:_MAX_INSIDE], *["…"] * (len(node.inside) > _MAX_INSIDE)]
    return wrapped(f"does {', '.join(steps)}" if steps else "", PLAIN, width_in)
