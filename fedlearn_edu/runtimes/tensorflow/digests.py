# SPDX-License-Identifier: Apache-2.0
"""When are two graphs the same? When they take the same steps in the same order.

TensorFlow numbers the functions and layers it makes, and never twice alike: a cell that
is run again makes a graph that differs in names only. Here a node is known by its place
and a function by what it does.
"""

import hashlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, final

from fedlearn_edu.runtimes.tensorflow.library import tf

# A numbered name, too; and nobody asks leaf code for its gradient.
_GRADIENT = "_gradient_op_type"
_SEEDS = frozenset({"seed", "seed2"})


def digest_of(
    definition: bytes, fed: Sequence[str], fetched: Sequence[str], run: Sequence[str]
) -> str:
    """Hexadecimal text for a serialized `GraphDef`, and for what is fed and fetched."""
    graph = tf.compat.v1.GraphDef.FromString(definition)
    functions = {
        function.signature.name: function for function in graph.library.function
    }
    return _Digests(functions).of_steps(graph.node, (), fed, fetched, run)


@final
class _Digests:
    """Digests of graphs that call some functions, by name."""

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self._functions = functions
        self._known: dict[str, str] = {}

    def of_steps(
        self, nodes: Sequence[Any], arguments: Sequence[str], *ends: Sequence[str]
    ) -> str:
        names = [*arguments, *(node.name for node in nodes)]
        places = {name: place for place, name in enumerate(names)}

        def placed(name: str) -> tuple[Any, ...]:  # of "^node", "node:1", "node:out:0"
            node, *output = name.lstrip("^").split(":")
            # The first output is meant where none is named.
            return (name[0] == "^", places[node], [o for o in output if o != "0"])

        digest = hashlib.sha256(repr(len(arguments)).encode())
        for node in nodes:
            inputs, attributes = map(placed, node.input), self._attributes(node.attr)
            step = (self._function(node.op), node.device, [*inputs], [*attributes])
            digest.update(repr(step).encode())
        *in_order, effects = ([*map(placed, group)] for group in ends)
        digest.update(repr((in_order, sorted(effects))).encode())
        return digest.hexdigest()

    def _function(self, name: str) -> str:
        if name not in self._functions:
            return name
        if name not in self._known:
            function = self._functions[name]
            arguments = [argument.name for argument in function.signature.input_arg]
            results = [function.ret[r.name] for r in function.signature.output_arg]
            effects = [*function.control_ret.values()]
            types = repr([argument.type for argument in function.signature.input_arg])
            steps = self.of_steps(function.node_def, arguments, results, effects)
            self._known[name] = types + steps
        return self._known[name]

    def _attributes(self, attributes: Mapping[str, Any]) -> Iterator[Any]:
        for key in sorted(attributes.keys() - {_GRADIENT}):
            value = attributes[key]
            if key in _SEEDS and value.i:
                # It goes on where it was: no other graph can stand for it.
                yield uuid.uuid4().hex
            called = [*value.list.func, *([value.func] if value.func.name else [])]
            for function in called:
                inner = [*self._attributes(function.attr)]
                yield key, self._function(function.name), inner
            if not called:
                data = value.SerializeToString(deterministic=True)
                yield key, hashlib.sha256(data).hexdigest()
