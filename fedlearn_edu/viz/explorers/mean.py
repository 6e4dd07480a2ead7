# SPDX-License-Identifier: Apache-2.0
"""A federated mean opened up: what each client sends, and what the server computes."""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import counted, short_traceback
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.controls import (
    Control,
    limits_around,
    shown_while,
    slider,
    toggle,
)
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.mean_table import SCALE, MeanRun, mean_table, words
from fedlearn_edu.viz.explorers.tape import Aggregation, aggregations, numbers

_MOST_CLIENTS = 8
_BOUND = 10.0
_LEAST_ROOM, _LARGE = 5.0, 1e4
_MOST = 2**31 - 1


@short_traceback
def explore_mean(
    values: Sequence[float] = (1.0, 2.0, 6.0),
    weights: Sequence[float] | None = None,
    *,
    secure: bool = False,
) -> Explorer:
    """Shows a `federated_mean` step by step, with sliders for values and weights.

    Every number is that of a real run.

    >>> explorer = explore_mean([1.0, 2.0])
    >>> explorer.set(weighted=True, weight_1=3.0)
    >>> print(explorer.sentence.split(". ")[-1])
    The server adds up 7 and 4, and divides: the mean is 1.75.

    Args:
        values: The first values, one number per client, 1 to 8 of them.
        weights: The first weights, 0 or more; without them all clients are equal
            until "weighted" is ticked.
        secure: Whether it starts with secure sums: then what a client sends is hidden
            behind a random mask, and only the sum is right. Values and weights are
            rounded to hundredths for that.

    Raises:
        FigureDataError: if there are no values or more than 8, some are no finite
            numbers, or weights are negative or not as many as values.
    """
    held, weigh = _checked(values, weights)
    if len(held) > _MOST_CLIENTS:
        raise style.FigureDataError(
            "these are too many sliders",
            expected=f"1 to {_MOST_CLIENTS} values",
            found=f"{len(held)}",
            do="take fewer",
        )
    limits = _limits(held)
    heaviest = limits_around(weights_held := weigh or (1.0,) * len(held), 0.0, _BOUND)
    weight_sliders = _sliders("weight", weights_held, heaviest)
    controls = {
        "weighted": toggle("weighted", weigh is not None),
        "secure": toggle("secure sums", secure),
        **_sliders("value", held, limits),
        **weight_sliders,
    }
    is_weighted = controls["weighted"].source
    shown_while(is_weighted, weight_sliders, lambda weighted, _: weighted)
    return Explorer("A federated mean, opened up", MeanPicture(limits), controls)


@final
class MeanPicture:
    """The table of a mean; `limits` are those of the values."""

    def __init__(self, limits: tuple[float, float]) -> None:
        self.limits = limits

    def show(
        self, *, weighted: bool, secure: bool, **numbers: float
    ) -> tuple[str, str]:
        """Runs the mean; returns it as a table, and in words."""
        values, weights = (
            [number for name, number in numbers.items() if name.startswith(kind)]
            for kind in ("value_", "weight_")
        )
        run = run_mean(values, weights if weighted else None, secure=secure)
        return mean_table(run, self.limits), words(run)

    def moves_on_a_page(self, **_: Any) -> str:
        """What a page without a kernel needs besides the table: nothing."""
        return ""


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """Of the sliders, and of the line that values lie on: as much again on each side.

    >>> _limits([18.0, 21.0, 24.0]), _limits([2.0])
    ((12, 30), (-3, 7))
    """
    least, most = min(values), max(values)
    room = max(_LEAST_ROOM, most - least)
    if max(-least, most) > _LARGE:  # where 5 more would be next to nothing
        return limits_around(values, -_BOUND, _BOUND)
    return limits_around(values, math.floor(least - room), math.ceil(most + room))


def _sliders(
    name: str, numbers: Sequence[float], limits: tuple[float, float]
) -> dict[str, Control]:
    return {
        f"{name}_{i}": slider(f"client {i}, {name}", number, *limits, 0.5)
        for i, number in enumerate(numbers)
    }


def run_mean(
    values: Sequence[float], weights: Sequence[float] | None, *, secure: bool
) -> MeanRun:
    """Records a mean, and reads from the tape what was sent and added up.

    >>> run = run_mean([1.0, 2.0, 6.0], None, secure=False)
    >>> run.sent[2], run.sums[2], run.mean
    ((6.0, 1), (9.0, 3), 3.0)

    Raises:
        FigureDataError: if there are no values, or some are no finite numbers, or
            values and weights are not equally many, or a weight is negative.
    """
    held, weigh = _checked(values, weights)
    if secure:
        return _secure_run(held, weigh)
    args = (held,) if weigh is None else (held, weigh)
    mean, parts = _recorded(_mean(len(args) == 2), *map(list, args))
    return MeanRun(held, weigh, *_exchanged(parts), float(mean))


