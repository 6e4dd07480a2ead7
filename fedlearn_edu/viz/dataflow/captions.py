# SPDX-License-Identifier: Apache-2.0
"""A flow in words: what travels, with the numbers."""

from fedlearn_edu.viz.dataflow.flow import Flow, Item, Kind, Lane, Node
from fedlearn_edu.viz.shortening import short, size_text


def summary(flow: Flow) -> str:
    """In one line, how much each client receives and sends; as far as types say."""
    down, up = flow.messages(Lane.CLIENTS), flow.messages(Lane.SERVER)
    if not down and not up:
        return "" if flow.lanes == [Lane.UNPLACED] else "Nothing travels."
    parts = []
    if down:
        parts.append(f"receives {_total(down)}")
    if up := [message for message in up if flow.sent_from(message) is Lane.CLIENTS]:
        parts.append(f"sends {_total(up)}")
    return f"In one run each client {' and '.join(parts)}." if parts else ""


def sentence(flow: Flow) -> str:
    """All that travels, by name, type and size; for those who cannot see it."""
    if flow.lanes == [Lane.UNPLACED] or not flow.lanes:
        return f"{flow.name}: {_unplaced(flow)}."
    said = []
    for message in flow.nodes:
        if message.kind is Kind.MESSAGE:
            sender = _SENDERS[flow.sent_from(message)]
            items = " and ".join(_item(item) for item in message.items)
            said.append(f"{sender} {items}{_way(message)}")
    stays = [
        node.name
        for node in flow.nodes
        if node.kind is Kind.PARAMETER
        and node.lane is Lane.CLIENTS
        and not any(after.kind is Kind.MESSAGE for after in flow.out_of(node))
    ]
    if stays:
        verb = "stays" if len(stays) == 1 else "stay"
        said.append(f"{' and '.join(stays)} {verb} with the clients")
    return f"{flow.name}: {'; '.join(said) or 'nothing travels'}."


_SENDERS = {
    Lane.SERVER: "the server sends",
    Lane.CLIENTS: "each client sends",
    Lane.UNPLACED: "the program sends",
}


def _way(message: Node) -> str:
    said = message.words[1]
    if said.startswith("from each client"):
        return said.removeprefix("from each client")
    return f" {said}" if said else ""


def _item(item: Item) -> str:
    details = list(filter(None, [short(item.type), size_text(item.size_bytes)]))
    if not item.name:
        return f"a value ({', '.join(details)})"
    return f"{item.name} ({', '.join(details)})"


def _total(messages: list[Node]) -> str:
    sizes = [item.size_bytes for message in messages for item in message.items]
    known = sum(size for size in sizes if size is not None)
    if all(size is not None for size in sizes):
        return size_text(known)
    if not known:
        return "values whose size depends on the data"
    return f"{size_text(known)} and what has no fixed size"


def _unplaced(flow: Flow) -> str:
    steps = [node.name for node in flow.nodes if node.kind is Kind.STEP]
    takes = [node.name for node in flow.nodes if node.kind is Kind.PARAMETER]
    result = flow.nodes[-1].items[0]
    given = f"takes {', '.join(takes)}" if takes else "takes nothing"
    does = f", does {', '.join(steps)}" if steps else ""
    return f"{given}{does}, and returns {_item(result)}; it has no placement"
