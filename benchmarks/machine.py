# SPDX-License-Identifier: Apache-2.0
"""The machine, as far as numbers depend on it."""

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rows import jax_is_installed
from fedlearn_edu import tf


def describe_machine() -> dict[str, Any]:
    """Processor, cores, memory, system, libraries, and how busy it is."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return {
        "processor": models[0] if models else platform.processor() or "unknown",
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": round(load, 2),
        "python": platform.python_version(),
        "tensorflow": tf.__version__,
        "numpy": np.__version__,
        "jax": version("jax") if jax_is_installed() else None,
    }


def _memory_gb() -> int | None:
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9)
    except (AttributeError, ValueError):  # not a Unix
        return None
