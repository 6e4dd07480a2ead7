# SPDX-License-Identifier: Apache-2.0
"""What is measured once per process, or needs a fresh one."""

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

T = TypeVar("T")


def in_fresh_process(function: Callable[..., T], *arguments: object) -> T:
    """Runs a function of a module in a new interpreter, and returns what it does."""
    return _after(_hide_jax, function, arguments)


def on_one_core(function: Callable[..., T], *arguments: object) -> T:
    """The same in an interpreter that has one core, where the system can do that."""
    return _after(_keep_to_one_core, function, arguments)


def _after(
    prepare: Callable[[], None], function: Callable[..., T], arguments: Sequence[object]
) -> T:
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=prepare) as pool:
        return pool.submit(function, *arguments).result()


def pose_as_browser() -> None:
    """The package then does without TensorFlow and without threads."""
    os.environ["FEDLEARN_EDU_PLATFORM"] = "emscripten"


def _hide_jax() -> None:
    """TensorFlow imports it where it can, which costs a second and 120 MB."""
    sys.modules["jax"] = None  # type: ignore[assignment]


def _keep_to_one_core() -> None:
    # Threads inherit it: those of TensorFlow do not exist yet.
    _hide_jax()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
