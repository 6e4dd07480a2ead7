# SPDX-License-Identifier: Apache-2.0
"""Lesson 12c: a sum of numbers that nobody but their owner has seen."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson, Sign
from fedlearn_edu.course.mistakes import looks, raises, returns, usual
from fedlearn_edu.simulation.seeded_rng import seeded_rng
from fedlearn_edu.testing.comparison import alike


def _masked(values: Any, masks: Any, modulus: int) -> Any:
    return (values + masks.sum(axis=1) - masks.sum(axis=0)) % modulus


def _modulo(wrong: Callable[..., Any]) -> Sign:
    """The result is what `wrong` gives, whether or not the remainder is taken."""
    like = returns(
        lambda got, *given: alike(
            np.remainder(got, given[-1]), wrong(*given) % given[-1]
        )
    )
    return Sign(like.spotted, wrong)


def _sends(row: int, column: int) -> Sign:
    """What clients send whose masks count so many times."""
    return _modulo(
        lambda values, masks, _: (
            values + row * masks.sum(axis=1) + column * masks.sum(axis=0)
        )
    )


def _pairs(clients: int, modulus: int) -> Any:
    """A mask for each two clients i < j, in row i and column j; zeros elsewhere."""
    random = seeded_rng("masks", clients)
    return np.triu(random.integers(1, modulus, [clients, clients]), 1)


def _is_sum(got: Any, values: Any, masks: Any, modulus: int) -> bool:
    return bool(np.shape(got) == () and got % modulus == values.sum() % modulus)


MASKED = Exercise(
    name="masked",
    title="masks that cancel out",
    points=10,
    want=wants.function(3),
    reference=lambda: _masked,
    cases=(
        Case(
            "three clients",
            (np.array([5, 0, 9]), np.array([[0, 37, 80], [0, 0, 50], [0, 0, 0]]), 100),
        ),
        Case(
            "a value and a mask that are more than the modulus",
            (np.array([60, 4]), np.array([[0, 60], [0, 0]]), 100),
        ),
        Case("twenty clients", (np.arange(20) * 7, _pairs(20, 10_000), 10_000)),
    ),
    mistakes=usual(
        "take the remainder of the whole, in brackets, with `%`: without it, a large "
        "number shows a large mask",
        _sends(1, -1),
        "`modulus` is an argument, on which all clients agree; it is not always 100",
        lambda values, masks, _: _masked(values, masks, 100),
        "every mask is added twice here, and nothing cancels out: one of the two "
        "clients subtracts it",
        _sends(1, 1),
        "`%` takes the remainder; `/` and `//` divide",
        lambda values, masks, modulus: (
            (values + masks.sum(axis=1) - masks.sum(axis=0)) / modulus
        ),
        lambda values, masks, modulus: (
            (values + masks.sum(axis=1) - masks.sum(axis=0)) // modulus
        ),
        "the masks are only added, so they stay in the sum: client k subtracts its "
        "column, `masks[j, k]` of each earlier client j (`masks[k, j]` is 0 there)",
        _sends(1, 0),
        _sends(0, 1),
        "added and subtracted are swapped: client k adds what is in *row* k",
        _sends(-1, 1),
        "no mask is left: if you subtract what you have added, the row, it is 0; the "
        "column is `masks[:, k]`",
        _sends(0, 0),
        "this is what one client sends: collect the numbers of all in a list, and "
        "`return` it after the loop",
        lambda *given: _masked(*given)[-1],
        lambda *given: _masked(*given)[0],
        lambda *given: _masked(*given)[:1],
        "this is the sum; what each client *sends* is asked for",
        returns(_is_sum),
        "these are the masks alone; add them to the values",
        lambda values, masks, modulus: (
            (masks.sum(axis=1) - masks.sum(axis=0)) % modulus
        ),
        "what a client sends is one number, not a row: add up its masks, `masks[k]` "
        "and `masks[:, k]`",
        returns(lambda got, *_: any(np.ndim(each) for each in got)),
        "these are the masks of client 0, for all clients: sum each row and column",
        lambda values, masks, modulus: (values + masks[0] - masks[:, 0]) % modulus,
        lambda values, masks, modulus: (values - masks[0] + masks[:, 0]) % modulus,
        "the masks are in `masks`: random numbers of your own do not cancel out",
        looks(
            lambda answer: not {"random", "chance"}.isdisjoint(answer.__code__.co_names)
        ),
    ),
    hints=(
        "Each mask is in the numbers of two clients: one adds it, the other subtracts "
        "it. So it is gone once all numbers are added up.",
        "`masks.sum(axis=1)` adds up each row, what a client adds; `masks.sum(axis=0)` "
        "each column, what it subtracts. `%` takes the remainder.",
        "The form:\n    return (values + ... - ...) % ...",
        "Nearly all of it:\n    return (values + masks.sum(axis=1) - ...) % modulus",
    ),
    reward=lambda masked: _hidden(masked),
)


def _hidden(masked: Any) -> str:
    values, modulus = np.array([1, 2, 3]), 1000
    sent = masked(values, _pairs(3, modulus), modulus)
    numbers = ", ".join(str(int(each)) for each in sent)
    return (
        f"Three clients have 1, 2 and 3. Yours send {numbers}, and the sum is "
        f"{int(sum(sent) % modulus)} modulo {modulus}."
    )


def _repaired(total: Any, masks: Any, gone: Any, modulus: int) -> Any:
    return (total + masks[gone].sum() - masks[:, gone].sum()) % modulus


def _mended(row: int, column: int) -> Sign:
    """A sum to which the row and column of `gone` are added so many times."""
    return _modulo(
        lambda total, masks, gone, _: (
            total + row * masks[gone].sum() + column * masks[:, gone].sum()
        )
    )


def _without(values: Any, gone: int, modulus: int) -> tuple[Any, ...]:
    """What is left of a sum if one client was gone before it sent its number."""
    masks = _pairs(len(values), modulus)
    sent = np.delete(_masked(np.array(values), masks, modulus), gone)
    return sent.sum() % modulus, masks, gone, modulus


REPAIRED = Exercise(
    name="repaired",
    title="a sum without the one that dropped out",
    points=10,
    want=wants.function(4),
    reference=lambda: _repaired,
    cases=(
        Case("one in the middle", lambda: _without([1, 0, 2, 1, 0, 3, 1, 2], 3, 100)),
        Case("the first of three", lambda: _without([5, 20, 9], 0, 100)),
        Case("the last of five", lambda: _without([5, 20, 9, 1, 7], 4, 1000)),
        Case("one of twenty", lambda: _without([*range(20)], 13, 10_000)),
    ),
    mistakes=usual(
        "the server does not know `patients`; and the number of the one that is gone "
        "is not in the sum, only its masks are",
        looks(lambda answer: "patients" in answer.__code__.co_names),
        "the masks of the one that is gone are still in the sum (the row minus the "
        "row is 0: its column is `masks[:, gone]`)",
        _mended(0, 0),
        "take the remainder of all, by `modulus`: `(total + ... - ...) % modulus`",
        _mended(1, -1),
        "the signs are the wrong way round: add its row, which it would have added",
        _mended(-1, 1),
        "its row is taken care of; its column holds masks, too, which it would have "
        "subtracted",
        _mended(1, 0),
        "its column is taken care of; its row holds masks, too, which it would have "
        "added",
        _mended(0, -1),
        "one of the two is missing, and the other has the wrong sign: do what the one "
        "that is gone would have done, add its row and subtract its column",
        _mended(-1, 0),
        _mended(0, 1),
        "row and column are both added; one of the two it would have subtracted",
        _mended(1, 1),
        "row and column are both subtracted; one of the two it would have added",
        _mended(-1, -1),
        "these are masks of other pairs, too; only those of `gone` are left in the sum",
        lambda total, masks, gone, modulus: (total - masks.sum()) % modulus,
        lambda total, masks, gone, modulus: (total + masks.sum()) % modulus,
        lambda total, masks, gone, modulus: (
            (total + np.delete(masks, gone, axis=0).sum()) % modulus
        ),
        lambda total, masks, gone, modulus: (
            (total - np.delete(masks, gone, axis=0).sum()) % modulus
        ),
        "`masks[:gone]` is the rows above; the column is `masks[:, gone]`",
        lambda total, masks, gone, modulus: (
            (total + masks[gone].sum() - masks[:gone].sum()) % modulus
        ),
        "position and modulus are the arguments `gone` and `modulus`, not 6 and 1000",
        lambda total, masks, gone, modulus: _repaired(total, masks, 6, 1000),
        lambda total, masks, gone, modulus: _repaired(total, masks, 6, modulus),
        "one number is asked for: add up the row, and the column, with `sum()`",
        returns(lambda got, *_: np.ndim(got) > 0),
        "add up row and column each by itself, with `sum()`: here, `total` is counted "
        "once for each client",
        lambda total, masks, gone, modulus: _repaired(
            len(masks) * total, masks, gone, modulus
        ),
        lambda total, masks, gone, modulus: _repaired(
            len(masks) * total, masks.T, gone, modulus
        ),
        "`gone` is a position, in square brackets: `masks[gone]` and `masks[:, gone]`",
        raises("out of bounds for axis|invalid index|only integers|not callable"),
    ),
    hints=(
        "What would the missing client have sent, if its own value "
        "were 0? Add that number, and the masks cancel out.",
        "It would have added its row, `masks[gone]`, and subtracted its column, "
        "`masks[:, gone]`.",
        "The form:\n    return (total + ... - ...) % ...",
        "Nearly all of it:\n    return (total + masks[gone].sum() - ...) % modulus",
    ),
)


def _single_out(total: Any, rest: Any, modulus: int) -> Any:
    left = (total - rest) % modulus
    return np.where(left > modulus / 2, left - modulus, left)


SINGLE_OUT = Exercise(
    name="single_out",
    title="what two sums tell",
    points=10,
    want=wants.function(3),
    reference=lambda: _single_out,
    cases=(
        Case(
            "a plain difference, a sum past the modulus, a number below 0",
            (np.array([60, 3, 10]), np.array([48, 95, 13]), 100),
        ),
        Case("nothing is left", (np.array([7, 0]), np.array([7, 0]), 100)),
        Case(
            "in a thousand",
            (np.array([900, 20, 450, 400]), np.array([100, 990, 500, 80]), 1000),
        ),
    ),
    mistakes=usual(
        "take the remainder of the difference, `(total - rest) % modulus`: a sum may "
        "have gone past the modulus",
        lambda total, rest, modulus: total - rest,
        lambda total, rest, modulus: np.abs(total - rest),
        "the two are swapped: the sum of all comes first",
        lambda total, rest, modulus: _single_out(rest, total, modulus),
        lambda total, rest, modulus: (rest - total) % modulus,
        "numbers above modulus / 2 are left: subtract `modulus` from each, after `%`, "
        "and keep what comes out (`left = …`, `left[i] = …`)",
        lambda total, rest, modulus: (total - rest) % modulus,
        "subtract `modulus` from numbers above its half alone; others stay",
        lambda total, rest, modulus: (total - rest) % modulus - modulus,
        "subtract the whole `modulus`, not its half",
        lambda total, rest, modulus: _lowered(total, rest, modulus, modulus / 2),
        lambda total, rest, modulus: (total - rest) % modulus - modulus // 2,
        "subtract `modulus` once there: 97 modulo 100 is -3, neither -97 nor 197",
        lambda total, rest, modulus: _lowered(total, rest, modulus, 2 * modulus),
        lambda total, rest, modulus: _lowered(total, rest, modulus, -modulus),
        lambda total, rest, modulus: (
            (total - rest) % modulus * np.sign(_single_out(total, rest, modulus))
        ),
        "this is the mirror image: 97 modulo 100 is -3, not 3",
        lambda total, rest, modulus: np.abs(_single_out(total, rest, modulus)),
        "the condition is the wrong way round: what is *above* modulus / 2 is below 0",
        lambda total, rest, modulus: _lowered(total, rest, modulus, modulus, np.less),
        "`np.where` takes three things: the condition, what there is where it is true, "
        "and what there is elsewhere",
        returns(lambda got, *_: isinstance(got, tuple)),
        "small ones are lost: keep all, `np.where(left > modulus / 2, …, left)`",
        returns(lambda got, total, *_: 0 < len(got) < len(total)),
        "the half, and what is subtracted, depend on `modulus`: not always 50 and 100",
        lambda total, rest, _: _single_out(total, rest, 100),
        lambda total, rest, modulus: _lowered(total, rest, modulus, 100),
        lambda total, rest, modulus: (
            (total - rest) % modulus - 100 * ((total - rest) % modulus > 50)
        ),
        lambda total, rest, modulus: (
            (total - rest) % modulus - modulus * ((total - rest) % modulus > 50)
        ),
        "subtract first, modulo `modulus`; then turn back what is above the half",
        lambda total, rest, modulus: (
            _lowered(total, 0, modulus, modulus) - _lowered(rest, 0, modulus, modulus)
        ),
        "without `abs`, which loses what is larger: `%` takes care of the sign",
        lambda total, rest, modulus: _lowered(abs(total - rest), 0, modulus, modulus),
        "the condition is about the difference, not about `total` or `rest`",
        lambda total, rest, modulus: (
            (total - rest) % modulus - modulus * (total > modulus / 2)
        ),
        lambda total, rest, modulus: (
            (total - rest) % modulus - modulus * (rest > modulus / 2)
        ),
        "these are numbers of `total`: subtract those of `rest`, place by place",
        returns(lambda got, total, *_: np.isin(got, total).all()),
    ),
    hints=(
        "What is in the first sum, and not in the second? Then think of a clock with "
        "100 hours: what is 3 hours before 0?",
        "The difference, modulo `modulus`; and where it is above modulus / 2, subtract "
        "`modulus`: `np.where(condition, then, else)`.",
        "The form:\n"
        "    left = ... % modulus\n"
        "    return np.where(left > ..., ..., left)",
        "Nearly all of it:\n"
        "    left = (total - rest) % modulus\n"
        "    return np.where(left > modulus / 2, ..., left)",
    ),
)


def _lowered(
    total: Any, rest: Any, modulus: int, by: float, where: Any = np.greater
) -> Any:
    left = (total - rest) % modulus
    return np.where(where(left, modulus / 2), left - by, left)


LESSON: Final = Lesson(
    name="12c_hide_in_a_sum",
    title="Can a server add up what it is not told?",
    minutes=40,
    goals=(
        "let a server add up numbers that it never sees",
        "repair a sum after a client has dropped out",
        "say what a sum hides, and what two sums give away",
    ),
    needs="lesson 12b",
    exercises=(MASKED, REPAIRED, SINGLE_OUT),
    outcomes={"told": "a number that looks random", "gone": "worthless"},
)
