# SPDX-License-Identifier: Apache-2.0
"""Clusters for tests: one of two worker processes for a module, or one in-process."""

import faulthandler
from collections.abc import Iterator

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

from fedlearn_edu import remote

MAX_FANOUT = 2


@pytest.fixture(scope="module")
def processes() -> Iterator[remote.Cluster]:
    """Two worker processes; who kills one waits until another has taken its place."""
    with remote.local(workers=2, max_fanout=MAX_FANOUT) as cluster:
        yield cluster


@pytest.fixture
def in_process() -> Iterator[remote.Cluster]:
    """Two workers in this process, which start at once."""
    with remote.local(2, max_fanout=MAX_FANOUT, processes=False) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def watchdog(request: pytest.FixtureRequest) -> Iterator[None]:
    """Ends the run, and says where all threads are, if a test hangs."""
    uncaptured = request.config.stash[fault_handler_stderr_fd_key]
    faulthandler.dump_traceback_later(60, exit=True, file=uncaptured)
    yield
    faulthandler.cancel_dump_traceback_later()
