# SPDX-License-Identifier: Apache-2.0
"""Lesson 02: types say what a value is and who holds it, and tell what fits."""

from collections import defaultdict
from functools import partial
from itertools import groupby
from typing import Any, Final

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import looks, raises, usual, written

A_TYPE: Final = wants.value(fl.Type, "a type: made by `fl.parse_type`, for example")

_TEXT = (
    "this is a text; `fl.parse_type` makes a type of it",
    looks(lambda answer: isinstance(answer, str)),
)


PHOTOS_AT_CLIENTS = Exercise(
    name="photos_at_clients",
    title="photos at the clients",
    points=10,
    want=A_TYPE,
    reference=lambda: fl.parse_type(
        "{<image=float32[?,32,32,3],label=int32[?]>*}@CLIENTS"
    ),
    cases=(
        Case("says who holds it", do=lambda answer: str(answer.placement)),
        Case("says what one phone holds", do=lambda answer: str(answer.member)),
        Case("is complete", do=str),
    ),
    mistakes=usual(
        *_TEXT,
        "this says what, but not where: who holds the photos?",
        written(lacking="@"),
        "the photos are on the phones, and no server sees them",
        written("@SERVER"),
        "without braces, every phone holds the same photos; theirs differ",
        written(lacking="{"),
        "each phone holds many batches, one after the other: a star",
        written(lacking="*"),
        "the two fields have names, `image` and `label`",
        written(lacking="image="),
        written(lacking="label="),
        "fields have an order, and `image` is the first",
        written("<label"),
        "a shape counts the photos too: how many is not known yet",
        written("image=float32[32"),
        "there is one label for each photo of a batch, so it has a shape",
        written("label=int32>"),
        "`?` is for what is not known yet; 32, 32 and 3 are",
        written("?,?"),
        "one star, behind the batch: each element has photos and labels",
        written("]*,"),
        "the colors come last in the shape: 32, 32, 3",
        written("[?,3,32,32]"),
        "each dot has 3 colors: one more direction in the shape",
        written("32,32]"),
        "a label is a whole number, an `int32`",
        written("label=float"),
        "one number for each photo: the labels have one direction",
        written("int32[?,1]"),
        "how many photos a batch has is not known: write `?`",
        written(lacking="[?,32,32,3]"),
        "there are as many labels as photos, and that is not known: write `?`",
        written(lacking="int32[?]"),
    ),
    hints=(
        "Build it from the inside out: a photo, a batch of them with its labels, a "
        "sequence of batches, and at last who holds it.",
        "Names and order of a batch: `<image=…,label=…>`. A sequence of T is `T*`, and "
        "`{T}@CLIENTS` is a T of its own at each client.",
        "Fill the gaps:\n"
        "    photos_at_clients = fl.parse_type(\n"
        '        "{<image=float32[?,...],label=int32[...]>...}@CLIENTS"\n'
        "    )",
    ),
)


