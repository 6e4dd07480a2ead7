# SPDX-License-Identifier: Apache-2.0
"""How much memory this process has, and had at most. Only Linux tells."""

import ctypes
import ctypes.util
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_FORGET_PEAK = "5"


def settled() -> float | None:
    """Bytes in memory once what is free has gone back; the peak begins here."""
    # Else a round could live on what an earlier one has left, and look frugal.
    library = ctypes.CDLL(ctypes.util.find_library("c"))
    if hasattr(library, "malloc_trim"):
        library.malloc_trim(0)
    try:
        _CLEAR.write_text(_FORGET_PEAK, encoding="ascii")
    except OSError:
        return None
    return status("VmRSS")


def status(field: str) -> float | None:
    """Bytes, of a line of /proc/self/status: `VmRSS` now, `VmHWM` at most."""
    if not _STATUS.exists():
        return None
    lines = _STATUS.read_text(encoding="ascii").splitlines()
    [line] = [line for line in lines if line.startswith(field)]
    return 1024.0 * int(line.split()[1])
