# SPDX-License-Identifier: Apache-2.0
"""Names for functions, as far as the tree knows them, and words for intrinsics."""

import re
from collections.abc import Iterator

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.ir.traversal import walk
from fedlearn_edu.viz.dataflow.flow import Lane

_FIRST_LOCAL = re.compile(r"(.+)_0(_\d+)?")

WORDS = {
    "federated_broadcast": "to every client",
    "federated_value": "the same for all",
    "federated_mean": "from each client, averaged",
    "federated_weighted_mean": "from each client, averaged by weight",
    "federated_sum": "from each client, added up",
    "federated_max": "from each client, the largest counts",
    "federated_min": "from each client, the smallest counts",
    "federated_aggregate": "from each client, folded into one",
    "federated_reduce": "from each client, folded into one",
    "federated_collect": "from each client, in a row",
    "federated_select": "to each client, what its keys ask for",
    "federated_secure_sum": "from each client, masked: only the sum is seen",
    "federated_secure_sum_bitwidth": "from each client, masked: only the sum is seen",
    "federated_secure_modular_sum": "from each client, masked: only the sum is seen",
    "federated_pairwise_masks": "random masks that cancel out in the sum",
}
_TO_SERVER = {
    "federated_value": "put at the server",
    "federated_select": "from each client, to ask for it",
}
_DIRECTIONS = {
    Lane.SERVER: "from each client",
    Lane.CLIENTS: "to every client",
    Lane.UNPLACED: "",
}


def words(uri: str, to: Lane) -> str:
    """What an intrinsic does, in a few plain words."""
    if to is Lane.SERVER and uri in _TO_SERVER:
        return _TO_SERVER[uri]
    return WORDS.get(uri, _DIRECTIONS[to])


def is_packed(function: ir.Lambda) -> bool:
    """Whether the one parameter was made of several, as tracing names it."""
    return str(function.parameter).endswith("_arg")


def function(node: ir.Node) -> str:
    """A name for a function; of a lambda without one, what it does."""
    match node:
        case ir.Leaf(code=code):
            return code.name
        case ir.Lambda(parameter=str(name)) if name.endswith("_arg"):
            return name.removesuffix("_arg")
        case ir.Lambda(body=ir.Block(locals=bound)) if found := next(
            filter(None, (_FIRST_LOCAL.fullmatch(n) for n, _ in bound)), None
        ):
            return found[1]
        case ir.Lambda(body=ir.Selection() as body):
            return _path(body)
        case ir.Lambda():
            return ", ".join(dict.fromkeys(_does(node))) or "rearrange"
        case _:
            return to_text(node)


def _path(body: ir.Selection) -> str:
    """The fields that are picked, as in `.sent.update`."""
    text = to_text(body)
    root: ir.Node = body
    while isinstance(root, ir.Selection):
        root = root.source
    return text.removeprefix(to_text(root))


def inside(node: ir.Node) -> tuple[str, ...]:
    """What a function does, in order: leaf code and intrinsics by name."""
    if not isinstance(node, ir.Lambda):
        return ()
    found = tuple(dict.fromkeys(_does(node)))
    return () if found == (function(node),) else found


def _does(node: ir.Node) -> Iterator[str]:
    for part in walk(node):
        match part:
            case ir.Leaf(code=code):
                yield code.name
            case ir.Intrinsic(uri=uri):
                yield uri
            case _:
                pass


def only_arranges(node: ir.Node) -> bool:
    """Whether a function only picks fields, or puts them together."""
    arranging = ir.Reference | ir.Selection | ir.Struct | ir.Block | ir.Lambda
    return isinstance(node, ir.Lambda) and all(
        isinstance(part, arranging) for part in walk(node)
    )
