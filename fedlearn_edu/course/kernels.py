# SPDX-License-Identifier: Apache-2.0
"""Which Python a notebook starts: it should be the one this package is installed in."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

KERNEL = "python3"
"""What the lessons ask for; every Jupyter has a kernel of this name."""

_ANY_PYTHON = {"python", "python3", f"python3.{sys.version_info.minor}"}


def kernel_trouble() -> tuple[str, str] | None:
    """Why a notebook would not start this Python, and what to do; `None` if it does."""
    install = f"{sys.executable} -m pip install ipykernel"
    for module in ("ipykernel", "jupyter_client"):
        if find_spec(module) is None:
            return "notebooks cannot start this Python: no ipykernel", install
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        spec = KernelSpecManager().get_kernel_spec(KERNEL)
    except NoSuchKernel:
        do = f"{sys.executable} -m ipykernel install --sys-prefix"
        return f"there is no kernel called {KERNEL}", do
    command = str(spec.argv[0]) if spec.argv else ""
    if _is_this_python(command):
        return None
    do = f"jupyter kernelspec remove {KERNEL} (it is in {spec.resource_dir})"
    return f"notebooks start another Python: {command or 'none'}", do


def _is_this_python(command: str) -> bool:
    """Links are not followed: environments link to the same Python."""
    if command in _ANY_PYTHON:  # Jupyter puts its own Python in its place
        return True
    ours = Path(os.path.abspath(sys.executable))
    theirs = Path(os.path.abspath(command))
    is_same = os.path.realpath(ours) == os.path.realpath(theirs)
    return is_same and ours.parent == theirs.parent
