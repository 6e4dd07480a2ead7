# SPDX-License-Identifier: Apache-2.0
"""A `federated_aggregate` step by step: what is accumulated, merged and reported."""

import json
from collections.abc import Sequence
from functools import cache, lru_cache
from html import escape
from itertools import product
from typing import Any, final

import ipywidgets as widgets
import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import counted, is_whole_number, short_traceback
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.aggregation_table import (
    AggregationRun,
    Server,
    Step,
    aggregation_table,
    words,
)
from fedlearn_edu.viz.explorers.controls import button, limits_around, slider, stops
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.tape import Aggregation, aggregations, numbers
from fedlearn_edu.viz.html import tag
from fedlearn_edu.viz.shortening import written

_ONE_TO_FIVE = (1, 2, 3, 4, 5)
_MOST_CLIENTS = 12
_LARGEST = 1e9
_MOST_ZERO = 5
_STEP_MS = 900
_COMPARED, _ZEROS = (2, 3, 4), (0, 1)


@short_traceback
def explore_aggregation(
    values: Sequence[float] = _ONE_TO_FIVE,
    *,
    zero: float = 0,
    fan_out: int | None = None,
) -> Explorer:
    """Shows how a `federated_aggregate` adds up these values, step by step.

    Every number is that of a real run. `accumulate` and `merge` both add, `report`
    changes nothing. A `zero` other than 0 counts once for each group of clients.

    >>> explorer = explore_aggregation([1, 2, 3], fan_out=2)
    >>> explorer.set(step=4)
    >>> print(explorer.sentence)
    Step 4 of 5: 3 and 3, of two groups, are merged: 6.

    Args:
        values: One number per client, at most 12.
        zero: Where every fold begins, at first.
        fan_out: `max_fanout` of the stack, at first: from this many clients on they are
            put into groups, and the groups into groups; `None` is a single group.

    Raises:
        FigureDataError: if there are no values or too many, a number is not finite or
            above a billion, or the fan-out is below 2.
    """
    held, start, most = _checked(values, zero, fan_out)
    alone = len(held) + 1  # the least fan-out that puts all clients into one group
    sizes = {f"{n}": n for n in range(2, alone)} | {"one group": alone}
    chosen = alone if most is None else min(most, alone)
    last = run_aggregation(held, start, chosen).last
    limits = limits_around([start], -_MOST_ZERO, _MOST_ZERO)
    controls = {
        "zero": slider("zero", start, *limits, 1),
        "fan_out": stops("fan-out", chosen, sizes),
        "step": slider("step", last, 0, last),
    }
    play = widgets.Play(value=last, min=0, max=last, interval=_STEP_MS)
    widgets.link((play, "value"), (controls["step"].source, "value"))
    steps = (*controls["step"].box.children, play)

    def fit_steps(change: Any) -> None:
        was_at_end = steps[0].value == steps[0].max
        last = run_aggregation(held, 0, change.new).last
        for each in steps:
            each.max = last
        if was_at_end:
            steps[0].value = last

    controls["fan_out"].source.observe(fit_steps, "value")
    preset = button("zero = 1, fan-out 2", "1 + … + 5 is 16, 17 or 18, not 15")
    picture = AggregationPicture(held)
    title = "A federated_aggregate, step by step"
    explorer = Explorer(title, picture, controls, extras=[play, preset])
    preset.on_click(lambda _: explorer.set(zero=1, fan_out=2))
    return explorer


@lru_cache(maxsize=256)
def run_aggregation(
    values: tuple[float, ...], zero: float, fan_out: int | None
) -> AggregationRun:
    """Records a `federated_aggregate`, and reads the steps off the tape.

    >>> [run_aggregation((1, 2, 3, 4, 5), 1, n).result for n in (None, 3, 2)]
    [16, 17, 18]
    """
    whole = all(isinstance(each, int) for each in (*values, zero))
    program = _program(np.int64 if whole else np.float64)
    with fl.record(max_fanout=fan_out or len(values) + 1) as tape:
        (result,) = numbers(program(list(values), zero))
    (top,) = aggregations(tape)
    servers, steps = list[Server](), list[Step]()
    _read(top, servers, steps)
    return AggregationRun(values, zero, tuple(servers), tuple(steps), result)


