# SPDX-License-Identifier: Apache-2.0
"""What is measured once per process, or needs a fresh one."""

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

T = TypeVar("T")


def in_fresh_process(function: Callable[..., T], *arguments: object) -> T:
    """Runs a function of a module in a new interpreter, and returns what it does."""
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=_hide_jax) as pool:
        return pool.submit(function, *arguments).result()


def _hide_jax() -> None:
    """TensorFlow imports it where it can, which costs a second and 120 MB."""
    sys.modules["jax"] = None  # type: ignore[assignment]
