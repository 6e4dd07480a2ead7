# SPDX-License-Identifier: Apache-2.0
"""Who gets in: those who have the certificate of a cluster, from this machine."""

import copy
import ipaddress
import os
import socket
from contextlib import suppress
from pathlib import Path

import dask
import distributed
import psutil
import pytest
from distributed.security import Security

from fedlearn_edu import remote


def _inodes() -> set[str]:
    """The sockets of this process and of those that it started."""
    me, found = psutil.Process(), set()
    for process in [me, *me.children(recursive=True)]:
        for file in Path(f"/proc/{process.pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                link = os.readlink(file)
                if link.startswith("socket:["):
                    found.add(link[8:-1])
    return found


def _listening() -> set[tuple[str, int]]:
    """Where they listen: addresses and ports, as the kernel says."""
    ours, found = _inodes(), set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == "0A" and inode in ours:
                host, port = local.split(":")
                words = [host[i : i + 8] for i in range(0, len(host), 8)]
                packed = b"".join(bytes.fromhex(word)[::-1] for word in words)
                found.add((str(ipaddress.ip_address(packed)), int(port, 16)))
    return found


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux")
@pytest.mark.parametrize("dashboard", [False, True])
@pytest.mark.parametrize("in_processes", [False, True])
def test_nothing_listens_off_loopback(*, dashboard: bool, in_processes: bool) -> None:
    before = _listening()
    with remote.local(2, processes=in_processes, dashboard=dashboard) as cluster:
        new = _listening() - before
        assert len(new) >= 3
        assert {host for host, _ in new} == {"127.0.0.1"}
        assert cluster.address.startswith("tls://127.0.0.1:")
        assert all(i.address.startswith("tls://127.0.0.1:") for i in cluster.workers())
        link = str(cluster.dashboard_link)
        assert link.startswith("http://127.0.0.1:") is dashboard
    assert _listening() == before


def test_strangers_are_refused(in_process: remote.Cluster) -> None:
    address = in_process.address
    plain = address.replace("tls://", "tcp://")
    for asked, security in [
        (address, None),
        (address, Security.temporary()),
        (plain, None),
    ]:
        with pytest.raises(
            remote.ClusterError, match=r"cannot be|wants cert"
        ) as caught:
            remote.connect(asked, security=security, timeout=1)
        assert asked in str(caught.value)
    ours = in_process._dispatcher._client.security
    with remote.connect(address, security=ours) as cluster:
        assert len(cluster.workers()) == 2


@pytest.mark.parametrize(
    "address", ["tcp://192.0.2.1:8786", "192.0.2.1:8786", "ws://[2001:db8::1]:8786"]
)
def test_open_address_elsewhere_is_refused_before_anything_is_sent(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket.socket, "connect", _no_connection)
    monkeypatch.setattr(distributed.Client, "__init__", _no_connection)
    with pytest.raises(remote.ClusterError, match="no encryption") as caught:
        remote.connect(address)
    assert address in str(caught.value)


def _no_connection(*_: object, **__: object) -> None:
    raise AssertionError("something was sent")


def test_process_is_as_before() -> None:
    config, environ = copy.deepcopy(dask.config.config), dict(os.environ)
    with remote.local(1):
        assert dask.config.config == config
        assert dict(os.environ) == environ
        with pytest.raises(ValueError, match="No clients"):
            distributed.default_client()
    assert dask.config.config == config
    assert dict(os.environ) == environ
