# SPDX-License-Identifier: Apache-2.0
"""Lesson 02, its last exercise: rows of a table become what clients hold."""

from collections import defaultdict
from itertools import groupby
from typing import Any, Final

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, looks, raises

READINGS: Final = fl.parse_type("<day=int32,degrees=float32>*")


def _by_home(rows: Any) -> Any:
    held = defaultdict(list)
    for home, *reading in rows:
        held[home].append(tuple(reading))
    return [held[home] for home in sorted(held)]


def _by_first_row(rows: Any) -> Any:
    return [[row[1:] for row in rows if row[0] == home] for home in _once(rows)]


def _once(rows: Any) -> list[str]:
    return list(dict.fromkeys(row[0] for row in rows))


def _neighbors(rows: Any) -> Any:
    groups = groupby(rows, key=lambda row: row[0])
    return [[row[1:] for row in group] for _, group in groups]


def _placed(answer: Any, rows: Any) -> Any:
    """What the clients hold, in whatever containers the answer has it."""
    return fl.place(answer(rows), fl.CLIENTS, READINGS).members


def _held(split: Any) -> Any:
    """What clients hold after a split of another kind."""
    return lambda rows: _placed(split, rows)


ONE_READING: Final = [("town", 7, -3.5)]
TWO_READINGS: Final = [*ONE_READING, ("town", 8, 2.0)]


def _makes(like: Any, rows: Any = ONE_READING) -> Any:
    """Spots what an answer makes of the readings of one home."""
    return lambda answer: like(answer(rows))


_places = _makes(lambda made: isinstance(made, fl.FederatedValue))
_names = _makes(lambda made: list(made) == ["town"] and not isinstance(made, dict))
_pairs = _makes(lambda made: made[0][0] == "town" and isinstance(made[0][1], list))
_flat = _makes(lambda made: list(made[0]) == [7, -3.5, 8, 2.0], TWO_READINGS)
_no_days = _makes(lambda made: list(made[0]) == [-3.5])
_columns = _makes(lambda made: [list(each) for each in made[0]] == [[7], [-3.5]])

BY_HOME: Final = Exercise(
    name="by_home",
    title="one table, many homes",
    points=15,
    want=wants.function(1),
    reference=lambda: _by_home,
    cases=(
        Case("two homes", ([("hill", 1, 21.0), ("lake", 1, 18.5)],), _placed),
        Case(
            "several readings of one home",
            ([("hill", 1, 21.0), ("hill", 2, 20.0), ("lake", 1, 18.5)],),
            _placed,
        ),
        Case(
            "rows in any order",
            ([("lake", 2, 18.5), ("hill", 1, 21.0), ("lake", 1, 19.0)],),
            _placed,
        ),
        Case("one home with one reading", ([("town", 7, -3.5)],), _placed),
    ),
    mistakes=(
        looks("return the lists themselves; `place` comes later", _places),
        looks("these are the names of the homes; what they hold is asked for", _names),
        looks("a client is no pair: leave out the name of the home", _pairs),
        looks(
            "a home holds days and degrees in turn; one tuple `(day, degrees)` for "
            "each reading",
            _flat,
        ),
        looks("the days are missing: a reading has a day and degrees", _no_days),
        looks(
            "all days and then all degrees: a sequence has both in every element",
            _columns,
        ),
        raises(
            "clients have an order and no names: return a list, not a dict",
            "found=.*dict|place puts one entry at each client",
        ),
        raises("the name of the home is still among what it holds", "number of fields"),
        raises(
            "each client needs a list of its readings, even if there is only one",
            "a structure is needed|a sequence is needed",
        ),
        raises(
            "the day comes first: fields without names go by position",
            "(?s)cannot become the declared tensor.*a float",
        ),
        raises(
            "the name of the home is still among what it holds",
            "(?s)cannot become the declared tensor.*a str",
        ),
        gives(
            "rows of one home need not be neighbors: it became several clients",
            _held(_neighbors),
        ),
        gives(
            "the homes are sorted by what they hold; sort them by name",
            _held(lambda rows: sorted(_by_home(rows))),
        ),
        gives(
            "the homes come in the order of their first rows; sort them by name",
            _held(_by_first_row),
        ),
        gives(
            "all rows are at one client: each home is a client of its own",
            _held(lambda rows: [[row[1:] for row in rows]]),
        ),
        gives(
            "every row is a client now: the rows of one home belong together",
            _held(lambda rows: [[row[1:]] for row in rows]),
        ),
        gives(
            "each home keeps one reading only: later rows replace the earlier ones",
            _held(
                lambda rows: [
                    [each] for _, each in sorted({r[0]: r[1:] for r in rows}.items())
                ]
            ),
        ),
        gives(
            "the readings of a home stay in the order of the rows: do not sort them",
            _held(lambda rows: _by_home(sorted(rows))),
        ),
    ),
    hints=(
        "First collect, home by home, what it holds. Then bring the homes into order, "
        "and forget their names.",
        "`held[home].append(...)` collects, if `held = defaultdict(list)`. A tuple "
        "`(day, degrees)` fits `<day=int32,degrees=float32>`.",
        "Fill the gaps:\n"
        "    def by_home(rows):\n"
        "        held = defaultdict(list)\n"
        "        for home, day, degrees in rows:\n"
        "            held[home].append(...)\n"
        "        return [... for home in sorted(held)]",
    ),
)
