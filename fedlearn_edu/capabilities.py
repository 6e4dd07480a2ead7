# SPDX-License-Identifier: Apache-2.0
"""What the Python at hand can do: in a browser it has no threads, and no TensorFlow.

`FEDLEARN_EDU_PLATFORM=emscripten` makes any Python behave as Pyodide's does, so that
ordinary tests cover what runs in a browser.
"""

import os
import sys
from importlib.util import find_spec


def is_browser() -> bool:
    """Whether this is Python in WebAssembly, as in a browser tab, or poses as it."""
    platform = os.environ.get("FEDLEARN_EDU_PLATFORM", sys.platform)
    return platform == "emscripten"


def has_tensorflow() -> bool:
    """Whether TensorFlow is installed. It is not imported to find out."""
    return not is_browser() and find_spec("tensorflow") is not None
