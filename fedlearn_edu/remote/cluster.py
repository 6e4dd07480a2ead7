# SPDX-License-Identifier: Apache-2.0
"""A cluster, as a program sees it: an execution context, and a place for data.

`local` starts worker processes on this machine; `connect` joins what runs already. Dask
has the members, the connections and TLS. The work itself goes by messages of our own
(`dispatcher.py`).
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self, final

import cloudpickle

from fedlearn_edu.contexts.execution import SyncExecutionContext
from fedlearn_edu.contexts.factories import check_count
from fedlearn_edu.errors import TypeMismatchError, counted, describe, short_traceback
from fedlearn_edu.language.federated_value import FederatedValue
from fedlearn_edu.remote.data import Loader
from fedlearn_edu.remote.dispatcher import Dispatcher
from fedlearn_edu.remote.factory import RemoteExecutorFactory
from fedlearn_edu.remote.pickling import cannot_travel
from fedlearn_edu.remote.records import Traffic, WorkerInfo
from fedlearn_edu.types import CLIENTS, FederatedType, to_type
from fedlearn_edu.types.sequences import Members


@final
class Cluster(AbstractContextManager["Cluster"]):
    """Workers in other processes, which hold the clients of a program.

    In its `with` block, or after `fl.set_default_context(cluster.context)`, calls run
    there. Made by `local` and `connect`.

    Attributes:
        context: runs computations with their clients at the workers.
        address: where its scheduler listens.
        dashboard_link: the address of Dask's dashboard, if there is one.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        numbers: tuple[int, int],
        close: Callable[[], None],
        address: str,
        dashboard_link: str | None,
    ) -> None:
        self._dispatcher = dispatcher
        self._close = close
        self.address = address
        self.dashboard_link = dashboard_link
        self.context = SyncExecutionContext(self.executor_factory(*numbers))

    def __enter__(self) -> Self:
        self.context.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self.context.__exit__(*exception)
        self.close()

    @short_traceback
    def place(
        self, load: Callable[[Any], Any], clients: int | Sequence[Any], member_type: Any
    ) -> FederatedValue:
        """Data of clients that are loaded where they are used.

        Args:
            load: from a client's id to its data, the same data each time. It runs at
                workers: what it reads has to be there. It travels by value.
            clients: their ids, which hash; or their number, and the ids are 0, 1, ….
            member_type: what denotes the type of one client's data.

        Returns:
            A value of type `{member_type}@CLIENTS`, for any computation.

        Raises:
            CardinalityError: if the number of clients is none.
            TypeMismatchError: if an id does not hash, or `load` cannot travel.

        >>> import numpy as np
        >>> import fedlearn_edu as fl
        >>> def load(client):
        ...     return [float(client), 10.0]
        >>> total = fl.np_computation(sum, fl.SequenceType(np.float32))
        >>> with fl.remote.local(workers=2, processes=False) as cluster:
        ...     data = cluster.place(load, 3, fl.SequenceType(np.float32))
        ...     [float(sum) for sum in fl.federated_map(total, data)]
        [10.0, 11.0, 12.0]
        """
        if isinstance(clients, Sequence):
            ids: Sequence[Any] = tuple(clients)
            _check_hashable(ids)
        else:
            check_count("clients", clients, 0, "it is the number of clients, or a list")
            ids = range(int(clients))
        type_ = to_type(member_type)
        try:
            made = cloudpickle.dumps((load, str(type_)))
        except Exception as error:
            name = getattr(load, "__name__", "load")
            raise cannot_travel(load, name, error) from None
        load = cloudpickle.loads(made)[0]  # as it is now, whatever it mentions later
        key = hashlib.sha256(made).hexdigest()[:16]
        members = Members(Loader(load, type_, key), ids)
        return FederatedValue(members, FederatedType(type_, CLIENTS, all_equal=False))

    def executor_factory(
        self, default_num_clients: int, max_fanout: int
    ) -> RemoteExecutorFactory:
        """Builds stacks whose clients are here, in groups of at most `max_fanout`."""
        send = self._dispatcher.run
        return RemoteExecutorFactory(default_num_clients, max_fanout, send=send)

    def workers(self) -> tuple[WorkerInfo, ...]:
        """The workers, those that were lost included."""
        return self._dispatcher.workers()

    def log(self) -> list[str]:
        """Who joined, and who was lost, in order."""
        return list(self._dispatcher.roster.lines)

    def traffic(self) -> Traffic:
        """The messages of the calls so far, with their sizes and times."""
        return self._dispatcher.traffic()

    def close(self) -> None:
        """Ends what was started for this cluster; nothing is lost but caches.

        Calls that are under way end with an error.
        """
        if self._dispatcher.close():
            self._close()

    @property
    def is_closed(self) -> bool:
        """Whether it was ended; workers are lost then."""
        return self._dispatcher.is_closed

    def __repr__(self) -> str:
        infos = self.workers()
        if self.is_closed:
            return f"<closed cluster of {counted(len(infos), 'worker')}>"
        alive = [info for info in infos if info.is_alive]
        lines = [f"<cluster of {counted(len(alive), 'worker')} at {self.address}>"]
        for info in infos:
            held = f"{counted(info.clients, 'client')}, {info.nbytes / 1e6:.1f} MB"
            lines.append(f"  {info.name}  {held if info.is_alive else 'lost'}")
        return "\n".join(lines)


def _check_hashable(ids: Sequence[Any]) -> None:
    for number, client in enumerate(ids):
        try:
            hash(client)
        except TypeError:
            raise TypeMismatchError(
                "a client's id does not hash",
                expected="an id that can be a key of a dict: a number, a string, a "
                "tuple",
                found=describe(client),
                where=f"clients[{number}]",
                do="workers keep data by id: pass tuples instead of lists, a name, or "
                "a number",
            ) from None
