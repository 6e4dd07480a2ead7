# SPDX-License-Identifier: Apache-2.0
"""What is written in the drawing of a `MeanRun`, and what is said about it."""

import math
from collections.abc import Sequence

from fedlearn_edu.viz.explorers.mean_run import SCALE, MeanRun

_MOST_ROWS, _FIRST_ROWS = 8, 5
_MINUS = "\N{MINUS SIGN}"


def number(value: float) -> str:
    """A number as it is written in the drawing.

    >>> number(-1938472), number(2.50)
    ('−1,938,472', '2.5')
    """
    text = f"{value:,}" if isinstance(value, int) else f"{value + 0.0:.5g}"
    return text.replace("-", _MINUS)


def shown_rows(count: int) -> list[int | None]:
    """Which clients have a row; `None` is the row that stands for those left out.

    >>> shown_rows(3), shown_rows(100)
    ([0, 1, 2], [0, 1, 2, 3, 4, None, 98, 99])
    """
    if count <= _MOST_ROWS:
        return list(range(count))
    tail = _MOST_ROWS - _FIRST_ROWS - 1
    return [*range(_FIRST_ROWS), None, *range(count - tail, count)]


def heads(run: MeanRun) -> Sequence[str]:
    """What the columns of numbers are called."""
    return ["v", "1"] if run.weights is None else ["v × w", "w", "1"]


def holdings(run: MeanRun, client: int) -> list[str]:
    """A client and what it holds: its value, and its weight if there is one."""
    held = [f"client {client}", f"v = {number(run.values[client])}"]
    if run.weights is not None:
        held.append(f"w = {number(run.weights[client])}")
    return held


def maskings(run: MeanRun, client: int) -> list[str]:
    """In a secure sum, line by line what a client hides and the mask it adds."""
    lines = []
    for hidden, mask in zip(run.hidden[client], run.masks[client], strict=True):
        sign = _MINUS if mask < 0 else "+"
        lines.append(f"{number(hidden)} {sign} {number(abs(mask))}")
    return lines


def division(run: MeanRun) -> str:
    """The last step, as a formula with its result."""
    total, divisor = (number(each) for each in run.sums[-1][:2])
    if not run.is_secure:
        return f"mean = {total} ÷ {divisor} = {number(run.mean)}"
    by = divisor if run.weights is not None else f"({SCALE} × {divisor})"
    back = number(int(run.bound))
    return f"mean = {total} ÷ {by} {_MINUS} {back} = {number(run.mean)}"


def words(run: MeanRun) -> str:
    """What is sent, what the server makes of it, and what is special about it."""
    return " ".join([_who_sends(run), _who_divides(run), *_special(run)])


def _who_sends(run: MeanRun) -> str:
    count = len(run.values)
    who = "The one client" if count == 1 else f"Each of {count} clients"
    if not run.is_secure:
        what = "its value v and a 1"
        if run.weights is not None:
            what = "its value v times its weight w, the weight, and a 1"
        return f"{who} sends {what}."
    above = f"its value, in hundredths above {_MINUS}{number(int(run.bound))}"
    if run.weights is None:
        return f"{who} masks {above}, and sends that and a 1."
    return f"{who} masks {above}, times its weight, and its weight, and sends both."


def _who_divides(run: MeanRun) -> str:
    total, divisor = (number(each) for each in run.sums[-1][:2])
    first = f"The server adds up {total} and {divisor}, and divides"
    if run.is_secure:
        first = (
            "What it sends looks random, but all masks add up to zero: "
            f"the server finds {total} and {divisor}, and divides"
        )
    if math.isnan(run.mean):
        return f"{first}: zero by zero is no number, nan."
    return f"{first}: the mean is {number(run.mean)}."


def _special(run: MeanRun) -> list[str]:
    if run.weights is not None and not any(run.weights):
        return ["A mean over a weight of zero does not exist."]
    if run.is_secure and not math.isfinite(run.mean):
        return ["In hundredths, all weights became 0."]
    if math.isinf(run.mean):
        return ["Such a sum is beyond the largest float32."]
    if len(run.values) == 1:
        alone = "Alone, a client has nobody to share a mask with: its mask is 0."
        known = "The mean of one value is that value: the server knows it."
        return [alone, known] if run.is_secure else [known]
    if len(set(run.values)) == 1:
        return ["Of equal values the mean is that value, whatever the weights."]
    return []
