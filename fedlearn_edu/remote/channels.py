# SPDX-License-Identifier: Apache-2.0
"""What TFF programs call channels: the way to a cluster, in one of its many forms.

A cluster that is started or joined here lives as long as this process.
"""

import atexit
from functools import cache
from typing import Any

from fedlearn_edu.contexts.factories import ExecutorFactory
from fedlearn_edu.errors import (
    ArgumentsError,
    TypeMismatchError,
    describe,
    is_whole_number,
    short_traceback,
)
from fedlearn_edu.remote.cluster import Cluster
from fedlearn_edu.remote.start import check_no_grpc, checked_numbers, connect, local

_INSTEAD_OF_GRPC = {
    "rpc_mode": "a group of clients gets one message, and answers it",
    "thread_pool_executor": "messages need no threads of yours",
    "dispose_batch_size": "workers drop values when their message is answered",
    "stream_structs": "a group of clients gets one message, whatever is in it",
}


@short_traceback
def remote_executor_factory(
    channels: Any,
    *,
    default_num_clients: int = 0,
    max_fanout: int = 100,
    rpc_mode: None = None,
    thread_pool_executor: None = None,
    dispose_batch_size: None = None,
    stream_structs: None = None,
) -> ExecutorFactory:
    """Builds stacks whose clients are at the workers of a cluster.

    >>> import fedlearn_edu as fl
    >>> with fl.remote.local(workers=2, processes=False) as cluster:
    ...     factory = fl.framework.remote_executor_factory([cluster], max_fanout=10)
    ...     with fl.framework.SyncExecutionContext(factory):
    ...         float(fl.federated_sum(fl.place([1.0, 3.0], fl.CLIENTS)))
    4.0

    Args:
        channels: a cluster of `fl.remote`, or whatever `fl.remote.connect` takes; a
            number of workers to be started here; or a list with one of these.
        default_num_clients: how many clients there are when no argument says it.
        max_fanout: at most so many clients make a group, which is one worker's work.
        rpc_mode: refused, as is each of the following: it is about gRPC.
        thread_pool_executor: refused.
        dispose_batch_size: refused.
        stream_structs: refused.

    Raises:
        ArgumentsError: if an argument is about gRPC.
        CardinalityError: if a number is out of range.
        ClusterError: if the cluster cannot be used.
        TypeMismatchError: if `channels` lead to no cluster.
    """
    # NB(TFF): one gRPC channel per worker there; here the scheduler knows all workers.
    given = rpc_mode, thread_pool_executor, dispose_batch_size, stream_structs
    for (name, cure), value in zip(_INSTEAD_OF_GRPC.items(), given, strict=True):
        if value is not None:
            raise ArgumentsError(
                f"{name} is about gRPC, and not needed here",
                expected="channels, default_num_clients, max_fanout",
                found=f"{name}={value!r}",
                do=f"leave it out: {cure}",
            )
    numbers = checked_numbers(default_num_clients, max_fanout)
    return _cluster(channels).executor_factory(*numbers)


def _cluster(channels: Any) -> Cluster:
    if isinstance(channels, list | tuple):
        if len(channels) != 1 or isinstance(channels[0], list | tuple):
            check_no_grpc(*channels[:1])
            few = ", ".join(map(describe, channels[:2]))
            few += ", …" * (len(channels) > 2)
            raise TypeMismatchError(
                "one cluster has one channel",
                expected="a list of one: the scheduler of a cluster knows all its "
                "workers",
                found=f"{len(channels)} channels{f': {few}' if few else ''}",
                do="[2] starts two workers here; ['tls://host:8786'] is a scheduler "
                "elsewhere",
            )
        [channels] = channels
    if isinstance(channels, Cluster):
        return channels
    if is_whole_number(channels):
        return _workers_here(int(channels))
    return _until_exit(connect(channels))


@cache  # a cell that runs again starts no more of them
def _workers_here(count: int) -> Cluster:
    return _until_exit(local(count))


def _until_exit(cluster: Cluster) -> Cluster:
    atexit.register(cluster.close)
    return cluster
