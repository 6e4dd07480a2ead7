# SPDX-License-Identifier: Apache-2.0
"""Lesson 13: clients in other processes, what travels, and what a dead worker takes."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import MACHINE, Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import NO_RETURN, looks, raises, returns, usual

Summary = dict[str, Any]
Days = Sequence[Sequence[float]]


def _same_bits(one: Summary, other: Summary) -> bool:
    return all(one[name].tobytes() == other[name].tobytes() for name in one)


def _summary(mean: Any, variance: Any) -> Summary:
    arrays = [np.array(each, np.float32) for each in (mean, variance)]
    return OrderedDict(zip(("mean", "variance"), arrays, strict=True))


def _one_bit_apart() -> tuple[Summary, Summary]:
    one, other = (_summary(np.full(1440, 21.0), np.zeros(1440)) for _ in range(2))
    other["mean"][400] = np.nextafter(np.float32(21), np.float32(22))
    return one, other


_NUMBERS: Final = ([18.5, -1.0], [0.25])
_ONE: Final = _summary(*_NUMBERS)
_NEARLY: Final = _summary([18.500002, -1.0], [0.25])
_SEVERAL: Final = Iterator | list | np.ndarray
_NEARBY: Final = (_summary(*_NUMBERS), _NEARLY)


SAME_BITS = Exercise(
    name="same_bits",
    title="the same, bit for bit",
    points=5,
    want=wants.function(2),
    reference=lambda: _same_bits,
    cases=(
        Case("the same numbers", (_ONE, _summary(*_NUMBERS))),
        Case("another mean", (_ONE, _summary([18.5, 1.0], [0.25]))),
        Case("another variance", (_ONE, _summary([18.5, -1.0], [0.5]))),
        Case("1,440 minutes, one of which differs in its last bit", _one_bit_apart),
        Case("0 and -0: equal, with other bits", (_summary(0, 1), _summary(-0.0, 1))),
        Case("mean and variance exchanged", (_summary(1, 2), _summary(2, 1))),
        Case("1,440 minutes, all of them the same", lambda: (_one_bit_apart()[0],) * 2),
        Case("one result, compared with itself", (_ONE, _ONE)),
        Case("a variance of zero, twice", (_summary(3, 0), _summary(3, 0))),
        Case("`nan`, with the same bits", (_summary(np.nan, 1), _summary(np.nan, 1))),
    ),
    mistakes=usual(
        "equal numbers may differ in bits: 0 equals -0, and `nan` does not even equal "
        "itself; compare what `tobytes` gives",
        lambda one, other: all(np.array_equal(one[n], other[n]) for n in one),
        "a large array, when printed, leaves most numbers out: compare bytes",
        looks(lambda same: same(*_one_bit_apart()) and not same(_ONE, _NEARLY)),
        "`allclose` lets small differences pass: compare all bits, with `tobytes`",
        lambda one, other: all(np.allclose(one[n], other[n]) for n in one),
        "this says yes even if all numbers differ: compare the bytes themselves",
        looks(lambda same: str(same(_ONE, _summary([2.0, 3.0], [4.0]))) == "True"),
        "here any array may be any other: compare those of one name",
        lambda one, other: (
            {a.tobytes() for a in one.values()} == {a.tobytes() for a in other.values()}
        ),
        "the variance is left out: compare all arrays, and `return True` only "
        "after the loop, if there is one",
        lambda one, other: one["mean"].tobytes() == other["mean"].tobytes(),
        "one equal array is not enough: *all* have to be equal",
        lambda one, other: one["variance"].tobytes() == other["variance"].tobytes(),
        lambda one, other: any(one[n].tobytes() == other[n].tobytes() for n in one),
        "this finds no two results the same: compare `one[name].tobytes()`, with the "
        "parentheses, with `other[name].tobytes()`",
        looks(lambda same: [same(_ONE, each) for each in _NEARBY] == [False] * 2),
        "a result is a dictionary of arrays: compare `one[name].tobytes()` with "
        "`other[name].tobytes()`, for each name",
        raises("'tobytes'|'str' object|OrderedDict"),
        "`==` compares arrays number by number, and gives an array: compare what "
        "`tobytes` gives, name by name",
        raises("ambiguous"),
        "`all(…)` makes one answer of those for single arrays",
        returns(lambda got, *_: isinstance(got, _SEVERAL) or type(got) is int),
    ),
    hints=(
        "Two results are the same if all their arrays are. Which arrays are there?",
        "The exercise names `array.tobytes()`, and bytes can be compared with `==`. A "
        "result is a dictionary: going through it gives the names of its arrays.",
        "One comparison for each name:\n    return all(... == ... for name in one)",
        "With what are these bits compared?\n"
        "    return all(one[name].tobytes() == ... for name in one)",
    ),
)


def _bytes_of_round(homes: int, max_fanout: int, day_bytes: int) -> int:
    return 3 * math.ceil(homes / max_fanout) * day_bytes


def _without_groups(count: Callable[[int, int, int], int]) -> str:
    """What groups save, by this way of counting."""
    alone, grouped = (count(1000, most, 5_760) / 1e6 for most in (1, 100))
    return (
        "A round of 1,000 homes with messages for each: "
        f"{alone:.1f} MB. In groups of 100: {grouped:.2f} MB."
    )


BYTES_OF_ROUND = Exercise(
    name="bytes_of_round",
    title="the bytes of a round",
    points=10,
    want=wants.function(3),
    reference=lambda: _bytes_of_round,
    cases=(
        Case("twenty-one homes in groups of five, and a last one", (21, 5, 5_760)),
        Case("seventeen in groups of seven, the last of three", (17, 7, 5_760)),
        Case("a group of one", (1, 100, 8)),
        Case("a thousand homes in ten groups", (1000, 100, 5_760)),
    ),
    mistakes=usual(
        "this counts a message for each home: a message is for a whole group",
        lambda homes, most, size: 3 * homes * size,
        lambda homes, most, size: 2 * homes * size,
        lambda homes, most, size: homes * size,
        "the mean comes down once for each group, not for each home or once for all",
        lambda homes, most, size: (homes + 2 * math.ceil(homes / most)) * size,
        lambda homes, most, size: (1 + 2 * math.ceil(homes / most)) * size,
        "up, too, a message is for a whole group: its homes are added up at the worker",
        lambda homes, most, size: (2 * homes + math.ceil(homes / most)) * size,
        "a sum goes up, the mean comes down, and another sum goes up: that is one more",
        lambda homes, most, size: 2 * math.ceil(homes / most) * size,
        "this counts a single curve for each group: what else does `summary` send?",
        lambda homes, most, size: math.ceil(homes / most) * size,
        "down and up are counted already: there are three curves in all",
        lambda homes, most, size: 6 * math.ceil(homes / most) * size,
        "the variance stays at the server: it does not come down again",
        lambda homes, most, size: 4 * math.ceil(homes / most) * size,
        "round up, with `math.ceil`: homes that are left over are one group, and where "
        "none are left over, there is no other group",
        lambda homes, most, size: 3 * (homes // most) * size,
        lambda homes, most, size: 3 * round(homes / most) * size,
        lambda homes, most, size: 3 * (homes // most + 1) * size,
        lambda homes, most, size: 3 * (homes // most + homes % most) * size,
        raises("'ceil'|ArrayType"),
        "there are no parts of groups: round up before you multiply",
        lambda homes, most, size: 3 * (homes / most) * size,
        lambda homes, most, size: math.ceil(3 * homes / most) * size,
        "this is the number of homes in a group; how many groups are there?",
        lambda homes, most, size: 3 * most * size,
        "these are not all the groups: there are `homes / max_fanout`, rounded up",
        lambda homes, most, size: 3 * size,
        lambda homes, most, size: 6 * size,
        "this counts curves; how many bytes are in each?",
        lambda homes, most, size: 3 * math.ceil(homes / most),
        "how large a curve is, is given: `day_bytes`",
        lambda homes, most, size: 3 * math.ceil(homes / most) * 1440,
        lambda homes, most, size: 3 * math.ceil(homes / most) * 4 * 1440,
        raises("DAY_BYTES"),
        "`day_bytes` are bytes already: 4 for each of 1,440 numbers",
        lambda homes, most, size: 12 * math.ceil(homes / most) * size,
        lambda homes, most, size: 3 * math.ceil(homes / most) * size * 1440,
        "the answer is in bytes",
        lambda homes, most, size: 3 * math.ceil(homes / most) * size / 1000,
        "how many curves are there for a group? See what goes up, and what comes down",
        returns(
            lambda got, homes, most, size: got % (math.ceil(homes / most) * size) == 0
        ),
    ),
    hints=(
        "How many groups are there? And what travels for each of them?",
        "Follow `summary` line by line: the mean needs a curve from each group, "
        "`federated_broadcast` brings one down, and the variance needs one more.",
        "First the groups, then the bytes:\n"
        "    groups = math.ceil(... / ...)\n"
        "    return groups * ... * day_bytes",
        "How many curves travel for each group?\n"
        "    groups = math.ceil(homes / max_fanout)\n"
        "    return groups * ... * day_bytes",
    ),
    reward=_without_groups,
)


_DEGREES: Final = (18.0, 21.0, 19.0, 24.0, 23.0)
_SAME, _OTHER = "the same readings", "other readings"
_LITTLE: Final = 50_000


def _load(home: int) -> Any:
    chance = np.random.default_rng(home)
    return np.float32(chance.normal(_DEGREES[home % 5], 0.5, (30, 1440)))


def _days(load: Callable[[int], Any], home: int) -> set[bytes]:
    return {row.tobytes() for row in np.asarray(load(home))}


def _held(load: Callable[[int], Any], home: int) -> Any:
    days = np.asarray(load(home))
    return OrderedDict(
        shape=days.shape,
        degrees=round(float(days.mean())),
        different_days=len(_days(load, home)),
    )


def _once_more(load: Callable[[int], Any], home: int) -> str:
    """What a worker that comes later finds."""
    first = np.array(load(home))
    load(home + 1)
    time.sleep(0 if load is _load else 1.05)  # for a clock of whole seconds
    return _SAME if np.array_equal(load(home), first) else _OTHER


def _last_day_begins(load: Callable[[int], Any], home: int) -> float:
    """It shows the seed, and in which order days are drawn."""
    return float(np.asarray(load(home))[-1, 0])


def _compared(load: Callable[[int], Any], one: int, other: int) -> str:
    return f"{len(_days(load, one) & _days(load, other))} days in common"


def _shared_generator(load: Callable[[int], Any], home: int) -> str:
    before = str(np.random.get_state())
    load(home)
    return "as before" if str(np.random.get_state()) == before else "moved on"


def _taken_along(load: Callable[[int], Any]) -> str:
    """What travels with a loader."""
    size = len(fl.remote.pickling.value_part(load))
    return "little" if size < _LITTLE else f"{size / 1e6:.1f} MB"


def _holds(like: Callable[..., Any]) -> Any:
    return returns(lambda got, *homes: isinstance(got, dict) and like(got, *homes))


LOAD = Exercise(
    name="load",
    title="a loader",
    points=10,
    want=wants.function(1),
    reference=lambda: _load,
    cases=(
        Case("home 3: 30 days at 24 degrees", (3,), do=_held),
        Case("home 27 is at 19 degrees, as home 2", (27,), do=_held),
        Case("a second later, it loads the same", (4,), do=_once_more),
        Case("little travels with it", do=_taken_along),
        Case("leaves NumPy's shared generator alone", (3,), do=_shared_generator),
        Case("homes 3 and 8 hold different readings", (3, 8), do=_compared),
        Case("another worker finds the same: seed 7", (7,), do=_last_day_begins),
    ),
    mistakes=usual(
        *NO_RETURN,
        "another process, or seed, gives other days: draw all 30, one after the other, "
        "from `np.random.default_rng(home)`",
        returns(lambda got, *_: isinstance(got, float)),
        "a second later there are other readings, and another worker would go on with "
        "other data: no clock, and no generator without a seed; the seed is the "
        "home's number",
        returns(lambda got, *homes: len(homes) == 1 and got == _OTHER),
        "homes 3 and 8 hold the same readings: the seed is the number of the home",
        returns(lambda got, *_: got == "30 days in common"),
        "homes 3 and 8 have days in common: one generator makes all 30 days of a home",
        returns(lambda got, *_: got != "0 days in common" and str(got).endswith("mon")),
        "`np.random.seed` sets the generator that all code shares: make your own",
        returns(lambda got, *_: got == "moved on"),
        "there are five kinds of homes: home 27 is at `readings[27 % 5]` degrees",
        raises("index out of range"),
        "this is a single day: make 30, and put them below one another with `np.stack`",
        _holds(lambda got, home: got["shape"] == (1440,)),
        "the days are one long row: `np.stack` puts them below one another",
        _holds(lambda got, home: got["shape"] == (30 * 1440,)),
        "the days stand side by side: `np.stack`, without an axis, puts them below one "
        "another",
        _holds(lambda got, home: got["shape"] == (1440, 30)),
        "these are months of all five homes: `load` makes that of one",
        _holds(lambda got, home: got["shape"] in ((5, 30, 1440), (150, 1440))),
        "a month has 30 days of 1,440 readings",
        _holds(lambda got, home: got["shape"] != (30, 1440)),
        "these are the degrees of another home: take `readings[home % 5]`",
        _holds(lambda got, home: got["degrees"] != _DEGREES[home % 5]),
        "all 30 days are the same: draw each of them, and all from one generator",
        _holds(lambda got, home: got["different_days"] == 1),
        "`a_day` makes one day of a number of degrees and a generator, which is "
        "`np.random.default_rng(home)`",
        raises(r"'normal'|unsupported operand|a_day\(\)"),
        "`readings` are the degrees of all five: take `readings[home % 5]`",
        raises("broadcast together"),
        "`months` of the notebook travels with it: draw the readings inside of `load`",
        returns(lambda got, *_: str(got).endswith("MB")),
    ),
    hints=(
        "A generator first, its seed the same for a home each time; then 30 days.",
        "`months`, above, is made of five months. Yours is made of one, and its "
        "generator begins with the home's number.",
        "One line for each step:\n"
        "    chance = np.random.default_rng(...)\n"
        "    return np.stack([a_day(..., chance) for _ in range(...)])",
        "At how many degrees is this home?\n"
        "    chance = np.random.default_rng(home)\n"
        "    return np.stack([a_day(readings[...], chance) for _ in range(30)])",
    ),
    limit_s=60.0,
)


def _moved(guess: Any, reading: Any) -> Any:
    """One degree towards the reading, unless it is there."""
    return guess + np.sign(reading - guess)


def _guess_after() -> Any:
    step = fl.np_computation(_moved, np.float32, np.float32)

    def next_guess(guess: Any, readings: Any) -> Any:
        sent = fl.federated_broadcast(guess)
        return fl.federated_mean(fl.federated_map(step, (sent, readings)))

    types = fl.type_at_server(np.float32), fl.type_at_clients(np.float32)
    process = fl.federated_computation(next_guess, *types)
    return lambda days: reduce(process, days, np.float32(20))


def _guess(
    days: Days, move: Any = _moved, together: Any = np.mean, guess: float = 20.0
) -> float:
    """The same by hand."""
    for readings in days:
        guess = float(together(move(guess, np.array(readings))))
    return guess


_STATE: Final = "float32@SERVER"
_DAYS: Final = [[20, 20.5, 20.5], [21, 24], [22.5, 17, 22.5, 26], [27, 17, 27]]


def _round_of(guess_after: Any) -> Any:
    """The round that an answer repeats."""
    return guess_after.__globals__["next_guess"]


GUESS_AFTER = Exercise(
    name="guess_after",
    title="state over rounds",
    points=15,
    want=wants.function(1),
    reference=_guess_after,
    cases=(
        Case("four days", (_DAYS,)),
        Case("one day", ([[18, 21, 19, 24, 500]],)),
        Case("no days", ([],)),
        Case("a home that joins", ([[21.5], [21.5, 24.0], [21.5, 24.0]],)),
    ),
    mistakes=usual(
        "`next_guess` returns one number, at the server: map `one_step` on the pairs, "
        "and take the mean of what comes back",
        looks(lambda answer: str(_round_of(answer).type_signature.result) != _STATE),
        "this adds the homes' guesses up: take their mean",
        lambda days: _guess(days, together=np.sum),
        "`one_step` gives the new guess, not the step: its mean is the next guess",
        lambda days: _guess(days, move=lambda g, readings: g + _moved(g, readings)),
        "`one_step` works at each home, before the mean, not on the mean of readings",
        lambda days: _guess(
            days, move=lambda g, readings: _moved(g, np.mean(readings))
        ),
        "`one_step` comes once in each round, and `next_guess` once for each day",
        lambda days: _guess(days, move=lambda g, x: _moved(_moved(g, x), x)),
        lambda days: _guess([*days, days[-1]]),
        lambda days: _guess([days[0], *days]),
        "the guesses of the homes become their mean, not the median or an extreme",
        lambda days: _guess(days, together=np.max),
        lambda days: _guess(days, together=np.min),
        lambda days: _guess(days, together=np.median),
        "this is made of readings alone: each home moves the guess, with `one_step`",
        lambda days: float(np.mean(days[-1])),
        lambda days: float(np.median(days[-1])),
        "these are the `readings` of the notebook: pass on those of the day",
        lambda days: _guess([_DEGREES] * len(days)),
        "the days go backwards: begin with the first",
        lambda days: _guess(days[::-1]),
        "the first day was left out: `initialize()` is the state before it",
        lambda days: _guess(days[1:]),
        "return the guess as it is, neither rounded nor cut off",
        lambda days: round(_guess(days)),
        lambda days: int(_guess(days)),
        lambda days: _guess(days, together=lambda moved: int(np.mean(moved))),
        "this moves the readings: `one_step` takes the guess first, then the reading",
        lambda days: _guess(days, move=lambda guess, reading: _moved(reading, guess)),
        "only the last day is in this: `next_guess` has to move the guess of the day "
        "before, which it is passed",
        lambda days: _guess(days[-1:]),
        "the first guess is what `initialize()` gives, before the loop",
        lambda days: _guess(days, guess=0.0),
        raises("UnboundLocalError|name 'guess' is not defined"),
        "`next_guess` changes nothing: it returns the next state, which has to be kept",
        lambda days: 20.0,
        "this is the guess after the first day: `return` belongs after the loop",
        lambda days: _guess(days[:1]),
        "the last day was left out",
        lambda days: _guess(days[:-1]),
        "these are the guesses of all days: return the last one",
        returns(lambda got, _: isinstance(got, list | tuple)),
        "`next_guess` takes a state, and then the readings of one day",
        raises(r"argument\.readings|fields|next_guess was called with"),
        "`federated_zip` and `federated_map` take several values as one list, `[…, …]`",
        raises("federated_(zip|map) was called with"),
        "`initialize()`, with parentheses and nothing in them, is the first state",
        raises("found: +<computation|takes no argument"),
        "the state comes first, then the readings",
        raises(r"found: +float32\["),
    ),
    hints=(
        "Down goes the guess, up comes a mean; between two rounds, the state is in a "
        "variable of your loop.",
        "`federated_broadcast` brings the guess to the homes, `federated_zip` makes a "
        "pair at each, `federated_map(one_step, pairs)` moves the guess there. "
        "`initialize()` is the guess before the first day.",
        "Two lines for a round, four for the days:\n"
        "    pairs = fl.federated_zip([fl.federated_broadcast(...), ...])\n"
        "    return fl.federated_mean(fl.federated_map(one_step, pairs))\n"
        "and\n"
        "    guess = ...\n"
        "    for readings in days:\n"
        "        guess = ...\n"
        "    return guess",
        "What does a round take, and what does it give?\n"
        "    pairs = fl.federated_zip([fl.federated_broadcast(guess), readings])\n"
        "    return fl.federated_mean(fl.federated_map(one_step, pairs))\n"
        "and\n"
        "    guess = initialize()\n"
        "    for readings in days:\n"
        "        guess = next_guess(..., ...)\n"
        "    return guess",
    ),
)


LESSON: Final = Lesson(
    name="13_remote_clients",
    title="Where do the clients run?",
    minutes=70,
    goals=(
        "run the clients of a program in other processes, with the same bits",
        "count what travels, and load data where they are used",
        "say what is lost with a worker, and what is not",
    ),
    needs="lessons 4 and 7",
    exercises=(SAME_BITS, BYTES_OF_ROUND, LOAD, GUESS_AFTER),
    path=MACHINE,
    outcomes={
        "here-and-there": "the same",
        "after-a-kill": "the same, to the last bit",
    },
)
