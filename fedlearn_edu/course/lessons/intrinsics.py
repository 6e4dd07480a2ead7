# SPDX-License-Identifier: Apache-2.0
"""Lesson 04: intrinsics, what they expand to, and one of your own."""

from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu import viz
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import MACHINE, Case, Exercise, Lesson, Sign
from fedlearn_edu.course.mistakes import looks, raises, returns, typed, usual
from fedlearn_edu.framework import SyncExecutionContext, derived, local_executor_factory

AT_CLIENTS: Final = fl.type_at_clients(np.float32)
_PAIRS: Final = "<degrees={float32}@CLIENTS,counts={float32}@CLIENTS>"


def _weighted_from_sums() -> Any:
    @fl.federated_computation(AT_CLIENTS, AT_CLIENTS)
    def weighted_from_sums(degrees: Any, counts: Any) -> Any:
        return fl.federated_sum(degrees * counts) / fl.federated_sum(counts)

    return weighted_from_sums


def _asks_for_a_mean(answer: Any) -> bool:
    text = answer.to_text()
    return "federated_mean" in text or "federated_weighted_mean" in text


WEIGHTED_FROM_SUMS = Exercise(
    name="weighted_from_sums",
    title="a weighted mean from sums",
    points=10,
    want=wants.computation(f"({_PAIRS} -> float32@SERVER)"),
    reference=_weighted_from_sums,
    cases=(
        Case("two clients", ([10.0, 20.0], [3.0, 4.0])),
        Case("a client with weight 0", ([4.0, 7.0, 99.0], [2.0, 4.0, 0.0])),
        Case("one client", ([-6.5], [3.0])),
        Case("is written without federated_mean", do=_asks_for_a_mean),
    ),
    mistakes=usual(
        "you averaged without the weights",
        lambda d, w: np.mean(d),
        "you divided by the number of clients, not by the sum of the weights",
        lambda d, w: np.dot(d, w) / len(d),
        lambda d, w: np.dot(d, w) / 3,
        "this is the weighted total: divide it by the sum of the weights",
        np.dot,
        "you added up the values without their weights",
        lambda d, w: np.sum(d) / np.sum(w),
        lambda d, w: np.sum(d),
        "you divided by the sum of the values, not by the sum of the weights",
        lambda d, w: np.dot(d, w) / np.sum(d),
        "the fraction is upside down: divide by the sum of the weights",
        lambda d, w: np.sum(w) / np.dot(d, w),
        "you divided a value by its weight: multiply them",
        lambda d, w: np.sum(np.divide(d, w)),
        "each client multiplies value and weight; here they are added",
        lambda d, w: np.sum(np.add(d, w)) / np.sum(w),
        lambda d, w: np.sum(np.add(d, w)),
        "one side is at the server, the other still at the clients: add that up, too",
        raises("several placements"),
        "the result is still at the clients: add up with `federated_sum` first",
        typed(f"({_PAIRS} -> {{float32}}@CLIENTS)"),
        "this uses `federated_mean`, which you are to rebuild: use `federated_sum`",
        looks(_asks_for_a_mean),
    ),
    hints=(
        "The server needs two sums and divides one by the other. What does each client "
        "have to send?",
        "Look at the cell before this exercise: `degrees * counts` multiplies at each "
        "client. The formula above says what is added up.",
        "One sum in each place:\n"
        "    total = fl.federated_sum(...)\n"
        "    return total / fl.federated_sum(...)",
        "What is it divided by?\n"
        "    total = fl.federated_sum(degrees * counts)\n"
        "    return total / fl.federated_sum(...)",
    ),
)


def _distance_to_mean() -> Any:
    # Not of the learner's name: a second definition would replace the first one.
    @derived("({T}@CLIENTS -> {T}@CLIENTS)")
    def distance_to_the_mean(value: Any) -> Any:
        return value - fl.federated_broadcast(fl.federated_mean(value))

    return distance_to_the_mean


