# SPDX-License-Identifier: Apache-2.0
"""Which rows are compared on which workload, and which one the ratios refer to."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import final

from benchmarks import in_graphs, in_loops, in_numpy, library, ours
from benchmarks.models import Loop
from benchmarks.workloads import Source, Workload


@final
@dataclass(frozen=True)
class Row:
    """One way to compute a workload.

    Attributes:
        name: how the report calls it.
        make: brings the data into the form it likes best; traces, if it traces early.
    """

    name: str
    make: Callable[[Workload], Loop]


@final
@dataclass(frozen=True)
class Table:
    """The rows of one workload.

    Attributes:
        name: `"W1"` and so on.
        workload: what all of them compute.
        reference: the key of the row that the others are divided by.
        rows: the keys in `ROWS`, in the order of the report.
        evaluates: whether evaluations are timed too.
        row_s: see `Sizes`.
    """

    name: str
    workload: Workload
    reference: str
    rows: tuple[str, ...]
    row_s: float
    evaluates: bool = True


NUMPY, LOOP, THREADS, GRAPH, BATCHED = "numpy", "loop", "threads", "graph", "batched"
FED_AVG, JAX, ONE_GROUP = "fed_avg", "jax", "one group"
FED_AVG_NUMPY = "fed_avg, numpy"
_LARGE_FANOUT = 1000


def _in_jax(workload: Workload) -> Loop:
    # JAX need not be there, and fresh processes for other rows do without it.
    from benchmarks import in_jax

    return in_jax.loop(workload)


_BY_HAND = {
    NUMPY: Row("NumPy by hand", in_numpy.loop),
    LOOP: Row(
        "TensorFlow by hand, one call per client", partial(in_loops.loop, threads=1)
    ),
    THREADS: Row("TensorFlow by hand, two threads", partial(in_loops.loop, threads=2)),
    GRAPH: Row("TensorFlow by hand, one graph, parallel loop", in_graphs.parallel),
    BATCHED: Row("TensorFlow by hand, one graph, batched products", in_graphs.batched),
    JAX: Row("JAX by hand", _in_jax),
}

_FORMS = {
    "tutorial": "the tutorial as published",
    "operators": "sequence operators",
    "map, reduce": "`dataset.map`, then `reduce`",
    "reduce": "one `Dataset.reduce`",
}


def ours_key(form: str, *, placed: bool = False, fuse: bool = True) -> str:
    """The key in `ROWS` of a form of ours."""
    steps = "" if fuse else ", step by step"
    return f"{form}, {'placed' if placed else 'lists'}{steps}"


def _ours() -> dict[str, Row]:
    rows = {}
    for form, text in _FORMS.items():
        for placed in (False, True):
            for fuse in (False, True):
                key = ours_key(form, placed=placed, fuse=fuse)
                name = f"ours, {text}{key.removeprefix(form)}"
                make = partial(ours.loop, form=form, placed=placed, fuse=fuse)
                rows[key] = Row(name, make)
    one = partial(
        ours.loop, form="operators", placed=True, fuse=True, max_fanout=_LARGE_FANOUT
    )
    rows[ONE_GROUP] = Row(
        f"ours, sequence operators, placed, max_fanout={_LARGE_FANOUT}", one
    )
    rows[FED_AVG] = Row("ours, FedAvg of the library, placed", ours.fed_avg)
    rows[FED_AVG_NUMPY] = Row(
        "ours, FedAvg of the library, placed, without TensorFlow",
        library.without_tensorflow,
    )
    return rows


ROWS = {**_BY_HAND, **_ours()}

ALL_LISTS = tuple(ours_key(form) for form in _FORMS)
ALL_PLACED = tuple(ours_key(form, placed=True) for form in _FORMS)
_UNFUSED = ours_key("operators", fuse=False)


def jax_is_installed() -> bool:
    """Whether there are rows in JAX: the extra `benchmark` has it."""
    return find_spec("jax") is not None


def tables(name: str, source: Source) -> list[Table]:
    """The tables that are measured together, so that all their rows take turns."""
    by_hand = [key for key in _BY_HAND if key != JAX or jax_is_installed()]
    row_s = source.sizes.row_s
    operators, placed = ours_key("operators"), ours_key("operators", placed=True)
    match name:
        case "W1":
            unfused = (
                ours_key("tutorial", fuse=False),
                _UNFUSED,
                ours_key("operators", placed=True, fuse=False),
            )
            rows = (*by_hand, *ALL_PLACED, FED_AVG, FED_AVG_NUMPY, *ALL_LISTS, *unfused)
            return [Table("W1", source.w1(), THREADS, rows, row_s)]
        case "W2":
            few = source.w2(source.sizes.w2_few)
            others = [key for key in ALL_PLACED if key != placed]
            rows = (*by_hand, placed, ONE_GROUP, *others, operators)
            few_rows = (NUMPY, THREADS, GRAPH, placed, FED_AVG, FED_AVG_NUMPY, _UNFUSED)
            ragged_rows = (NUMPY, THREADS, placed, operators)
            return [
                Table("W2", source.w2(), GRAPH, rows, row_s),
                Table("W2, fewer clients", few, GRAPH, few_rows, row_s),
                Table("W2, unequal", source.w2_ragged(), THREADS, ragged_rows, row_s),
            ]
        case _:
            rows = (THREADS, GRAPH, placed, operators)
            # A round takes seconds, and what is compared differs by little.
            return [Table("W3", source.w3(), THREADS, rows, 3 * row_s, evaluates=False)]
