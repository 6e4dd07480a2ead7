# SPDX-License-Identifier: Apache-2.0
"""The same program, with its clients in other processes: on a Dask cluster.

The extra `remote` of the package installs what it needs.
"""

from importlib.util import find_spec
from typing import Any

from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.former_names import unknown
from fedlearn_edu.remote import messages

if is_browser():
    raise messages.no_processes()
_lacking = [
    each
    for each in ("distributed", "cloudpickle", "cryptography")
    if not find_spec(each)
]
if _lacking:
    raise messages.not_installed(_lacking)

from fedlearn_edu.remote.cluster import Cluster  # noqa: E402
from fedlearn_edu.remote.messages import ClusterError  # noqa: E402
from fedlearn_edu.remote.records import Message, Round, Traffic, WorkerInfo  # noqa: E402
from fedlearn_edu.remote.start import connect, local  # noqa: E402

__all__ = [
    "Cluster",
    "ClusterError",
    "Message",
    "Round",
    "Traffic",
    "WorkerInfo",
    "connect",
    "local",
]


@short_traceback
def __getattr__(name: str) -> Any:
    raise unknown("fedlearn_edu.remote", name, __all__)
