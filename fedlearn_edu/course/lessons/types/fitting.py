# SPDX-License-Identifier: Apache-2.0
"""Lesson 02: which type may stand where another is wanted."""

from typing import Any

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, raises


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
    mistakes=(
        gives(
            "you took only candidates that are the very same type; others fit, too",
            lambda wanted, candidates: [t for t in candidates if t == wanted],
        ),
        gives(
            "this is the wrong way round: ask the type that is wanted whether it is "
            "assignable from the candidate",
            lambda wanted, candidates: [
                type_ for type_ in candidates if type_.is_assignable_from(wanted)
            ],
        ),
        gives(
            "you took candidates that fit in either direction; one of them is wrong",
            lambda wanted, candidates: [
                t
                for t in candidates
                if wanted.is_assignable_from(t) or t.is_assignable_from(wanted)
            ],
        ),
        gives("these are truth values: return the types themselves", _all),
        gives(
            "this is how many fit; the types themselves are asked for",
            lambda wanted, candidates: sum(_all(wanted, candidates)),
        ),
        gives(
            "this is one that fits; a list of all of them is asked for",
            lambda wanted, candidates: _who_fits(wanted, candidates)[0],
        ),
        gives(
            "these are texts: return the types themselves",
            lambda wanted, candidates: list(map(str, _who_fits(wanted, candidates))),
        ),
        gives(
            "these are the ones that do not fit",
            lambda wanted, candidates: [
                t for t in candidates if not wanted.is_assignable_from(t)
            ],
        ),
        gives(
            "the same kind is not enough: dtype, shape and placement count as well",
            lambda wanted, candidates: [
                t for t in candidates if type(t) is type(wanted)
            ],
        ),
        gives(
            "a set has no order: return a list, in the order in which they came",
            lambda wanted, candidates: set(_who_fits(wanted, candidates)),
        ),
        raises(
            "these are types already, and no texts: ask `wanted` with its "
            "`is_assignable_from`",
            "parse_type reads text",
        ),
        raises(
            "check_assignable_from complains; `is_assignable_from` answers yes or no",
            "NotAssignable",
        ),
    ),
    hints=(
        "Go through the candidates, and keep one if the wanted type says yes to it.",
        "`wanted.is_assignable_from(candidate)` is True or False.",
        "Fill the gap:\n"
        "    def who_fits(wanted, candidates):\n"
        "        return [type_ for type_ in candidates if ...]",
    ),
)
