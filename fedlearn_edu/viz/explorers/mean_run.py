# SPDX-License-Identifier: Apache-2.0
"""What happens in a mean, taken from a run: what is sent, added up, and divided.

The plain mean is `federated_mean`. The secure one is written here as anyone would write
it: secure sums are over whole numbers from 0 up, hence each client first says how far
its value is above `-bound`, in hundredths; the server turns that back after the sum.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.capture import Call, Left, Seen, numbers, watch

SCALE = 100
"""Secure sums see hundredths."""

BOUND = 10.0
_FLOAT = fl.type_at_clients(np.float32)
_MOST = 2**31 - 1


@final
@dataclass(frozen=True)
class MeanRun:
    """One mean, step by step; client by client in their order.

    Attributes:
        values: what each client holds.
        weights: what each of them counts; `None` where all count the same.
        sent: the numbers each client sends.
        hidden: for secure sums what each client had before masking; otherwise nothing.
        masks: for secure sums what was added to that; otherwise nothing.
        sums: the server's running sums, after each client.
        mean: the result, `nan` over a weight of zero.
        bound: for secure sums, values lie between `-bound` and `bound`.
    """

    values: tuple[float, ...]
    weights: tuple[float, ...] | None
    sent: tuple[tuple[Any, ...], ...]
    hidden: tuple[tuple[int, ...], ...]
    masks: tuple[tuple[int, ...], ...]
    sums: tuple[tuple[Any, ...], ...]
    mean: float
    bound: float = BOUND

    @property
    def is_secure(self) -> bool:
        """Whether what is sent is masked."""
        return bool(self.masks)


def run_mean(
    values: Sequence[float], weights: Sequence[float] | None, *, secure: bool
) -> MeanRun:
    """Runs a mean on a stack of one server and `len(values)` clients.

    >>> run = run_mean([1.0, 2.0, 6.0], None, secure=False)
    >>> run.sent[2], run.sums[2], run.mean
    ((6.0, 1), (9.0, 3), 3.0)

    Raises:
        FigureDataError: if there are no values, or some are no finite numbers, or
            values and weights are not equally many, or a weight is negative.
    """
    held, weigh = check_values(values, weights)
    if secure:
        return _secure_run(held, weigh)
    args = (held,) if weigh is None else (held, weigh)
    mean, seen = watch(_plain(weigh is not None), *map(list, args))
    return _read(held, weigh, float(mean), seen)


def check_values(
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


def _secure_run(
    values: tuple[float, ...], weights: tuple[float, ...] | None
) -> MeanRun:
    bound = _bound(values)
    weigh = (1.0,) * len(values) if weights is None else weights
    most = 2 * bound * SCALE * _bound(weigh)
    if most * len(values) > _MOST:
        raise style.FigureDataError(
            "the sum would not fit into a whole number of 32 bits",
            expected=f"hundredths that add up to less than {_MOST:,}",
            found=f"{len(values)} clients with up to {most:,.0f}",
            do="take smaller values or weights",
        )
    program = _secure(weights is not None, bound, int(most))
    args = (values,) if weights is None else (values, weigh)
    mean, seen = watch(program, *map(list, args))
    run = _read(values, weights, float(mean), seen)
    hidden, masks = zip(*(_masking(seen, i) for i in range(len(values))), strict=True)
    return replace(run, hidden=hidden, masks=masks, bound=bound)


def _bound(numbers_: Sequence[float]) -> float:
    """10, or the power of ten that is large enough."""
    largest = max(map(abs, numbers_))
    return BOUND if largest <= BOUND else float(10 ** np.ceil(np.log10(largest)))


def _masking(seen: list[Seen], client: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What a client had before it added its mask, and the mask."""
    who = f"client {client}"
    calls = [each for each in seen if isinstance(each, Call) and each.who == who]
    before, mask = calls[-1].argument
    return numbers(before), numbers(mask)


def _read(
    values: tuple[float, ...],
    weights: tuple[float, ...] | None,
    mean: float,
    seen: list[Seen],
) -> MeanRun:
    """Picks what the picture shows from all that was seen."""
    count = len(values)
    sent = tuple(
        numbers(tuple(e.value for e in seen if isinstance(e, Left) and e.who == who))
        for who in (f"client {i}" for i in range(count))
    )
    server = [e.result for e in seen if isinstance(e, Call) and e.who == "server"]
    # Of every sum the server calls `accumulate` once for each client, then `report`.
    folds = sum(isinstance(e, Left) and e.who == "client 0" for e in seen)
    starts = [(count + 1) * fold for fold in range(folds)]
    sums = tuple(numbers(tuple(server[s + i] for s in starts)) for i in range(count))
    return MeanRun(values, weights, sent, (), (), sums, mean)


@cache
def _plain(weighted: bool) -> Any:
    if weighted:
        return fl.federated_computation(
            lambda v, w: fl.federated_mean(v, w), _FLOAT, _FLOAT
        )
    return fl.federated_computation(lambda v: fl.federated_mean(v), _FLOAT)


@cache
def _secure(weighted: bool, bound: float, most: int) -> Any:
    """A mean by secure sums, of values between `-bound` and `bound`."""

    @fl.np_computation(np.float64)
    def whole(value: Any) -> Any:
        return np.int32(np.round((value + bound) * SCALE))

    @fl.np_computation(np.float64, np.float64)
    def whole_pair(value: Any, weight: Any) -> Any:
        product = np.int32(np.round((value + bound) * weight * SCALE))
        return product, np.int32(np.round(weight * SCALE))

    @fl.np_computation(np.int32, np.int32)
    def mean_of(total: Any, count: Any) -> Any:
        return np.float64(total / (SCALE * count) - bound)

    @fl.np_computation(np.int32, np.int32)
    def weighted_mean_of(total: Any, weight: Any) -> Any:
        with np.errstate(all="ignore"):  # 0 / 0 is nan, as in `federated_mean`
            return np.float64(total) / np.float64(weight) - bound

    exact = fl.type_at_clients(np.float64)

    def mean(values: Any) -> Any:
        total = fl.federated_secure_sum(fl.federated_map(whole, values), most)
        count = fl.federated_sum(fl.federated_value(np.int32(1), fl.CLIENTS))
        return fl.federated_map(mean_of, [total, count])

    def weighted_mean(values: Any, weights: Any) -> Any:
        pairs = fl.federated_map(whole_pair, [values, weights])
        return fl.federated_map(weighted_mean_of, fl.federated_secure_sum(pairs, most))

    if weighted:
        return fl.federated_computation(weighted_mean, exact, exact)
    return fl.federated_computation(mean, exact)
