# SPDX-License-Identifier: Apache-2.0
"""Starting workers on this machine, and connecting to those that run elsewhere.

Every connection is encrypted, on this machine too: everybody who can connect may run
code. A certificate that is made for one cluster, and forgotten with it, lets nobody
else in.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import spawn
from typing import Any, TypeVar, final

import dask
from distributed import Client, LocalCluster, Nanny, SpecCluster
from distributed.security import Security

from fedlearn_edu.contexts.factories import check_count
from fedlearn_edu.errors import TypeMismatchError, describe, short_traceback
from fedlearn_edu.remote import roster
from fedlearn_edu.remote.addresses import check_encrypted
from fedlearn_edu.remote.cluster import Cluster
from fedlearn_edu.remote.dispatcher import Dispatcher
from fedlearn_edu.remote.errors import ClusterError
from fedlearn_edu.remote.roster import Roster
from fedlearn_edu.remote.worker import FedLearnPlugin, versions

T = TypeVar("T")


@final
class _Nanny(Nanny):  # type: ignore[misc]  # it has no types
    """Starts a worker, and ends it at once: it holds nothing but caches."""

    async def instantiate(self) -> Any:
        """Starts the process of a worker, which does not run the program again.

        What is defined in the program travels by value. So a script needs no
        `if __name__ == "__main__":`.
        """
        spawn.get_preparation_data = _preparation_data
        return await super().instantiate()

    async def kill(self, *args: Any, **kwargs: Any) -> None:
        """Does not wait for what the worker is doing, nor for what it would tidy up."""
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        await super().kill(*args, **kwargs)


@final
class _LocalCluster(LocalCluster):  # type: ignore[misc]  # it has no types
    """Has as many workers as at first, however often they die."""

    def _update_worker_status(self, op: str, msg: Any) -> None:
        # Dask gives up a worker that is not back when it looks, 15 s after a death.
        super(SpecCluster, self)._update_worker_status(op, msg)


_spawned = spawn.get_preparation_data


def _preparation_data(name: str) -> dict[str, Any]:
    data = _spawned(name)
    if name.startswith("Dask Worker process"):
        data.pop("init_main_from_name", None)
        data.pop("init_main_from_path", None)
    return data


_LOOPBACK = "127.0.0.1"
_ANY_PORT = f"{_LOOPBACK}:0"
_ADDRESS = "FEDLEARN_EDU_CLUSTER"
_CORES = os.cpu_count() or 1
_SELDOM = {
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}


@short_traceback
def local(
    workers: int = 2,
    *,
    max_fanout: int = 100,
    default_num_clients: int = 0,
    processes: bool = True,
    dashboard: bool = False,
    max_bytes: int | None = None,
    timeout: float = 30.0,
) -> Cluster:
    """Starts workers on this machine, which import TensorFlow at once.

    >>> import fedlearn_edu as fl
    >>> with fl.remote.local(workers=2, processes=False) as cluster:
    ...     mean = fl.federated_mean(fl.place([1.0, 3.0, 5.0], fl.CLIENTS))
    ...     len(cluster.workers()), float(mean)
    (2, 3.0)

    Args:
        workers: how many.
        max_fanout: at most so many clients make a group, which is one worker's work.
            Results have the bits of `local_executor_factory` with the same number.
        default_num_clients: how many clients there are when no argument says it.
        processes: whether each has a process of its own; without, all are in this one,
            which starts at once and is good for tests.
        dashboard: whether Dask's dashboard listens, on this machine only.
        max_bytes: how much each keeps of clients' data; without, a quarter of the
            machine's memory is shared out.
        timeout: how many seconds to wait for a worker when all are gone.

    Raises:
        CardinalityError: if a number is out of range.
    """
    check_count("workers", workers, 1, "take 1 or more")
    numbers = checked_numbers(default_num_clients, max_fanout)
    threads = max(1, _CORES // workers)
    security, unmute = Security.temporary(), _muted()
    with _environ_as_before(), dask.config.set(_config(threads, dashboard=dashboard)):
        cluster = _LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=0,
            worker_class=_Nanny if processes else None,
            processes=processes,
            # Without an address it would listen at 8787, and warn if that is taken.
            scheduler_kwargs={"dashboard": dashboard, "dashboard_address": _ANY_PORT},
            host=_LOOPBACK,
            protocol="tls://",
            security=security,
            silence_logs=logging.CRITICAL,
        )
        client = Client(cluster, set_as_default=False)

    def close() -> None:
        client.close()
        cluster.close()
        unmute()

    limit = max_bytes or _memory() // 4 // workers
    plugin = FedLearnPlugin(limit, threads, warm_up=processes)
    link = client.dashboard_link if dashboard else None
    return _cluster(client, plugin, numbers, timeout, close, link)


def _memory() -> int:
    import psutil

    return int(psutil.virtual_memory().total)


@short_traceback
def connect(
    cluster: Any = None,
    *,
    security: Security | None = None,
    max_fanout: int = 100,
    default_num_clients: int = 0,
    max_bytes: int | None = None,
    timeout: float = 30.0,
) -> Cluster:
    """Joins a Dask cluster that runs already.

    >>> from distributed import LocalCluster
    >>> import fedlearn_edu as fl
    >>> with LocalCluster(processes=False, dashboard_address="127.0.0.1:0") as running:
    ...     with fl.remote.connect(running):
    ...         float(fl.federated_mean(fl.place([1.0, 3.0], fl.CLIENTS)))
    2.0

    Args:
        cluster: the address of its scheduler, a `dask.distributed.Client`, or an object
            with a `scheduler_address`: of dask-jobqueue, dask-kubernetes, Coiled, …;
            without, the address in the variable `FEDLEARN_EDU_CLUSTER`.
        security: the certificates of a `tls://` address (`distributed.Security`);
            without, those that Dask's own configuration names.
        max_fanout: see `local`.
        default_num_clients: see `local`.
        max_bytes: how much each worker keeps of clients' data; without, a quarter of
            its machine's memory.
        timeout: how many seconds to wait for the scheduler, and for a worker when all
            are gone.

    A worker that does not answer within ten seconds is left out until it starts anew.

    Raises:
        ClusterError: if it cannot be reached, is open to everybody, or has workers with
            other versions.
        TypeMismatchError: if it is no cluster.
    """
    numbers = checked_numbers(default_num_clients, max_fanout)
    cluster = os.environ.get(_ADDRESS) if cluster is None else cluster
    client, close = _join(cluster, security, timeout)
    plugin = FedLearnPlugin(max_bytes, 1, warm_up=True)
    return _cluster(client, plugin, numbers, timeout, close, client.dashboard_link)


def check_no_grpc(*channels: object) -> None:
    """Refuses a channel of gRPC."""
    for channel in channels:
        if type(channel).__module__.startswith("grpc"):
            what = "gRPC channels lead to workers of TensorFlow Federated"
            raise _no_cluster(what, channel)


def _no_cluster(summary: str, found: object) -> TypeMismatchError:
    return TypeMismatchError(
        summary,
        expected="an address, a dask.distributed.Client, or a cluster object",
        found=describe(found),
        do="fl.remote.local(workers=2), or fl.remote.connect('tls://host:8786', …)",
    )


def _join(
    cluster: Any, security: Security | None, timeout: float
) -> tuple[Client, Callable[[], None]]:
    """A client of a cluster, and what closes it."""
    if isinstance(cluster, Client):
        check_encrypted(str(cluster.scheduler.address))
        return cluster, lambda: None
    address = getattr(cluster, "scheduler_address", cluster)
    if not isinstance(address, str):
        check_no_grpc(cluster)
        raise _no_cluster("this is no cluster", cluster)
    check_encrypted(address)
    security = security or getattr(cluster, "security", None) or Security()
    if address.startswith("tls://") and not security.tls_ca_file:
        raise ClusterError(
            "this address wants certificates",
            expected="those of its scheduler: security=distributed.Security(…), or "
            "Dask's configuration, in the folder that DASK_CONFIG names",
            found=f"{address}, and none",
            do="docs/cluster.md shows how they are made, and where they go",
        )
    unmute = _muted()
    try:
        client = Client(
            cluster, security=security, timeout=timeout, set_as_default=False
        )
    except (OSError, TypeError, ValueError) as error:
        unmute()
        raise ClusterError(
            "the cluster cannot be reached",
            expected="a scheduler that lets this process in",
            found=f"{address}: {type(error).__name__}: {error}",
            do="see that it runs; a tls:// address needs its certificates (security=…)",
        ) from error

    def close() -> None:
        client.close()
        unmute()

    return client, close


_LOGGERS = ("distributed", "distributed.client", "tornado.application")
_muting: set[object] = set()


def _muted() -> Callable[[], None]:
    """Mutes Dask, until what is returned is called: `Cluster.log` says what counts."""
    token = object()
    _muting.add(token)
    for name in _LOGGERS:
        for handler in logging.getLogger(name).handlers:
            handler.addFilter(_is_wanted)
    return lambda: _muting.discard(token)


def _is_wanted(_: logging.LogRecord) -> bool:
    return not _muting


def checked_numbers(default_num_clients: int, max_fanout: int) -> tuple[int, int]:
    """The same, once they are known to be numbers of clients."""
    check_count("max_fanout", max_fanout, 2, "a group of one is no group")
    check_count("default_num_clients", default_num_clients, 0, "take 0 or more")
    return default_num_clients, max_fanout


def _config(threads: int, *, dashboard: bool) -> dict[str, Any]:
    known = dask.config.get("distributed.nanny.environ")
    environ = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_NUM_INTRAOP_THREADS": str(threads)}
    without = () if dashboard else ("scheduler", "worker")
    return {
        "distributed.nanny.environ": {**known, **environ},
        "distributed.worker.profile.enabled": False,
        # What only the dashboard shows would be measured fifty times a second.
        **({} if dashboard else _SELDOM),
        "distributed.comm.require-encryption": True,
        **{f"distributed.{who}.http.routes": [] for who in without},
    }


@contextmanager
def _environ_as_before() -> Iterator[None]:
    """What Dask sets for workers to inherit is not meant for this process."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)