def _run(word: Any, values: Sequence[float]) -> Any:
    return fl.federated_computation(word, AT_CLIENTS)(values)


def _is_a_word(word: Any) -> bool:
    traced = fl.federated_computation(word, AT_CLIENTS)
    return f"{word.__name__}(" in traced.to_text()


DISTANCE_TO_MEAN = Exercise(
    name="distance_to_mean",
    title="the distance to the mean",
    points=10,
    want=wants.function(1),
    reference=_distance_to_mean,
    cases=(
        Case("three clients", ([1.0, 2.0, 6.0],), _run),
        Case("numbers below zero", ([-4.0, 0.0, 1.0, -1.0],), _run),
        Case("one client", ([21.5],), _run),
        Case("is an intrinsic", do=_is_a_word),
    ),
    mistakes=usual(
        "the sign is the wrong way round: a value above the mean is positive",
        lambda values: np.mean(values) - values,
        "leave the sign: a value below the mean has a negative distance",
        lambda values: np.abs(values - np.mean(values)),
        raises(r"abs\(\)"),
        "this is the mean itself: subtract it from each value",
        lambda values: np.full(len(values), np.mean(values)),
        "you subtracted the sum, not the mean",
        lambda values: values - np.sum(values),
        "you divided by the mean: the distance is a difference",
        lambda values: values / np.mean(values),
        lambda values: (values - np.mean(values)) / np.mean(values),
        "this is the square of the distance",
        lambda values: (values - np.mean(values)) ** 2,
        "a number of the lesson, 23 or 3, is in it: take the mean of `value`",
        lambda values: values - np.float32(23),
        lambda values: values - np.sum(values) / 3,
        "the mean is at the server: bring it to the clients, `federated_broadcast`",
        raises("several placements"),
        "this is the distance to the midpoint: use the mean",
        lambda values: values - (np.max(values) + np.min(values)) / 2,
        "nothing came back: is there a `return`?",
        raises("ReturnedNone"),
        "only a value at the server can be broadcast: take the mean first",
        raises("federated_broadcast works"),
        "the type promises one value for each client, but your intrinsic returns one "
        "value for all: does each client subtract?",
        raises("signature promises|not iterable"),
    ),
    hints=(
        "There are three steps: the mean goes to the server, then back to the clients, "
        "and each client subtracts it.",
        "The cell before this exercise sends a mean to all clients; lines such as "
        "`degrees * counts` calculate at each client.",
        "One line for the mean, one for the difference:\n"
        "    mean = fl.federated_mean(...)\n"
        "    return ... - fl.federated_broadcast(...)",
        "What lies above the mean?\n"
        '    @framework.derived("({T}@CLIENTS -> {T}@CLIENTS)")\n'
        "    def distance_to_mean(value):\n"
        "        mean = fl.federated_mean(value)\n"
        "        return ... - fl.federated_broadcast(mean)",
    ),
)


TO_ONE: Final = "({float32}@CLIENTS -> float32@SERVER)"
Readings = Sequence[float]


@cache
def _pairs() -> SyncExecutionContext:
    return SyncExecutionContext(local_executor_factory(max_fanout=2))


def in_pairs(answer: Any, readings: Readings) -> Any:
    """Runs it with clients in groups of two: now `merge` is needed."""
    with _pairs():
        return answer(readings)


def halves(readings: Readings) -> tuple[Readings, Readings]:
    """The two groups of two; no other case needs a `merge`."""
    assert len(readings) == 4
    return readings[:2], readings[2:]


def _span_of() -> Any:
    pair = fl.parse_type("<high=float32,low=float32>")

    @fl.np_computation(pair, np.float32)
    def widen(seen: Any, reading: Any) -> Any:
        return {"high": max(seen["high"], reading), "low": min(seen["low"], reading)}

    @fl.np_computation(pair, pair)
    def join(one: Any, other: Any) -> Any:
        return {
            "high": max(one["high"], other["high"]),
            "low": min(one["low"], other["low"]),
        }

    difference = fl.np_computation(lambda seen: seen["high"] - seen["low"], pair)
    return fl.federated_computation(
        lambda readings: fl.federated_aggregate(
            readings, (-np.inf, np.inf), widen, join, difference
        ),
        AT_CLIENTS,
    )


