# SPDX-License-Identifier: Apache-2.0
"""The few containers and computations many tests are about, threads, a child process.

Everything here is NumPy: a test that uses it needs no TensorFlow.
"""

import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fedlearn_edu as fl
from tests.patience import PATIENCE_S

INT, FLOAT, TEXT = fl.to_type(np.int32), fl.to_type(np.float32), fl.to_type(np.str_)
INTS, FLOATS = fl.type_at_clients(np.int32), fl.type_at_clients(np.float32)
INT_AT_SERVER = fl.type_at_server(np.int32)
NUMBERS = fl.SequenceType(np.int32)
NUMBERS_AT_CLIENTS = fl.type_at_clients(NUMBERS)


class Pair(NamedTuple):
    """A namedtuple."""

    a: Any
    b: Any


class Point(NamedTuple):
    """Another one, with other names."""

    x: Any
    y: Any


@dataclass
class Data:
    """A dataclass."""

    a: Any
    b: Any


@fl.np_computation(np.int32)
def increment(x: Any) -> Any:
    return x + np.int32(1)


@fl.np_computation(np.int32, np.int32)
def add(a: Any, b: Any) -> Any:
    return a + b


@fl.np_computation
def seven() -> Any:
    return np.int32(7)


@fl.np_computation(NUMBERS)
def total(numbers: Any) -> Any:
    return np.int32(sum(numbers))


@fl.federated_computation(np.int32)
def same(x: Any) -> Any:
    return x


@fl.np_computation(np.int32)
def failing(x: Any) -> Any:
    if x == 0:
        raise KeyError("mine")
    return x


def signature(body: Callable[..., Any], *types: Any) -> str:
    """The type of the federated computation with this body, in the notation."""
    return str(fl.federated_computation(body, *types).type_signature)


def traced(body: Callable[[Any], Any], type_: Any) -> Any:
    """What `body` returns when it is traced on a stand-in for a value of `type_`."""
    results = []

    def trace(value: Any) -> Any:
        results.append(body(value))
        return value

    fl.federated_computation(trace, type_)
    return results[0]


def mapped(fn: Any) -> Any:
    """The federated computation that maps `fn` over the clients."""
    type_ = fl.type_at_clients(fn.type_signature.parameter)
    return fl.federated_computation(lambda v: fl.federated_map(fn, v), type_)


def local(*args: Any, **options: Any) -> fl.framework.SyncExecutionContext:
    """A context over local stacks that are made with these options."""
    factory = fl.framework.local_executor_factory(*args, **options)
    return fl.framework.SyncExecutionContext(factory)


def at_once(function: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    """What it returns for each value, on as many threads that begin together."""
    together = threading.Barrier(len(values), timeout=PATIENCE_S)

    def call(value: Any) -> Any:
        together.wait()
        return function(value)

    with ThreadPoolExecutor(len(values)) as pool:
        return list(pool.map(call, values))


def linted(*notebooks: Path) -> str:
    """What the linter and the formatter complain of in these notebooks."""
    config = Path(__file__).parents[1] / "pyproject.toml"
    said = ""
    for command in (["check", "--quiet"], ["format", "--check", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--config", str(config)]
        run = subprocess.run(
            [*ruff, *map(str, notebooks)], capture_output=True, text=True, check=False
        )
        said += run.stdout + run.stderr
        assert run.returncode == 0, said
    return said


def in_another_process(program: str, *arguments: str) -> str:
    """What the program prints; it must end well and say nothing on stderr."""
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return run.stdout
