# SPDX-License-Identifier: Apache-2.0
"""Lesson 02: types say what a value is and who holds it, and tell what fits."""

from collections import defaultdict
from functools import partial
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import MACHINE, Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import looks, raises, usual, written

A_TYPE: Final = wants.value(fl.Type, "a type, made for example by `fl.parse_type`")

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
        Case("says what each phone holds", do=lambda answer: str(answer.member)),
        Case("is complete", do=str),
    ),
    mistakes=usual(
        *_TEXT,
        "the star belongs inside the braces, behind the struct",
        raises(r"found: +`\*`|inside a sequence"),
        "a struct is written in angle brackets: `<…>`",
        raises(r"[({]image"),
        "after the closing brace comes the placement: `{…}@CLIENTS`",
        raises("expected: +`@`"),
        "a size that is not known is a `?` in the notation, and `None` in Python",
        raises(r"'\?'|`None`"),
        "this says what, but not where: who holds the photos?",
        written(lacking="@"),
        "the photos are on the phones, and no server sees them",
        written("@SERVER"),
        "without braces, every phone holds the same photos; theirs differ",
        written(lacking="{"),
        "each phone holds a sequence of batches: that needs a star",
        written(lacking="*"),
        "the two fields need their names, `image` and `label`",
        written(lacking="image="),
        written(lacking="label="),
        "fields have an order: `image` comes first",
        written("<label"),
        "use one star, after the batch: each element has photos and labels",
        written("*,", "*>"),
        "the shape also counts the photos in a batch: their number is not known yet",
        written("image=float32[32"),
        "there is one label for each photo, so `label` needs a shape",
        written("label=int32>"),
        "height and width are two axes of the shape: 32, 32",
        written("1024"),
        "the colors come last in the shape: 32, 32, 3",
        written("[?,3,32,32]"),
        "each pixel has 3 colors: one more axis in the shape",
        written("32,32]"),
        "photos are `float32`, labels are whole numbers, `int32`",
        written("label=float", "label=int64", "image=float64", "image=int"),
        "the axes of `image` are photos (how many is not known: `?`), height, width, "
        "colors; the star counts the batches",
        written(lacking="[?,32,32,3]"),
        "`label` has one axis, the photos; how many is not known: `?`",
        written(lacking="label=int32[?]"),
    ),
    hints=(
        "Build it from the inside out: the photos of a batch, the batch with its "
        "labels, a sequence of batches, and last who holds it.",
        "The type right above the exercise has the same form: a struct of two fields, "
        "a star, braces, a placement.",
        "Fill in the fields, the star and the placement:\n"
        '    fl.parse_type("{<image=float32[...],label=int32[...]>...}@...")',
        "One size of each shape is not known yet, so it is a `?`. A batch has:\n"
        "    photos_at_clients = fl.parse_type(\n"
        '        "{<image=float32[...,32,32,3],label=int32[...]>*}@CLIENTS"\n'
        "    )",
    ),
    reward=lambda answer: (
        "A photo is 32 · 32 · 3 = 3,072 numbers of 4 bytes: 12.3 kB, all on the phone."
    ),
)


