# SPDX-License-Identifier: Apache-2.0
"""The same program, with its clients in other processes: on a Dask cluster.

The extra `remote` of the package installs what it needs.
"""

from importlib.util import find_spec

from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.former_names import answering
from fedlearn_edu.remote.errors import ClusterError, NotInstalledError

if is_browser():
    raise NotInstalledError(
        "fedlearn_edu.remote needs other processes, and connections to them",
        expected="Python on a computer",
        found="Python in a browser, which has neither",
        do="run it here with local_executor_factory(), or work on your own computer",
    )
_lacking = [
    each
    for each in ("distributed", "cloudpickle", "cryptography")
    if not find_spec(each)
]
if _lacking:
    raise NotInstalledError(
        "fedlearn_edu.remote needs packages that are not installed",
        expected="distributed (Dask), cloudpickle, cryptography",
        found=f"no {', no '.join(_lacking)}",
        do="pip install distributed cloudpickle cryptography",
    )

from fedlearn_edu.remote.cluster import Cluster  # noqa: E402
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

__getattr__ = answering("fedlearn_edu.remote", __all__)
