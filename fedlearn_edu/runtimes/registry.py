# SPDX-License-Identifier: Apache-2.0
"""The runtimes there are: of each, one record that says what it can do."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, final

from fedlearn_edu.compiler.fuse import Fuser
from fedlearn_edu.errors import StructureError
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.batched import BatchedRuntime
from fedlearn_edu.executors.layer import AnyRuntimeExecutor
from fedlearn_edu.language.context_stack import Context, tracers
from fedlearn_edu.runtimes import tensorflow
from fedlearn_edu.runtimes.numpy.executor import NumPyExecutor

LeafSpec = str | Callable[[], Executor] | None


@final
@dataclass(frozen=True)
class Runtime:
    """What runs leaf code of one kind.

    Attributes:
        make_executor: makes the executor at the bottom of a stack.
        keeps_gil: whether its code keeps Python's interpreter lock: threads would only
            cost hops.
        fuse: makes one leaf of a whole function of the language, where it can.
        batched: has what runs a function for many participants in one call.
    """

    make_executor: Callable[[], Executor]
    keeps_gil: bool = False
    fuse: Fuser | None = None
    batched: Callable[[], BatchedRuntime] | None = None


def _later(name: str) -> Callable[..., Any]:
    """What is in a module of TensorFlow's runtime, imported when it is called."""
    module, _, what = f"{tensorflow.__name__}.{name}".rpartition(".")
    return lambda *args: getattr(import_module(module), what)(*args)


RUNTIMES = {
    "numpy": Runtime(NumPyExecutor, keeps_gil=True),
    "tensorflow": Runtime(
        _later("executor.EagerTFExecutor"),
        fuse=_later("computation.fuse"),
        batched=cache(_later("groups.TensorFlowBatchedRuntime")),
    ),
}


def _context_of_graph() -> Context | None:
    """In a `tf.function` outside of all computations, a call is part of its graph."""
    # Not imported, or not to its end, it traces nothing.
    is_eager = getattr(sys.modules.get("tensorflow"), "executing_eagerly", None)
    if is_eager is None or is_eager():
        return None
    context: Context = _later("computation.TensorFlowTracingContext")()
    return context


tracers.append(_context_of_graph)


def register_runtime(name: str, make_executor: Callable[[], Executor]) -> None:
    """Makes a runtime known: leaf code of that name goes to such an executor."""
    RUNTIMES[name] = Runtime(make_executor)


def fusers() -> dict[str, Fuser]:
    """Those that can make one leaf of a whole function, by name."""
    return {name: made.fuse for name, made in RUNTIMES.items() if made.fuse}


def keep_gil(runtimes: frozenset[str]) -> bool:
    """Whether threads would not run code of these runtimes side by side."""
    return all(name in RUNTIMES and RUNTIMES[name].keeps_gil for name in runtimes)


def batched_runtime(leaf: LeafSpec, runtimes: frozenset[str]) -> BatchedRuntime | None:
    """What runs leaf code of `runtimes` for many participants at once, if it can."""
    for name, runtime in RUNTIMES.items():
        if runtime.batched and name in runtimes and leaf in (None, name):
            return runtime.batched()
    return None


def leaf_executor(leaf: LeafSpec, runtimes: frozenset[str]) -> Executor:
    """The executor for leaf code of `runtimes`, unless `leaf` asks for another one."""
    if callable(leaf):
        return leaf()
    names = [leaf] if leaf is not None else sorted(runtimes) or ["numpy"]
    for name in names:
        if name not in RUNTIMES:
            raise StructureError(
                f"there is no runtime {name!r}",
                expected="one of " + ", ".join(RUNTIMES),
                found=name,
                where="leaf=",
                do="choose one of these, or register_runtime(name, make_executor)",
            )
    return (
        RUNTIMES[names[0]].make_executor() if len(names) == 1 else AnyRuntimeExecutor()
    )