@cache
def _program(dtype: Any) -> Any:
    """`accumulate` = `merge` = `+`, from a `zero` given with the values."""
    add = fl.np_computation(lambda a, b: a + b, dtype, dtype)
    same = fl.np_computation(lambda a: a, dtype)
    return fl.federated_computation(
        lambda v, zero: fl.federated_aggregate(v, zero, add, add, same),
        fl.type_at_clients(dtype),
        dtype,
    )


def _read(part: Aggregation, servers: list[Server], steps: list[Step]) -> Server:
    """A server and what it did, after all servers below it."""
    below = tuple(_read(each, servers, steps) for each in part.below)
    clients = [i for server in below for i in server.clients] or list(part.sent)
    server = Server(range(clients[0], clients[-1] + 1), below)
    servers.append(server)
    for client, (argument, result) in zip(clients, part.calls[:-1], strict=False):
        state, other, after = *numbers(argument), *numbers(result)
        steps.append(Step(server, state, other, after, None if below else client))
    return server


@final
class AggregationPicture:
    """The table of aggregations of the same `values`."""

    def __init__(self, values: tuple[float, ...]) -> None:
        self.values = values

    def show(self, *, zero: float, fan_out: int | None, step: int) -> tuple[str, str]:
        """The run up to this step, and the step in words."""
        run, others = run_aggregation(self.values, zero, fan_out), {}
        if (step := min(step, run.last)) == run.last:
            fan_outs = (None, *(n for n in _COMPARED if n <= len(self.values)))
            runs = {n: run_aggregation(self.values, zero, n) for n in fan_outs}
            others = {n: each.result for n, each in runs.items()}
        return aggregation_table(run, step), words(run, step, others)

    def moves_on_a_page(self, *, zero: float, fan_out: int, step: int) -> str:
        """The table of each zero and fan-out, that of now first, and all its sentences.

        A page without a kernel chooses among them.
        """
        alone = len(self.values) + 1
        few = [size for size in (*_COMPARED, alone) if size <= alone]
        fan_outs = dict.fromkeys([fan_out, *few])
        zeros = dict.fromkeys([zero, *_ZEROS])
        return "".join(self._on_a_page(*each) for each in product(zeros, fan_outs))

    def _on_a_page(self, zero: float, fan_out: int) -> str:
        steps = range(run_aggregation(self.values, zero, fan_out).last + 1)
        states = [self.show(zero=zero, fan_out=fan_out, step=step) for step in steps]
        tables, said = zip(*states, strict=True)
        return tag(
            "template",
            tables[-1],
            data_zero=written(zero),
            data_fan_out=str(fan_out) if fan_out <= len(self.values) else "one group",
            data_said=escape(json.dumps(said)),
        )


def _checked(
    values: Any, zero: Any, fan_out: Any
) -> tuple[tuple[float, ...], float, int | None]:
    """The same as plain numbers, or an error that says what is wrong."""
    given = list(values) if isinstance(values, list | tuple | np.ndarray) else []
    if not 1 <= len(given) <= _MOST_CLIENTS:
        raise style.FigureDataError(
            "an aggregation is drawn over a few clients",
            expected=f"a list of 1 to {_MOST_CLIENTS} numbers",
            found=counted(len(given), "value") if given else repr(values)[:60],
            do="take fewer: the table has a row for each",
        )
    if fan_out is not None and not (is_whole_number(fan_out) and fan_out >= 2):
        raise style.FigureDataError(
            "a group of one is no group",
            expected="a fan-out of 2 or more, or None for a single group",
            found=repr(fan_out),
        )
    most = None if fan_out is None else int(fan_out)
    return tuple(map(_number, given)), _number(zero), most


def _number(given: Any) -> float:
    is_number = isinstance(given, int | float | np.integer | np.floating)
    if not is_number or isinstance(given, bool) or not abs(given) <= _LARGEST:
        raise style.FigureDataError(
            "this is no number that can be added up here",
            expected=f"a finite number up to {_LARGEST:,.0f}",
            found=repr(given)[:60],
        )
    return int(given) if float(given).is_integer() else float(given)