SURVEY_TYPE = Exercise(
    name="survey_type",
    title="the type of a survey",
    points=15,
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
        "do not run the program: read it, and write its type with `fl.parse_type`",
        raises("name 'survey'"),
        looks(lambda answer: isinstance(answer, fl.Computation)),
        "the type of a program is written in parentheses: `(… -> …)`",
        raises("(?s)nothing more.*found: +`->`"),
        "the type of a program has an arrow: what goes in `->` what comes out",
        written(lacking="->"),
        "this is the type of `extremes`, which each client runs; `survey` calls it",
        written(lacking="@"),
        "a single parameter needs no angle brackets and no name",
        looks(lambda answer: str(answer.parameter).startswith("<hours=")),
        raises("found: +`hours`"),
        "what goes in is held by the clients and may differ: it needs braces",
        looks(lambda answer: not str(answer.parameter).startswith("{")),
        "this is the type of the mean: `survey` has no letters, it is for readings",
        written("T@"),
        "each client has 24 readings, in one tensor",
        looks(lambda answer: "float32[24]}" not in str(answer.parameter)),
        "`survey` returns a mean, which is at the server",
        looks(lambda answer: "@SERVER" not in str(answer.result)),
        "this is a struct of two placed values; the result is one struct, placed",
        looks(lambda answer: str(answer.result).count("@SERVER") == 2),
        "braces are for members that may differ, but there is only one server",
        looks(lambda answer: str(answer.result).startswith("{")),
        "`extremes` returns a struct; its mean is a struct with the same fields",
        looks(lambda answer: "coldest=" not in str(answer.result)),
        "fields have an order: `extremes` returns `coldest` first",
        looks(lambda answer: str(answer.result).startswith("<warmest")),
        "the coldest of 24 readings is a single number, without a shape",
        looks(lambda answer: "[" in str(answer.result)),
    ),
    hints=(
        "Write down what goes in and what comes out. Follow the value: 24 readings, "
        "then what `extremes` makes of them, then its mean.",
        "What goes in is in the decorator of `survey`. What comes out is a mean, of "
        "type `({T}@CLIENTS -> T@SERVER)`; here `T` is what `extremes` returns.",
        "An arrow, and a placement on both sides:\n"
        '    fl.parse_type("({...}@CLIENTS -> <...>@...)")',
        "The result is a struct of two named numbers:\n"
        "    survey_type = fl.parse_type(\n"
        '        "({float32[24]}@CLIENTS -> <coldest=...,warmest=...>@SERVER)"\n'
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
    points=5,
    want=wants.function(2),
    reference=lambda: _who_fits,
    cases=(
        Case(
            "one length is wanted, the other is open",
            _wanted_and(
                "int32[24,?]",
                "int32[24,3]",
                "int32[?,?]",
                "int32[24,?]",
                "int32[24,2]",
                "int32[7,?]",
            ),
        ),
        Case(
            "any length is accepted, also twice",
            _wanted_and(
                "float32[?]", "float32[?]", "int32[24]", "float32[24]", "float32[?]"
            ),
        ),
        Case(
            "clients may differ",
            _wanted_and(
                "{bool}@CLIENTS", "bool@SERVER", "bool@CLIENTS", "{bool}@CLIENTS"
            ),
        ),
        Case(
            "structs of any size",
            _wanted_and("<a=int32[?]>", "<a=int32[3]>", "<b=int32[3]>", "<int32[4]>"),
        ),
        Case("none fits", _wanted_and("<a=int32>", "<b=int32>", "int32")),
    ),
    mistakes=usual(
        "you took only candidates equal to `wanted`; others fit, too",
        lambda wanted, candidates: [t for t in candidates if t == wanted],
        "this is the wrong way round: ask `wanted` whether it is assignable from the "
        "candidate",
        lambda wanted, candidates: [
            type_ for type_ in candidates if type_.is_assignable_from(wanted)
        ],
        "return the types themselves, not truth values, texts or positions",
        _all,
        lambda wanted, candidates: list(map(str, _who_fits(wanted, candidates))),
        lambda wanted, candidates: list(np.flatnonzero(_all(wanted, candidates))),
        "this is only one of them: return a list of all that fit",
        lambda wanted, candidates: _who_fits(wanted, candidates)[0],
        "keep the order of the candidates: neither sort them nor make a set",
        lambda wanted, candidates: sorted(_who_fits(wanted, candidates), key=str),
        lambda wanted, candidates: set(_who_fits(wanted, candidates)),
        "`return` is inside the loop and ends it: put it after the loop",
        lambda wanted, candidates: _who_fits(wanted, candidates)[:1],
        "ask about one candidate at a time, not about the list, and collect what fits",
        lambda wanted, candidates: False,
        lambda wanted, candidates: [],
        "these are the ones that do not fit",
        lambda wanted, candidates: [
            t for t in candidates if not wanted.is_assignable_from(t)
        ],
        "types have one such method, and `wanted` is asked: "
        "`wanted.is_assignable_from(…)`",
        raises("name 'is_assign|attribute 'is_assign"),
    ),
    hints=(
        "Go through the candidates, and keep those to which `wanted` says yes.",
        "Look at `fits`, in the cell before this exercise: it asks the expected type "
        "with `is_assignable_from`.",
        "A list comprehension with a condition:\n"
        "    return [type_ for type_ in candidates if ...]",
        "Which type is asked, and about which?\n"
        "    def who_fits(wanted, candidates):\n"
        "        return [\n"
        "            type_ for type_ in candidates if ....is_assignable_from(...)\n"
        "        ]",
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


def _placed(answer: Any, rows: Any) -> Any:
    """What the clients hold, in whatever containers the answer has it."""
    made = answer(rows)
    return None if made is None else fl.place(made, fl.CLIENTS, READINGS).members


ONE_READING: Final = [("town", 7, -3.5)]
TWO_READINGS: Final = [*ONE_READING, ("town", 8, 2.0)]


def _makes(like: Any, rows: Any = ONE_READING) -> Any:
    """Spots what an answer makes of the readings of one home."""
    return lambda answer: like(answer(rows))


_places = _makes(lambda made: isinstance(made, fl.FederatedValue))
_names = _makes(lambda made: "town" in str(made))
_flat = _makes(lambda made: list(made[0]) == [7, -3.5, 8, 2.0], TWO_READINGS)
_no_days = _makes(lambda made: made[0] in ([-3.5], [("town", -3.5)]))

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
        Case("the same reading twice", ([("hill", 1, 21.0)] * 2,), _placed),
        Case("one home with one reading", ([("town", 7, -3.5)],), _placed),
    ),
    mistakes=usual(
        "return the lists themselves: they are placed later",
        looks(_places),
        "the days are missing: a reading has a day and its degrees",
        looks(_no_days),
        "leave out the names of the homes: return a list of what each home holds, in "
        "the order of the names",
        looks(_names),
        "days and degrees alternate in one list: make one tuple `(day, degrees)` per "
        "reading",
        looks(_flat),
        "a new home is not in the dict yet: `defaultdict(list)` begins its list",
        raises("KeyError"),
        "unpack a row, `for home, day, degrees in rows`; `.items()` has pairs, and a "
        "dict alone only names",
        raises("unpack|name '(home|day|degrees)'"),
        "a reading is one tuple, as in `append((day, degrees))`, and each client needs "
        "a list of them, even of one",
        raises(r"append\(|keys of a|number of fields|(structure|sequence) is needed"),
        "the day comes first: fields without names go by position",
        raises("(?s)cannot become the declared tensor.*a float"),
        "the homes are in another order: sort them by name",
        partial(_placed, lambda rows: sorted(_by_home(rows))),
        partial(_placed, _by_first_row),
        "other tables have other homes: take the names from `rows`",
        partial(_placed, lambda rows: [*_by_home(rows), []]),
        "each home has only one reading: later rows replace earlier ones",
        partial(
            _placed,
            lambda rows: [
                [each] for _, each in sorted({r[0]: r[1:] for r in rows}.items())
            ],
        ),
        "`return` is inside the loop and ends it: put it after the loop",
        partial(_placed, lambda rows: _by_home(rows[:1])),
        "the readings of a home keep the order of the rows: do not sort them",
        partial(_placed, lambda rows: _by_home(sorted(rows))),
    ),
    hints=(
        "First collect the readings home by home. Then put the homes in order, and "
        "drop their names.",
        "The table above says which Python value fits: for clients a list, for a "
        "sequence a list, for a struct a tuple. `defaultdict(list)` collects.",
        "A loop, and a list of lists:\n"
        "    held = defaultdict(list)\n"
        "    for home, day, degrees in rows:\n"
        "        ...\n"
        "    return [... for home in ...]",
        "A reading is a tuple of a day and its degrees:\n"
        "    def by_home(rows):\n"
        "        held = defaultdict(list)\n"
        "        for home, day, degrees in rows:\n"
        "            held[home].append(...)\n"
        "        return [held[home] for home in sorted(held)]",
    ),
)


LESSON: Final = Lesson(
    name="02_types_and_placements",
    title="What is a value, and who holds it?",
    minutes=50,
    goals=(
        "read and write the type of any value, placed or not",
        "tell which value may be used where another is expected",
        "bring Python data into the form that a type asks for",
    ),
    needs="lesson 1",
    exercises=(PHOTOS_AT_CLIENTS, WHO_FITS, SURVEY_TYPE, BY_HOME),
    path=MACHINE,
    outcomes={"told-to-all": "float32@CLIENTS", "model-bytes": "31400"},
)
