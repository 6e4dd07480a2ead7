# SPDX-License-Identifier: Apache-2.0
"""The parts of the site, made once for all tests that need them."""

import os
from pathlib import Path

import pytest
from filelock import FileLock

from tests.browser.conftest import ROOT
from tests.patience import PATIENCE_S
from tools.lite.__main__ import write
from tools.lite.kernel import kernel
from tools.lite.pyodide import SETTING, LiteError, pinned

KEPT = ROOT / "build" / "lite-parts"


@pytest.fixture(scope="session")
def loaded() -> Path:
    """All that Pyodide loads, in one folder."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with FileLock(KEPT / "lock", timeout=PATIENCE_S):  # for tests side by side
        try:
            return kernel(ROOT, pinned(), os.environ.get(SETTING, ""), KEPT)
        except (LiteError, OSError) as error:
            # Where tests have to be complete, all has to be there.
            (pytest.fail if os.environ.get("CI") else pytest.skip)(
                f"no Pyodide: {error}"
            )


@pytest.fixture(scope="session")
def site(loaded: Path) -> Path:
    """What `make lite` builds."""
    out = ROOT / "build" / "lite"
    write(ROOT, out)
    return out