def _cluster(
    client: Client,
    plugin: FedLearnPlugin,
    numbers: tuple[int, int],
    timeout: float,
    close: Callable[[], None],
    link: str | None,
) -> Cluster:
    try:
        dispatcher = Dispatcher(client, timeout)
        dispatcher.ask(_admit(client, plugin, dispatcher.roster, timeout))
    except BaseException:
        with suppress(Exception):
            close()
        raise
    address = str(client.scheduler.address)
    return Cluster(dispatcher, numbers, close, address, link)


async def _admit(
    client: Client, plugin: FedLearnPlugin, members: Roster, timeout: float
) -> None:
    """Lets the workers join that answer, if their versions are ours."""
    running = (await client.scheduler.identity(n_workers=-1))["workers"]
    asked = await asyncio.gather(*(_in_time(_versions_at(client, a)) for a in running))
    theirs = {a: found for a, found in zip(running, asked, strict=True) if found}
    ours = versions()
    if any(found[name] != ours[name] for found in theirs.values() for name in found):
        raise _other_versions(ours, theirs)
    await _in_time(client.register_plugin(plugin))
    for address in running:
        if address not in theirs:
            members.note(f"{address} was left out: it does not answer")
    all_answer = len(theirs) == len(running)
    await (members.refresh(timeout) if all_answer else members.refresh())


def _other_versions(
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


async def _in_time(asked: Awaitable[T]) -> T | None:
    """What is said, or `None` if that takes longer than a heartbeat may."""
    with suppress(OSError):
        return await asyncio.wait_for(asked, roster.PATIENCE)
    return None


async def _versions_at(client: Client, address: str) -> dict[str, str]:
    def found() -> Any:  # travels by value: the package need not be there
        try:
            from fedlearn_edu.remote.worker import versions
        except ImportError as error:
            return {"fedlearn-edu": str(error)}
        return versions()

    try:
        theirs: dict[str, str] = (await client.run(found, workers=[address]))[address]
    except Exception:  # another Python does not read this one's functions
        ask = {"msg": {"op": "versions", "packages": []}, "on_error": "ignore"}
        said = await client.scheduler.broadcast(**ask, workers=[address])
        python = said[address]["packages"]["python"] if said else ""
        return {"python": ".".join(python.split(".")[:2])} if said else {}
    return theirs