def _secure_run(
    values: tuple[float, ...], weights: tuple[float, ...] | None
) -> MeanRun:
    """A mean by secure sums, which are over whole numbers from 0 up.

    A client therefore sends its distance from `-bound` in hundredths, times its weight,
    and its weight in hundredths; the mean follows from the two sums.
    """
    bound, weigh = _bound(values), np.array(weights or (1.0,) * len(values))
    most = 2 * bound * SCALE * _bound(weights or (1.0,))
    if most * len(values) > _MOST:
        raise style.FigureDataError(
            "the sum would not fit into a whole number of 32 bits",
            expected=f"hundredths that add up to less than {_MOST:,}",
            found=f"{counted(len(values), 'client')} with up to {most:,.0f}",
            do="take smaller values or weights",
        )
    above = (np.array(values) + bound) * weigh
    parts = [above] if weights is None else [above, weigh]
    members = np.round(np.stack(parts, axis=1) * SCALE).astype(int).tolist()
    sums, found = _recorded(_secure_sums(len(parts)), members, int(most))
    origins = found[0].origins.values()
    hidden, masks = (tuple(numbers(each[i]) for each in origins) for i in (0, 1))
    total, divisor = map(np.float64, numbers(sums)[:2])
    if weights is None:
        divisor *= SCALE
    with np.errstate(all="ignore"):  # 0 / 0 is nan, as in `federated_mean`
        mean = float(total / divisor - bound)
    return MeanRun(values, weights, *_exchanged(found), mean, hidden, masks, bound)


def _recorded(program: Any, *args: Any) -> tuple[Any, list[Aggregation]]:
    """The result of a run with one server for all clients, and its aggregations."""
    with fl.record(max_fanout=len(args[0]) + 1) as tape:
        result = program(*args)
    return result, aggregations(tape)


def _exchanged(parts: Sequence[Aggregation]) -> tuple[Any, Any]:
    """For each client what it sends, and the sums the server has after that."""
    sent = ([part.sent[i] for part in parts] for i in parts[0].sent)
    sums = ([part.calls[i][1] for part in parts] for i in parts[0].sent)
    return tuple(map(numbers, sent)), tuple(map(numbers, sums))


@cache
def _mean(weighted: bool) -> Any:
    floats = fl.type_at_clients(np.float32)
    if not weighted:
        return fl.federated_computation(lambda v: fl.federated_mean(v), floats)
    return fl.federated_computation(
        lambda v, w: fl.federated_mean(v, w), floats, floats
    )


@cache
def _secure_sums(count: int) -> Any:
    """Secure sums of `count` numbers; of a single one, also the number of clients."""

    def sums(members: Any, most: Any) -> Any:
        total = fl.federated_secure_sum(members, most)
        if count > 1:
            return total
        return total, fl.federated_sum(fl.federated_value(np.int32(1), fl.CLIENTS))

    members = fl.type_at_clients((np.int32,) * count)
    return fl.federated_computation(sums, members, np.int32)


def _bound(numbers: Sequence[float]) -> float:
    """10, or the least power of ten that is large enough."""
    largest = max(map(abs, numbers))
    return _BOUND if largest <= _BOUND else float(10 ** np.ceil(np.log10(largest)))


def _checked(
    values: Any, weights: Any
) -> tuple[tuple[float, ...], tuple[float, ...] | None]:
    """The same as plain numbers, or an error that says what is wrong."""
    held = _numbers("values", values)
    if weights is None:
        return held, None
    weigh = _numbers("weights", weights)
    if len(weigh) != len(held):
        raise style.FigureDataError(
            "every value needs a weight",
            expected=f"{len(held)} weights",
            found=f"{len(weigh)}",
        )
    if min(weigh) < 0:
        raise style.FigureDataError(
            "a weight is negative", expected="0 or more", found=f"{min(weigh):g}"
        )
    return held, weigh


def _numbers(name: str, given: Any) -> tuple[float, ...]:
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    too_large = np.abs(array) > np.finfo(np.float32).max
    if array.ndim != 1 or not array.size or too_large.any() or np.isnan(array).any():
        raise style.FigureDataError(
            f"{name} are one finite float32 per client",
            expected="a list of at least one number, such as [1.0, 2.0, 6.0]",
            found=repr(given)[:60],
        )
    return tuple(array.tolist())
