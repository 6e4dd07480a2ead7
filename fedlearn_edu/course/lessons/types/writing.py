# SPDX-License-Identifier: Apache-2.0
"""Lesson 02: types that are to be written down."""

from typing import Any, Final

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import looks

A_TYPE: Final = wants.value(fl.Type, "a type: made by `fl.parse_type`, for example")

_TEXT = looks(
    "this is a text; `fl.parse_type` makes a type of it",
    lambda answer: isinstance(answer, str),
)


def _says(words: str, *texts: str, lacking: str = "") -> Any:
    """Spots a type in whose text one of these is, or one that lacks something."""
    return looks(
        words,
        lambda answer: (
            any(text in str(answer) for text in texts)
            or bool(lacking and lacking not in str(answer))
        ),
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
    mistakes=(
        _TEXT,
        _says("this says what, but not where: who holds the photos?", lacking="@"),
        _says("the photos are on the phones, and no server sees them", "@SERVER"),
        _says(
            "without braces, every phone holds the same photos; theirs differ",
            lacking="{",
        ),
        _says(
            "each phone holds many batches, one after the other: a star", lacking="*"
        ),
        _says("the two fields have names, `image` and `label`", lacking="image="),
        _says("the two fields have names, `image` and `label`", lacking="label="),
        _says("fields have an order, and `image` is the first", "<label"),
        _says(
            "a shape counts the photos too: how many is not known yet",
            "image=float32[32",
        ),
        _says(
            "there is one label for each photo of a batch, so it has a shape",
            "label=int32>",
        ),
        _says("`?` is for what is not known yet; 32, 32 and 3 are", "?,?"),
        _says("one star, behind the batch: each element has photos and labels", "]*,"),
        _says("the colors come last in the shape: 32, 32, 3", "[?,3,32,32]"),
        _says("each dot has 3 colors: one more direction in the shape", "32,32]"),
        _says("a label is a whole number, an `int32`", "label=float"),
        _says("one number for each photo: the labels have one direction", "int32[?,1]"),
        _says(
            "how many photos a batch has is not known: write `?`", lacking="[?,32,32,3]"
        ),
        _says(
            "there are as many labels as photos, and that is not known: write `?`",
            lacking="int32[?]",
        ),
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
    mistakes=(
        _TEXT,
        _says(
            "a program has an arrow: what goes in, -> , what comes out", lacking="->"
        ),
        looks(
            "this is `extremes`, the part each client runs; `survey` is around it",
            lambda answer: "@" not in str(answer),
        ),
        looks(
            "nothing goes in here; `survey` has a parameter",
            lambda answer: answer.parameter is None,
        ),
        looks(
            "one parameter alone goes in as it is: no angle brackets, no name",
            lambda answer: str(answer.parameter).startswith("<hours="),
        ),
        looks(
            "what goes in is held by the clients, and differs from one to the next",
            lambda answer: not str(answer.parameter).startswith("{"),
        ),
        looks(
            "each client has 24 readings, in one tensor",
            lambda answer: "float32[24]" not in str(answer.parameter),
        ),
        looks(
            "this is before the mean: the last line brings it to the server",
            lambda answer: "@CLIENTS" in str(answer.result),
        ),
        looks(
            "one struct is at the server; you wrote a struct of two placed values",
            lambda answer: str(answer.result).count("@SERVER") == 2,
        ),
        looks(
            "braces are for members that may differ, and there is one server",
            lambda answer: str(answer.result).startswith("{"),
        ),
        looks(
            "the mean of a struct is a struct, its fields named as before",
            lambda answer: "coldest=" not in str(answer.result),
        ),
        looks(
            "fields have an order, and `extremes` returns `coldest` first",
            lambda answer: str(answer.result).startswith("<warmest"),
        ),
        looks(
            "the coldest of 24 readings is one number: it has no shape",
            lambda answer: "[" in str(answer.result),
        ),
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
