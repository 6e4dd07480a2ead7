# SPDX-License-Identifier: Apache-2.0
"""Functions have other fingerprints if they do something else, and the same if not."""

import dataclasses
import functools
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.learning.fingerprint import fingerprint
from fedlearn_edu.learning.schedules import describe_rate
from tests.architecture.repository import ROOT


class Instance:
    def __init__(self, rate: float) -> None:
        self._rate = rate

    def __call__(self, number: Any) -> Any:
        return self._rate / (number + 1)

    def method(self, number: Any) -> Any:
        return self._rate * number


class Slotted:
    __slots__ = ("rate",)

    def __init__(self, rate: float) -> None:
        self.rate = rate


class Heir(Slotted):
    __slots__ = ()


@dataclasses.dataclass(frozen=True)
class Record:
    rates: Any

    def __call__(self, number: Any) -> Any:
        return self.rates[number]


def captured(rate: Any) -> Any:
    return lambda number: rate * (lambda: number + 1)()


def written(source: str, **names: Any) -> Any:
    """The function of a module with these globals."""
    exec(source, names)
    return names["f"]


def long_array(rate: float) -> Any:
    """`repr` shows the first and the last numbers, and of these eight digits."""
    return np.r_[np.zeros(1000), rate, np.zeros(1000)]


def settings(rate: float) -> ModuleType:
    made = ModuleType("mine")
    made.__file__ = "settings.py"
    made.__dict__.update(RATE=rate, unread=object())
    return made


def wrapped(rate: float) -> Any:
    return functools.lru_cache(captured(rate))


CLASS = "__name__ = '__main__'\nclass C: rate = RATE\ndef f(n): return C.rate"
CIRCLE = "def f(n): return g(n)\ndef g(n): return f(n) if n else RATE"
ATTRIBUTE, MODULE = "def f(n): return a.rate", "def f(n): return m.RATE"
NESTED = "def f(n): return [(lambda: RATE * k)() for k in n]"
MAKERS: dict[str, Callable[[Any], Any]] = {
    "a constant": lambda rate: written(f"def f(n): return {rate!r} / n"),
    "a captured number": captured,
    "a captured array": lambda rate: captured(long_array(rate)),
    "captured in a dict": lambda rate: captured({"rates": [(rate, {"a", "b"})]}),
    "a default": lambda rate: written("def f(n, r=R): return r", R=rate),
    "a keyword's default": lambda rate: written("def f(n, *, r=R): return r", R=rate),
    "a global": lambda rate: written("def f(n): return RATE", RATE=rate),
    "a global in a lambda": lambda rate: written(NESTED, RATE=rate),
    "a global of a global": lambda rate: written(CIRCLE, RATE=rate),
    "an attribute": lambda rate: written(ATTRIBUTE, a=Namespace(rate=rate)),
    "an attribute of a class": lambda rate: written(CLASS, RATE=rate),
    "a name of a module": lambda rate: written(MODULE, m=settings(rate)),
    "a slot": lambda rate: captured(Slotted(rate)),
    "a slot of a base": lambda rate: captured(Heir(rate)),
    "an instance": Instance,
    "a method": lambda rate: Instance(rate).method,
    "a record": lambda rate: Record(long_array(rate)),
    "a partial": lambda rate: functools.partial(pow, rate),
    "a cache": wrapped,
    "vectorized": lambda rate: np.vectorize(captured(rate)),
}  # fmt: skip


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_what_a_function_reads_is_in_its_fingerprint(make: Any) -> None:
    found = [describe_rate(make(rate)) for rate in (0.1, 0.1, 0.1 + 1e-15, 0.2)]
    assert found[0] == found[1]
    assert len(set(found)) == 3


@pytest.mark.tensorflow
def test_schedules_constants_and_functions_of_tensorflow_are_read() -> None:
    schedules: Any = fl.tf.keras.optimizers.schedules
    makers: list[Callable[[float], Any]] = [
        lambda rate: schedules.ExponentialDecay(rate, 10, 0.9),
        lambda rate: captured(fl.tf.constant(rate, fl.tf.float64)),
        lambda rate: fl.tf.function(captured(rate)),
    ]
    for make in makers:
        found = [fingerprint(make(rate)) for rate in (0.1, 0.1, 0.1 + 1e-15)]
        assert found[0] == found[1] != found[2]


PROGRAM = """
from fedlearn_edu.learning.fingerprint import fingerprint
names = {"ann", "bob", "eve"}
class Rate:
    def __call__(self, n): return 0.1 if n in {"x", "y", "z"} else len(names)
print(fingerprint(Rate()), fingerprint([fingerprint]))
"""


@pytest.mark.slow
def test_the_next_program_finds_the_same(tmp_path: Path) -> None:
    """Though sets have another order there, and objects other addresses."""
    file = tmp_path / "program.py"
    found = set()
    for seed, blank in (("1", ""), ("2", "\n\n")):
        file.write_text(blank + PROGRAM)
        done = subprocess.run(
            [sys.executable, str(file)],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(done.stdout)
    assert len(found) == 1
