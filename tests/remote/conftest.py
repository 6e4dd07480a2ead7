# SPDX-License-Identifier: Apache-2.0
"""Clusters for tests: one of two worker processes for a module, or one in-process."""

import faulthandler
from collections.abc import Iterator

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

from fedlearn_edu import remote
from tests.patience import PATIENCE_S

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
    is_thorough = request.node.get_closest_marker("thorough") is not None
    seconds = PATIENCE_S if is_thorough else PATIENCE_S / 4
    faulthandler.dump_traceback_later(seconds, exit=True, file=uncaptured)
    yield
    faulthandler.cancel_dump_traceback_later()
