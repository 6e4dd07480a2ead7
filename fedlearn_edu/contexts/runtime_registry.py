# SPDX-License-Identifier: Apache-2.0
"""Which executor sits at the bottom of a stack: the only place that chooses a runtime.

TensorFlow is loaded here, and only when a computation contains TensorFlow code or a
user asks for it by name.
"""

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from fedlearn_edu.errors import StructureError
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.batched import Together
from fedlearn_edu.executors.routing import RoutingExecutor
from fedlearn_edu.language.context_stack import Context, tracers
from fedlearn_edu.runtimes.numpy.executor import NumPyExecutor

# Runtimes whose code keeps Python's interpreter lock: threads would only cost hops.
HOLD_THE_LOCK = frozenset({"numpy"})
Leaf = str | Callable[[], Executor] | None


def _tensorflow() -> Executor:
    from fedlearn_edu.runtimes.tensorflow.executor import EagerTFExecutor

    return EagerTFExecutor()


@cache
def _tensorflow_together() -> Together:
    from fedlearn_edu.runtimes.tensorflow.groups import TensorFlowTogether

    return TensorFlowTogether()


_makers: dict[str, Callable[[], Executor]] = {
    "numpy": NumPyExecutor,
    "tensorflow": _tensorflow,
}

# Runtimes that can run a function for many participants in one call.
_together: dict[str, Callable[[], Together]] = {"tensorflow": _tensorflow_together}


def _tensorflow_is_tracing() -> Context | None:
    """In a `tf.function` outside of all computations, a call is part of its graph."""
    # Not imported, or not to its end, it traces nothing.
    is_eager = getattr(sys.modules.get("tensorflow"), "executing_eagerly", None)
    if is_eager is None or is_eager():
        return None
    from fedlearn_edu.runtimes.tensorflow.tracing import TensorFlowTracingContext

    return TensorFlowTracingContext()


tracers.append(_tensorflow_is_tracing)


def register_runtime(name: str, make_executor: Callable[[], Executor]) -> None:
    """Makes a runtime known: leaf code of that name goes to such an executor."""
    _makers[name] = make_executor


def together(leaf: Leaf, runtimes: frozenset[str]) -> Together | None:
    """How leaf code of `runtimes` runs for many participants at once, if it can."""
    able = [name for name in _together if name in runtimes and leaf in (None, name)]
    return _together[able[0]]() if able else None


def leaf_executor(leaf: Leaf, runtimes: frozenset[str]) -> Executor:
    """The executor for leaf code of `runtimes`, unless `leaf` asks for another one."""
    if callable(leaf):
        return leaf()
    names = [leaf] if leaf is not None else sorted(runtimes) or ["numpy"]
    unknown: list[Any] = [name for name in names if name not in _makers]
    if unknown:
        raise StructureError(
            f"there is no runtime {unknown[0]!r}",
            expected="one of " + ", ".join(_makers),
            found=unknown[0],
            where="leaf=",
            do="choose one of these, or register_runtime(name, make_executor)",
        )
    if len(names) == 1:
        return _makers[names[0]]()
    return RoutingExecutor({name: _makers[name]() for name in names})