def _span(readings: Readings) -> float:
    return max(readings) - min(readings)


def of_groups(wrong: Callable[[Readings, Readings], float]) -> Callable[..., float]:
    """What a wrong merge makes of the first group and the last."""
    return lambda readings: wrong(*halves(readings))


def _only_in_pairs(right: Callable[[Readings], Any]) -> Sign:
    """All clients in one group give what is right, and two groups of two do not."""
    fours = [12.0, 14.0, 3.0, 30.0], [30.0, 3.0, 18.0, 20.0]
    return looks(
        lambda answer: any(answer(x) == right(x) != in_pairs(answer, x) for x in fours)
    )


_BY_NAME: Final = raises(
    r"found: +(KeyError: \d|AttributeError: .*Dict|NameError: name '(n'|sum|high|low))"
)


SPAN_OF = Exercise(
    name="span_of",
    title="from the coldest to the warmest client",
    points=10,
    want=wants.computation(TO_ONE),
    reference=_span_of,
    cases=(
        Case("three clients", ([-3.0, 6.0, 1.0],)),
        Case("all above zero", ([15.0, 24.0, 18.0],)),
        Case("all below zero", ([-2.0, -8.0],)),
        Case("one client", ([21.5],)),
        Case("in pairs, four clients", ([18.0, 20.0, 27.0, 24.0],), in_pairs),
        Case("in pairs, the extremes first", ([3.0, 30.0, 12.0, 14.0],), in_pairs),
        Case("in pairs, the extremes last", ([12.0, 14.0, 3.0, 30.0],), in_pairs),
        Case(
            "no clients (without its sign)",
            ([],),
            lambda answer, nobody: abs(answer(nobody)),
        ),
    ),
    mistakes=usual(
        "your zero is not neutral: 0 is higher or lower than some readings",
        lambda r: _span([*r, 0.0]),
        "this is the highest reading alone",
        max,
        "`join` returns low and high in the other order: name them, as `widen` does",
        lambda r: len(r) == 4 and -_span(r),
        "you subtracted the high from the low",
        lambda r: -_span(r),
        "this is the sum of both: subtract",
        lambda r: max(r) + min(r),
        "this is half of the difference",
        lambda r: _span(r) / 2,
        "only one of your two is right: high begins at `-np.inf`, low at `np.inf`",
        looks(lambda answer: np.isnan(answer([])) and np.isinf(answer([1.0]))),
        "high and low in your zero are swapped: no reading is higher than infinity",
        lambda r: np.inf,
        "`join` keeps its first pair; the extremes may be in both",
        of_groups(lambda a, b: _span(a)),
        "`difference` should return one number, not a dictionary: high minus low",
        looks(lambda answer: "<" in str(answer.type_signature.result)),
        'a pair has names: `seen["high"]`',
        _BY_NAME,
        "two pairs have no order: compare field by field",
        raises("not supported between"),
        "a `dict` is only for leaf code: `nothing_seen` is a tuple, (high, low)",
        raises("found: +a dict"),
        "`nothing_seen` is a high and a low, in parentheses: (…, …)",
        raises(r"found: +a (set|NoneType)|(?s:'zero'.*found: +(float|int)32\b)"),
        "your zero is not neutral: a reading could lie beyond it",
        looks(lambda answer: not np.isneginf(answer([]))),
        "one group alone is right, so look at `join`: it takes the higher of the two "
        "highs, and the lower of the two lows",
        _only_in_pairs(_span),
    ),
    hints=(
        "Start with a high that is lower than every reading, so that the first reading "
        "replaces it. For the low it is the other way round.",
        "Look at `widen`: `join` does the same with a pair instead of a reading. And "
        "infinity is `np.inf`.",
        "One line each:\n"
        "    nothing_seen = (..., ...)\n"
        "    # in join\n"
        '    return {"high": max(...), "low": min(...)}\n'
        "    # in difference\n"
        "    return ... - ...",
        "The lows are merged like the highs:\n"
        "    nothing_seen = (-np.inf, np.inf)\n"
        "    # in join\n"
        '    high = max(one["high"], other["high"])\n'
        '    return {"high": high, "low": ...}\n'
        "    # in difference\n"
        '    return seen["high"] - seen["low"]',
    ),
    reward=lambda answer: viz.draw_graph(answer),
)


