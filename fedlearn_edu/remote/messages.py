# SPDX-License-Identifier: Apache-2.0
"""What is said when a cluster cannot do what it was asked for."""

from collections.abc import Mapping, Sequence
from typing import final

from fedlearn_edu.errors import (
    ArgumentsError,
    FedLearnError,
    TypeMismatchError,
    counted,
    describe,
)

_INSTEAD_OF_GRPC = {
    "rpc_mode": "a group of clients gets one message, and answers it",
    "thread_pool_executor": "messages need no threads of yours",
    "dispose_batch_size": "workers drop values when their message is answered",
    "stream_structs": "a group of clients gets one message, whatever is in it",
}


@final
class ClusterError(FedLearnError, ConnectionError):
    """A cluster cannot be reached, has no worker left, or must not be trusted."""


@final
class NotInstalledError(FedLearnError, ImportError):
    """What clusters need is not installed."""


def clients_of(clients: range) -> str:
    if len(clients) == 1:
        return f"client {clients.start}"
    return f"clients {clients.start} to {clients.stop - 1}" if clients else "no clients"


BROKE_OFF = "its connection broke off"


def why(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "it does not answer"
    return BROKE_OFF


def nobody_left(
    names: Sequence[str], lost: Sequence[str], seconds: float
) -> ClusterError:
    said = [f"{name} ({why})" for name, why in zip(names, lost, strict=True)]
    return ClusterError(
        "no worker is left",
        expected=f"a worker that answers within {seconds:g} s",
        found=f"{len(said)} that joined and were lost: {', '.join(said)}"
        if said
        else "none that ever joined",
        do="start workers, and run the cell again: data are loaded anew",
    )


def scheduler_gone(address: str) -> ClusterError:
    return ClusterError(
        "the scheduler of the cluster is gone",
        expected=f"a connection to {address}",
        found="one that broke off",
        do="start it, connect once more (fl.remote.connect), and run the cell again",
    )


def closed() -> ClusterError:
    return ClusterError(
        "this cluster was closed",
        expected="a call inside of its with block, or before cluster.close()",
        found="a call, or a question, after that",
        do="start another one (fl.remote.local), or connect once more",
    )


def value_lost(name: str, lost: str | None, count: int) -> ClusterError:
    values = f"what {counted(count, 'client')} held"
    return ClusterError(
        "what clients held was lost with their worker",
        expected=f"{values} at {name}, for which there are references",
        found=f"{name} was lost ({lost or 'and is back without it'})",
        do="run the cell again: a run with Options(checkpoints=…) goes on from its "
        "last checkpoint, others begin anew",
    )


def lost_again_and_again(clients: range, times: int) -> ClusterError:
    return ClusterError(
        f"the work of {clients_of(clients)} was lost with {counted(times, 'worker')}",
        expected="a worker that survives it",
        found=f"{counted(times, 'worker')} that ended in the middle of it",
        do="it may need more memory than they have: try smaller groups (max_fanout=…)",
    )


def cannot_travel(
    name: str, variable: str | None, error: Exception
) -> TypeMismatchError:
    return TypeMismatchError(
        f"{name} cannot travel to a worker",
        expected="a function that uses numbers, arrays, modules and such functions",
        found=str(error) if variable is None else f"its variable {variable}: {error}",
        where=name,
        do="open, connect or create it inside of the function, where it runs",
    )


def id_that_does_not_hash(number: int, client: object) -> TypeMismatchError:
    return TypeMismatchError(
        "a client's id does not hash",
        expected="an id that can be a key of a dict: a number, a string, a tuple",
        found=describe(client),
        where=f"clients[{number}]",
        do="workers keep data by id: pass tuples instead of lists, a name, or a number",
    )


def data_changed() -> ClusterError:
    return ClusterError(
        "client data changed: they were loaded once more, and differ",
        expected="a function that loads the same data each time",
        found="other data for the same clients",
        do="let it depend on the client's id alone: no clock, and a seed for chance",
    )


def other_versions(
    ours: Mapping[str, str], theirs: Mapping[str, Mapping[str, str]]
) -> ClusterError:
    where: dict[tuple[str, ...], list[str]] = {}
    for address, found in theirs.items():
        for name in [name for name in found if found[name] != ours[name]]:
            where.setdefault((name, ours[name], found[name]), []).append(address)
    rows: list[tuple[str, ...]] = [("package", "here", "there", "at")]
    rows += [
        (*row, "all workers" if len(at) == len(theirs) else ", ".join(at[:2]))
        for row, at in where.items()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return ClusterError(
        "workers have other versions than this process",
        expected="the same Python and packages everywhere",
        found=f"{len(where)} that differ",
        where=f"\n{' ' * 12}".join(lines),
        do="install the same ones there, or take the same image",
    )


def no_certificates(address: str) -> ClusterError:
    return ClusterError(
        "this address wants certificates",
        expected="those of its scheduler: security=distributed.Security(…), or Dask's "
        "configuration, in the folder that DASK_CONFIG names",
        found=f"{address}, and none",
        do="docs/cluster.md shows how they are made, and where they go",
    )


def unreachable(address: str, error: Exception) -> ClusterError:
    return ClusterError(
        "the cluster cannot be reached",
        expected="a scheduler that lets this process in",
        found=f"{address}: {type(error).__name__}: {error}",
        do="see that it runs; a tls:// address needs its certificates (security=…)",
    )


def open_to_everyone(address: str) -> ClusterError:
    return ClusterError(
        "this address has no encryption, and is not on this machine",
        expected="tls://…: everybody who reaches a tcp:// port may run code on it",
        found=address,
        do="start the scheduler with TLS, and connect with security=Security(…)",
    )


def no_cluster(found: object) -> TypeMismatchError:
    do = "fl.remote.local(workers=2), or fl.remote.connect('tls://host:8786', …)"
    return TypeMismatchError(
        "gRPC channels lead to workers of TensorFlow Federated" if _is_of_grpc(found)
        else "this is no cluster",
        expected="an address, a dask.distributed.Client, or a cluster object",
        found=describe(found),
        do=do,
    )  # fmt: skip


def _is_of_grpc(thing: object) -> bool:
    return type(thing).__module__.startswith("grpc")


def not_one_channel(found: Sequence[object]) -> TypeMismatchError:
    if found and _is_of_grpc(found[0]):
        return no_cluster(found[0])
    few = ", ".join(map(describe, found[:2])) + (", …" if len(found) > 2 else "")
    return TypeMismatchError(
        "one cluster has one channel",
        expected="a list of one: the scheduler of a cluster knows all its workers",
        found=f"{len(found)} channels{f': {few}' if few else ''}",
        do="[2] starts two workers here; ['tls://host:8786'] is a scheduler elsewhere",
    )


def check_no_grpc(**options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise ArgumentsError(
                f"{name} is about gRPC, and not needed here",
                expected="channels, default_num_clients, max_fanout",
                found=f"{name}={value!r}",
                do=f"leave it out: {_INSTEAD_OF_GRPC[name]}",
            )


def no_processes() -> NotInstalledError:
    return NotInstalledError(
        "fedlearn_edu.remote needs other processes, and connections to them",
        expected="Python on a computer",
        found="Python in a browser, which has neither",
        do="run it here with local_executor_factory(), or work on your own computer",
    )


def not_installed(lacking: Sequence[str]) -> NotInstalledError:
    return NotInstalledError(
        "fedlearn_edu.remote needs packages that are not installed",
        expected="distributed (Dask), cloudpickle, cryptography",
        found=f"no {', no '.join(lacking)}",
        do="pip install distributed cloudpickle cryptography",
    )