SURVEY_TYPE = Exercise(
    name="survey_type",
    title="the type of a survey",
    points=10,
    want=A_TYPE,
    reference=lambda: fl.parse_type(
        "({float32[24]}@CLIENTS -> <coldest=float32,warmest=float32>@SERVER)"
    ),
    cases=(
        Case("is the type of a program", do=lambda answer: answer.is_function()),
        Case("what goes in", do=lambda answer: str(answer.parameter)),
        Case("what comes out", do=lambda answer: str(answer.result)),
    ),
    mistakes=usual(
        *_TEXT,
        "a program has an arrow: what goes in, -> , what comes out",
        written(lacking="->"),
        "this is `extremes`, the part each client runs; `survey` is around it",
        written(lacking="@"),
        "nothing goes in here; `survey` has a parameter",
        looks(lambda answer: answer.parameter is None),
        "one parameter alone goes in as it is: no angle brackets, no name",
        looks(lambda answer: str(answer.parameter).startswith("<hours=")),
        "what goes in is held by the clients, and differs from one to the next",
        looks(lambda answer: not str(answer.parameter).startswith("{")),
        "each client has 24 readings, in one tensor",
        looks(lambda answer: "float32[24]" not in str(answer.parameter)),
        "this is before the mean: the last line brings it to the server",
        looks(lambda answer: "@CLIENTS" in str(answer.result)),
        "one struct is at the server; you wrote a struct of two placed values",
        looks(lambda answer: str(answer.result).count("@SERVER") == 2),
        "braces are for members that may differ, and there is one server",
        looks(lambda answer: str(answer.result).startswith("{")),
        "the mean of a struct is a struct, its fields named as before",
        looks(lambda answer: "coldest=" not in str(answer.result)),
        "fields have an order, and `extremes` returns `coldest` first",
        looks(lambda answer: str(answer.result).startswith("<warmest")),
        "the coldest of 24 readings is one number: it has no shape",
        looks(lambda answer: "[" in str(answer.result)),
    ),
    hints=(
        "What goes in stands in the decorator of `survey`. For what comes out, follow "
        "the value: 24 readings, then what `extremes` makes of them, then its mean.",
        "The mean has the type ({T}@CLIENTS -> T@SERVER). Here T is what `extremes` "
        "returns: a struct of two named numbers.",
        "Fill the gaps:\n"
        "    survey_type = fl.parse_type(\n"
        '        "({...}@CLIENTS -> <coldest=...,warmest=...>@...)"\n'
        "    )",
    ),
)


def _who_fits(wanted: Any, candidates: Any) -> Any:
    return [type_ for type_ in candidates if wanted.is_assignable_from(type_)]


def _wanted_and(wanted: str, *candidates: str) -> tuple[Any, ...]:
    return fl.parse_type(wanted), [fl.parse_type(text) for text in candidates]


def _all(wanted: Any, candidates: Any) -> Any:
    return [wanted.is_assignable_from(type_) for type_ in candidates]


WHO_FITS = Exercise(
    name="who_fits",
    title="who fits?",
    points=10,
    want=wants.function(2),
    reference=lambda: _who_fits,
    cases=(
        Case(
            "one length is wanted",
            _wanted_and("float32[24]", "float32[?]", "float32[24]", "float32[7]"),
        ),
        Case(
            "any length is welcome",
            _wanted_and(
                "float32[?]", "float32[24]", "int32[24]", "float32[?]", "float32"
            ),
        ),
        Case(
            "clients that may differ",
            _wanted_and(
                "{bool}@CLIENTS", "bool@SERVER", "bool@CLIENTS", "{bool}@CLIENTS"
            ),
        ),
        Case(
            "functions that accept more",
            _wanted_and(
                "(int32[3] -> bool)", "(int32[?] -> bool)", "(int32[4] -> bool)"
            ),
        ),
        Case("nobody", _wanted_and("<a=int32>", "<b=int32>", "int32")),
    ),
    mistakes=usual(
        "you took only candidates that are the very same type; others fit, too",
        lambda wanted, candidates: [t for t in candidates if t == wanted],
        "this is the wrong way round: ask the type that is wanted whether it is "
        "assignable from the candidate",
        lambda wanted, candidates: [
            type_ for type_ in candidates if type_.is_assignable_from(wanted)
        ],
        "you took candidates that fit in either direction; one of them is wrong",
        lambda wanted, candidates: [
            t
            for t in candidates
            if wanted.is_assignable_from(t) or t.is_assignable_from(wanted)
        ],
        "these are truth values: return the types themselves",
        _all,
        "this is how many fit; the types themselves are asked for",
        lambda wanted, candidates: sum(_all(wanted, candidates)),
        "this is one that fits; a list of all of them is asked for",
        lambda wanted, candidates: _who_fits(wanted, candidates)[0],
        "these are texts: return the types themselves",
        lambda wanted, candidates: list(map(str, _who_fits(wanted, candidates))),
        "these are the ones that do not fit",
        lambda wanted, candidates: [
            t for t in candidates if not wanted.is_assignable_from(t)
        ],
        "the same kind is not enough: dtype, shape and placement count as well",
        lambda wanted, candidates: [t for t in candidates if type(t) is type(wanted)],
        "a set has no order: return a list, in the order in which they came",
        lambda wanted, candidates: set(_who_fits(wanted, candidates)),
        "these are types already, and no texts: ask `wanted` with its "
        "`is_assignable_from`",
        raises("parse_type reads text"),
        "check_assignable_from complains; `is_assignable_from` answers yes or no",
        raises("NotAssignable"),
    ),
    hints=(
        "Go through the candidates, and keep one if the wanted type says yes to it.",
        "`wanted.is_assignable_from(candidate)` is True or False.",
        "Fill the gap:\n"
        "    def who_fits(wanted, candidates):\n"
        "        return [type_ for type_ in candidates if ...]",
    ),
)