def _variance_of() -> Any:
    three = fl.parse_type("<n=float32,sum=float32,sum_of_squares=float32>")

    @fl.np_computation(three, np.float32)
    def note(sums: Any, x: Any) -> Any:
        return {
            "n": sums["n"] + 1,
            "sum": sums["sum"] + x,
            "sum_of_squares": sums["sum_of_squares"] + x * x,
        }

    @fl.np_computation(three, three)
    def both(one: Any, other: Any) -> Any:
        return {name: one[name] + other[name] for name in one}

    @fl.np_computation(three)
    def spread(sums: Any) -> Any:
        mean = sums["sum"] / sums["n"]
        return sums["sum_of_squares"] / sums["n"] - mean * mean

    return fl.federated_computation(
        lambda x: fl.federated_aggregate(x, (0.0, 0.0, 0.0), note, both, spread),
        AT_CLIENTS,
    )


def _from_sums(wrong: Callable[[float, float, float], float]) -> Callable[..., float]:
    return lambda x: wrong(len(x), np.sum(x), np.dot(x, x))


def _variance(n: float, total: float, squares: float) -> float:
    return squares / n - (total / n) ** 2


VARIANCE_OF = Exercise(
    name="variance_of",
    title="the variance, from three sums",
    points=15,
    want=wants.computation(TO_ONE),
    reference=_variance_of,
    cases=(
        Case("three clients", ([2.0, 3.0, 10.0],)),
        Case("numbers below zero", ([-4.0, 4.0, -3.0, 1.0, 2.0],)),
        Case("one client", ([3.0],)),
        Case("in pairs, four clients", ([-9.0, 1.0, 2.0, 4.0],), in_pairs),
        Case("in pairs, and one alone", ([2.0, 6.0, 10.0, 4.0, 8.0],), in_pairs),
    ),
    mistakes=usual(
        "this is the mean of the squares: subtract the square of the mean",
        _from_sums(lambda n, s, q: q / n),
        "this is the square root of the variance, the standard deviation",
        np.std,
        "this is the mean; the variance says how much readings differ from it",
        np.mean,
        "you divided by n − 1; divide by n, because these are all the clients",
        _from_sums(lambda n, s, q: (q - s * s / n) / max(n - 1, 1)),
        "the two terms are the wrong way round",
        lambda x: -np.var(x),
        "this divides by 1: `note` adds 1 to `n`, and `spread` divides by `n`",
        _from_sums(lambda n, s, q: q - s**2),
        "you subtracted the square of the sum, not the square of the mean",
        _from_sums(lambda n, s, q: q / n - s**2),
        "you subtracted the mean, not its square",
        _from_sums(lambda n, s, q: q / n - s / n),
        _from_sums(lambda n, s, q: q / n - 2 * s / n),
        "the third number of `note` is the sum of squares so far, plus x · x",
        _from_sums(lambda n, s, q: s / n - (s / n) ** 2),
        _from_sums(lambda n, s, q: 2 * s / n - (s / n) ** 2),
        lambda x: _variance(
            len(x), np.sum(x), reduce(lambda q, v: q * q + v * v, x, 0)
        ),
        lambda x: np.sum(x) ** 2 / len(x) - np.mean(x) ** 2,
        lambda x: _variance(len(x), np.sum(x), np.sum(x[:-1]) + x[-1] ** 2),
        lambda x: _variance(len(x), np.sum(x), x[-1] ** 2),
        '`note` adds to the sums so far and keeps their types: `sums["n"] + 1`',
        raises(r"found: .*-> <n=int32,sum=float32,sum_of_squares=float32>"),
        lambda x: 0.0 * x[-1],
        "this is n times the variance: divide by n at the end",
        lambda x: np.var(x) * len(x),
        "you squared the sum and then divided by n; divide first",
        _from_sums(lambda n, s, q: q / n - s**2 / n),
        "minus the square of the mean, not plus",
        _from_sums(lambda n, s, q: q / n + (s / n) ** 2),
        "`both` keeps one group and ignores the other",
        of_groups(lambda a, b: float(np.var(a))),
        of_groups(lambda a, b: float(np.var(b))),
        "`note` has to add 1 to `n`, which counts the clients",
        returns(lambda got, *_: not np.isfinite(got)),
        _from_sums(lambda n, s, q: q / s - 1),
        _from_sums(lambda n, s, q: _variance(2 * n, s, q)),
        "return a dictionary with the three names, in `note` and in `both`",
        raises("(?s)expected: .*<float32,float32,float32>"),
        "`spread` gets three sums, no readings: use the formula",
        raises("OrderedDict' and 'int'"),
        "all three fields keep their names: `n`, `sum` and `sum_of_squares`",
        raises("KeyError: '"),
        raises(r"(?s)wrong type.*found: .*-> (?!<n=\w+,sum=\w+,sum_of_squares=)"),
        "x to the power of 2 is `x ** 2`; `^` compares bits",
        raises("bitwise_xor"),
        'the sums have names: `sums["n"]`',
        _BY_NAME,
        "dictionaries cannot be added up: add field by field",
        raises("OrderedDict' and 'collections.OrderedDict"),
        "the mean is sum / n: put it in parentheses, and square all of it",
        _from_sums(lambda n, s, q: q / n - s / n**2),
        "one group alone is right, so look at `both`: it adds field to "
        "field, also `n`, and does nothing else",
        _only_in_pairs(np.var),
    ),
    hints=(
        "Which numbers does the formula need at the end? Start with the report, "
        "`spread`, and then ask how each of its numbers grows.",
        "Look at the formula above: it has n, Σx and Σx². A reading x adds 1, x and "
        "x · x to them; and two groups are merged by adding field by field.",
        "Three functions, one or two lines each:\n"
        "    # in note\n"
        '    return {"n": sums["n"] + 1, "sum": ..., "sum_of_squares": ...}\n'
        "    # in both\n"
        "    return {name: ... for name in one}\n"
        "    # in spread\n"
        '    return sums["sum_of_squares"] / sums["n"] - ...',
        "The mean is sum / n. What is subtracted?\n"
        "    # in note\n"
        '    squares = sums["sum_of_squares"] + x * x\n'
        '    total = sums["sum"] + x\n'
        '    return {"n": sums["n"] + 1, "sum": total, "sum_of_squares": squares}\n'
        "    # in both\n"
        "    return {name: one[name] + other[name] for name in one}\n"
        "    # in spread\n"
        '    return sums["sum_of_squares"] / sums["n"] - ...',
    ),
    reward=lambda answer: (
        f"The readings 20, 20, 20 have variance {answer([20.0] * 3):.1f}; "
        f"10, 20, 30 have {answer([10.0, 20.0, 30.0]):.1f}."
    ),
)


LESSON: Final = Lesson(
    name="04_intrinsics",
    title="What does a mean expand to?",
    minutes=65,
    goals=(
        "expand a mean into the steps that are really run",
        "write an aggregation that gives the same result however clients are grouped",
        "add an operator of your own to the language",
    ),
    needs="lessons 1 to 3",
    exercises=(WEIGHTED_FROM_SUMS, SPAN_OF, VARIANCE_OF, DISTANCE_TO_MEAN),
    path=MACHINE,
    outcomes={"weight-zero": "as if that client were absent", "safe-zero": "0"},
)
