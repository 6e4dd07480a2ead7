# SPDX-License-Identifier: Apache-2.0
"""The rows: each is one way to compute a workload, known by its name in the report.

A row brings the data into the form it likes best before the clock starts, and traces,
if it traces early.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

from benchmarks import in_numpy, in_tensorflow, library, ours
from benchmarks.models import Loop
from benchmarks.workloads import Workload

NUMPY = "NumPy by hand"
THREADS = "TensorFlow by hand, two threads"
PARALLEL = "TensorFlow by hand, parallel loop"
BATCHED = "TensorFlow by hand, batched products"
JAX = "JAX by hand"
FED_AVG = "ours: FedAvg, placed"
FED_AVG_NUMPY = f"{FED_AVG}, without TensorFlow"
TUTORIAL, OPERATORS = "tutorial", "operators"
_STEPS = "lists, step by step"


def named(form: str, data: str) -> str:
    """The name of a row of ours."""
    return f"ours: {form}, {data}"


PLACED = named(OPERATORS, "placed")
LISTS = named(OPERATORS, "lists")


def _in_jax(workload: Workload) -> Loop:
    # JAX need not be there, and fresh processes for other rows do without it.
    from benchmarks import in_jax

    return in_jax.loop(workload)


OURS: dict[str, Callable[[Workload], Loop]] = {
    named(text, data): partial(
        ours.loop, form=form, placed=data == "placed", fuse=data != _STEPS
    )
    for text, form in ((TUTORIAL, ours.AS_PUBLISHED), (OPERATORS, ours.BY_OPERATORS))
    for data in ("placed", "lists", _STEPS)
} | {FED_AVG: ours.fed_avg}

ROWS = OURS | {
    NUMPY: in_numpy.loop,
    THREADS: in_tensorflow.threads,
    PARALLEL: in_tensorflow.parallel,
    BATCHED: in_tensorflow.batched,
    JAX: _in_jax,
    FED_AVG_NUMPY: library.without_tensorflow,
}

_BY_HAND = (NUMPY, THREADS, PARALLEL, BATCHED, JAX)
_TABLES = {
    "W1": (
        *(*_BY_HAND, named(TUTORIAL, "placed"), PLACED, FED_AVG, FED_AVG_NUMPY),
        *(named(TUTORIAL, "lists"), LISTS, named(TUTORIAL, _STEPS)),
    ),
    "W2": (
        *(*_BY_HAND, named(TUTORIAL, "placed"), PLACED, FED_AVG, FED_AVG_NUMPY),
        LISTS,
    ),
}


def rows_of(name: str) -> list[str]:
    """The rows of a workload that can run here, in the order of the report."""
    return [row for row in _TABLES[name] if row != JAX or jax_is_installed()]


def jax_is_installed() -> bool:
    """Whether there are rows in JAX: the extra `benchmark` has it."""
    return find_spec("jax") is not None
