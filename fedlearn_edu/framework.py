# SPDX-License-Identifier: Apache-2.0
"""The names for writing executors, strategies, intrinsics and contexts.

The import lines say where each of them is defined.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fedlearn_edu.compiler.pipeline import compile_tree
from fedlearn_edu.contexts.arguments import infer_cardinalities
from fedlearn_edu.contexts.execution import AsyncExecutionContext, SyncExecutionContext
from fedlearn_edu.contexts.factories import (
    CustomExecutorFactory,
    ExecutorFactory,
    local_executor_factory,
    sizing_executor_factory,
    thread_debugging_executor_factory,
)
from fedlearn_edu.contexts.reference import ReferenceContext
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.executors.base import Executor, ExecutorValue
from fedlearn_edu.executors.composing import FederatedComposingStrategy
from fedlearn_edu.executors.federating import (
    FederatingExecutor,
    FederatingStrategy,
    implements,
)
from fedlearn_edu.executors.layer import Handle, Layer, LeafExecutor
from fedlearn_edu.executors.recording import Event, RecordingExecutor, Tape
from fedlearn_edu.executors.reference_resolving import ReferenceResolvingExecutor
from fedlearn_edu.executors.resolving import (
    FederatedExecutor,
    FederatedResolvingStrategy,
)
from fedlearn_edu.executors.sequence import SequenceExecutor
from fedlearn_edu.executors.threads import ThreadDelegatingExecutor
from fedlearn_edu.executors.traffic import SizeInfo, bytes_by_edge
from fedlearn_edu.executors.wrapping import WrappingExecutor
from fedlearn_edu.former_names import unknown
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.nodes import LeafCode
from fedlearn_edu.language.application import apply, define, derived
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.context_stack import Context, set_default_context
from fedlearn_edu.language.decorator import Decorator
from fedlearn_edu.language.intrinsic import (
    IntrinsicDef,
    all_intrinsics,
    intrinsic_named,
)
from fedlearn_edu.language.value import Value
from fedlearn_edu.runtimes.numpy.executor import NumPyExecutor
from fedlearn_edu.runtimes.registry import register_runtime
from fedlearn_edu.types.containers import materialize
from fedlearn_edu.types.references import ValueReference, value_references

if TYPE_CHECKING:
    from fedlearn_edu.remote.channels import remote_executor_factory
    from fedlearn_edu.runtimes.tensorflow.executor import EagerTFExecutor

ExecutionContext = SyncExecutionContext


# As a package has one: then `from … import` asks for a submodule, and is answered.
__path__: list[str] = []


@short_traceback
def __getattr__(name: str) -> Any:
    if name == "EagerTFExecutor":  # the one name here that needs TensorFlow
        from fedlearn_edu.runtimes.tensorflow.executor import EagerTFExecutor

        return EagerTFExecutor
    if name == "remote_executor_factory":  # needs Dask
        return import_module("fedlearn_edu.remote.channels").remote_executor_factory
    raise unknown("fedlearn_edu.framework", name, __all__)


__all__ = [
    "AsyncExecutionContext",
    "Computation",
    "Context",
    "CustomExecutorFactory",
    "Decorator",
    "EagerTFExecutor",
    "Event",
    "ExecutionContext",
    "Executor",
    "ExecutorFactory",
    "ExecutorValue",
    "FederatedComposingStrategy",
    "FederatedExecutor",
    "FederatedResolvingStrategy",
    "FederatingExecutor",
    "FederatingStrategy",
    "Handle",
    "IntrinsicDef",
    "Layer",
    "LeafCode",
    "LeafExecutor",
    "NumPyExecutor",
    "RecordingExecutor",
    "ReferenceContext",
    "ReferenceResolvingExecutor",
    "SequenceExecutor",
    "SizeInfo",
    "SyncExecutionContext",
    "Tape",
    "ThreadDelegatingExecutor",
    "Value",
    "ValueReference",
    "WrappingExecutor",
    "all_intrinsics",
    "apply",
    "bytes_by_edge",
    "compile_tree",
    "define",
    "derived",
    "implements",
    "infer_cardinalities",
    "intrinsic_named",
    "ir",
    "local_executor_factory",
    "materialize",
    "register_runtime",
    "remote_executor_factory",
    "set_default_context",
    "sizing_executor_factory",
    "thread_debugging_executor_factory",
    "value_references",
]
