# SPDX-License-Identifier: Apache-2.0
"""Execution contexts on stacks in this process, or at the workers of a cluster.

The first line of many TFF programs. Those with `local` in their names take what
`local_executor_factory` takes, those with `remote` what `remote_executor_factory` does.
"""

from typing import Any

from fedlearn_edu.contexts.execution import AsyncExecutionContext, SyncExecutionContext
from fedlearn_edu.contexts.factories import ExecutorFactory, local_executor_factory
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.former_names import answering
from fedlearn_edu.language.context_stack import set_default_context


@short_traceback
def create_local_python_execution_context(**options: Any) -> SyncExecutionContext:
    """A context whose stacks are in this process, sequence layer included."""
    # NB(TFF): there, without the sequence layer unless it is asked for.
    options = {"support_sequence_ops": True, **options}
    return SyncExecutionContext(local_executor_factory(**options))


@short_traceback
def set_local_python_execution_context(**options: Any) -> None:
    """Makes such a context the default one.

    >>> import fedlearn_edu as fl
    >>> fl.backends.native.set_local_python_execution_context(default_num_clients=3)
    >>> float(fl.federated_sum(fl.federated_value(2.0, fl.CLIENTS)))
    6.0
    >>> fl.backends.native.set_local_python_execution_context()
    """
    set_default_context(create_local_python_execution_context(**options))


@short_traceback
def create_remote_python_execution_context(
    channels: Any, **options: Any
) -> SyncExecutionContext:
    """A context whose clients are at the workers of a cluster.

    >>> import fedlearn_edu as fl
    >>> with fl.remote.local(workers=2, processes=False) as cluster:
    ...     with fl.backends.native.create_remote_python_execution_context([cluster]):
    ...         float(fl.federated_mean(fl.place([1.0, 3.0], fl.CLIENTS)))
    2.0
    """
    return SyncExecutionContext(_remote(channels, options))


@short_traceback
def create_remote_async_python_execution_context(
    channels: Any, **options: Any
) -> AsyncExecutionContext:
    """The same; calls are coroutines."""
    return AsyncExecutionContext(_remote(channels, options))


@short_traceback
def set_remote_python_execution_context(channels: Any, **options: Any) -> None:
    """Makes a context at a cluster the default one."""
    set_default_context(SyncExecutionContext(_remote(channels, options)))


@short_traceback
def set_remote_async_python_execution_context(channels: Any, **options: Any) -> None:
    """The same; calls are coroutines."""
    set_default_context(AsyncExecutionContext(_remote(channels, options)))


@short_traceback
def set_sync_local_cpp_execution_context(
    default_num_clients: int = 0,
    max_concurrent_computation_calls: float = -1,
    stream_structs: bool = False,
) -> None:
    """The same by a later name; the other two were of an executor in C++."""
    set_local_python_execution_context(default_num_clients=default_num_clients)


# What it is called in older versions.
set_local_execution_context = set_local_python_execution_context


def _remote(channels: Any, options: dict[str, Any]) -> ExecutorFactory:
    from fedlearn_edu.remote.channels import remote_executor_factory  # needs Dask

    return remote_executor_factory(channels, **options)


__all__ = [
    "create_local_python_execution_context",
    "create_remote_async_python_execution_context",
    "create_remote_python_execution_context",
    "set_local_execution_context",
    "set_local_python_execution_context",
    "set_remote_async_python_execution_context",
    "set_remote_python_execution_context",
    "set_sync_local_cpp_execution_context",
]


# As a package has one: then `from … import` asks for a submodule, and is answered.
__path__: list[str] = []

__getattr__ = answering("fedlearn_edu.backends.native", __all__)
