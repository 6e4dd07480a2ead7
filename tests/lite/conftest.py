# SPDX-License-Identifier: Apache-2.0
"""The parts of the site, made once for all tests that need them."""

import os
from pathlib import Path
from subprocess import CalledProcessError

import pytest
from filelock import FileLock

from tests.patience import PATIENCE_S
from tools.lite.__main__ import KEPT, write
from tools.lite.kernel import kernel
from tools.lite.pyodide import LiteError
from tools.release import ROOT


@pytest.fixture(scope="session")
def loaded() -> Path:
    """All that Pyodide loads, in one folder."""
    pytest.importorskip("jupyterlite_core", reason="an extra: fedlearn_edu[lite]")
    KEPT.mkdir(parents=True, exist_ok=True)
    with FileLock(KEPT / "lock", timeout=PATIENCE_S):  # for tests side by side
        try:
            return kernel(KEPT)
        except (LiteError, CalledProcessError) as error:
            # Where tests have to be complete, all has to be there.
            (pytest.fail if os.environ.get("CI") else pytest.skip)(
                f"no Pyodide: {error}"
            )


@pytest.fixture(scope="session")
def site(loaded: Path) -> Path:
    """What `make lite` builds."""
    out = ROOT / "build" / "lite"
    write(out)
    return out