READINGS: Final = fl.parse_type("<day=int32,degrees=float32>*")


def _by_home(rows: Any) -> Any:
    held = defaultdict(list)
    for home, *reading in rows:
        held[home].append(tuple(reading))
    return [held[home] for home in sorted(held)]


def _by_first_row(rows: Any) -> Any:
    homes = dict.fromkeys(row[0] for row in rows)
    return [[row[1:] for row in rows if row[0] == home] for home in homes]


def _neighbors(rows: Any) -> Any:
    groups = groupby(rows, key=lambda row: row[0])
    return [[row[1:] for row in group] for _, group in groups]


def _placed(answer: Any, rows: Any) -> Any:
    """What the clients hold, in whatever containers the answer has it."""
    return fl.place(answer(rows), fl.CLIENTS, READINGS).members


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
    mistakes=usual(
        "return the lists themselves; `place` comes later",
        looks(_places),
        "these are the names of the homes; what they hold is asked for",
        looks(_names),
        "a client is no pair: leave out the name of the home",
        looks(_pairs),
        "a home holds days and degrees in turn; one tuple `(day, degrees)` for each "
        "reading",
        looks(_flat),
        "the days are missing: a reading has a day and degrees",
        looks(_no_days),
        "all days and then all degrees: a sequence has both in every element",
        looks(_columns),
        "clients have an order and no names: return a list, not a dict",
        raises("found=.*dict|place puts one entry at each client"),
        "the name of the home is still among what it holds",
        raises("number of fields"),
        "each client needs a list of its readings, even if there is only one",
        raises("a structure is needed|a sequence is needed"),
        "the day comes first: fields without names go by position",
        raises("(?s)cannot become the declared tensor.*a float"),
        "the name of the home is still among what it holds",
        raises("(?s)cannot become the declared tensor.*a str"),
        "rows of one home need not be neighbors: it became several clients",
        partial(_placed, _neighbors),
        "the homes are sorted by what they hold; sort them by name",
        partial(_placed, lambda rows: sorted(_by_home(rows))),
        "the homes come in the order of their first rows; sort them by name",
        partial(_placed, _by_first_row),
        "all rows are at one client: each home is a client of its own",
        partial(_placed, lambda rows: [[row[1:] for row in rows]]),
        "every row is a client now: the rows of one home belong together",
        partial(_placed, lambda rows: [[row[1:]] for row in rows]),
        "each home keeps one reading only: later rows replace the earlier ones",
        partial(
            _placed,
            lambda rows: [
                [each] for _, each in sorted({r[0]: r[1:] for r in rows}.items())
            ],
        ),
        "the readings of a home stay in the order of the rows: do not sort them",
        partial(_placed, lambda rows: _by_home(sorted(rows))),
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


LESSON: Final = Lesson(
    name="02_types_and_placements",
    title="What is a value, and who holds it?",
    minutes=40,
    goals=(
        "read and write the type of any value, placed or not",
        "tell which value may stand where another is wanted",
        "bring Python data into the form that a type asks for",
    ),
    needs="lesson 1",
    exercises=(PHOTOS_AT_CLIENTS, WHO_FITS, SURVEY_TYPE, BY_HOME),
)
