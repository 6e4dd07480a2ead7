# SPDX-License-Identifier: Apache-2.0
"""What needs another process: one that is fresh, or has another package.

Nothing is imported here that would load TensorFlow or `fedlearn_edu`.
"""

import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar, final

T = TypeVar("T")

_loops: list[Any] = []


@final
class Elsewhere:
    """A process of its own that keeps loops; models come and go through a pipe.

    Args:
        prepare: what it does first: a function of a module.
        arguments: of that function.
    """

    def __init__(self, prepare: Callable[..., None], *arguments: object) -> None:
        self._pool = ProcessPoolExecutor(
            1, get_context("spawn"), initializer=prepare, initargs=arguments
        )

    def __call__(self, function: Callable[..., T], *arguments: object) -> T:
        """What a function of a module returns there."""
        return self._pool.submit(function, *arguments).result()

    def loop(self, make: Callable[..., Any], *arguments: object) -> Any:
        """A loop that `make` makes, and that stays there."""
        from benchmarks.models import Loop

        number = self(_keep, make, *arguments)
        return Loop(
            lambda model, rate: self(_train, number, model, rate),
            lambda model: self(_evaluate, number, model),
        )

    def close(self) -> None:
        """Ends the process."""
        self._pool.shutdown()


def _keep(make: Callable[..., Any], *arguments: object) -> int:
    _loops.append(make(*arguments))
    return len(_loops) - 1


def _train(number: int, model: Any, rate: float) -> Any:
    return _loops[number].train(model, rate)


def _evaluate(number: int, model: Any) -> float:
    found: float = _loops[number].evaluate(model)
    return found


def in_fresh_process(function: Callable[..., T], *arguments: object) -> T:
    """Runs a function of a module in a new interpreter, and returns what it does."""
    fresh = Elsewhere(_hide_jax)
    try:
        return fresh(function, *arguments)
    finally:
        fresh.close()


def pose_as_browser() -> None:
    """The package then does without TensorFlow and without threads."""
    os.environ["FEDLEARN_EDU_PLATFORM"] = "emscripten"


def use_checkout(root: Path) -> None:
    """Takes `fedlearn_edu` from another folder; the benchmark stays this one."""
    sys.path.insert(0, str(root))


def _hide_jax() -> None:
    """TensorFlow imports it where it can, which costs a second and 120 MB."""
    sys.modules["jax"] = None  # type: ignore[assignment]
