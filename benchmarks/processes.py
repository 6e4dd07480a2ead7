# SPDX-License-Identifier: Apache-2.0
"""What is measured once per process, or needs a fresh one."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

T = TypeVar("T")


def in_fresh_process(function: Callable[..., T], *arguments: object) -> T:
    """Runs a function of a module in a new interpreter, and returns what it does."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()
