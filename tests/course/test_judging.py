# SPDX-License-Identifier: Apache-2.0
"""Whatever an answer is or does, there is a verdict, and it is the right one.

The golden file has what learners read of each answer below.
"""

import re
import sys
from collections.abc import Callable
from typing import Any, Never

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Unanswered
from fedlearn_edu.course.feedback import as_html, as_text, summary
from fedlearn_edu.course.judging import judge
from fedlearn_edu.course.mistakes import usual
from fedlearn_edu.errors import FedLearnError, UnsupportedIntrinsicError
from tests.course.examples import doubles, right


class Unshowable:
    """Raises whatever one does with it."""

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise ValueError("no words")

    def __eq__(self, other: object) -> bool:
        raise ValueError("no comparison")

    @property
    def shape(self) -> Never:
        raise ValueError("no shape")

    def numpy(self) -> Never:
        raise ValueError("no numbers")

    def __call__(self, numbers: Any) -> "Unshowable":
        return self


class WordlessError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def fails(error: BaseException) -> Any:
    def answer(numbers: list[float]) -> Never:
        raise error

    return answer


def endless(numbers: Any) -> Any:
    return endless(numbers)


def gives(found: Any) -> Any:
    return lambda numbers: found


AT_DEFINITION = FedLearnError(
    "no fruit", expected="an apple", found="a pear", where="a b\n  ^", do="swap it"
)
REFUSED = UnsupportedIntrinsicError("no layer for it", do="add the layer")
THREE_ONES = {"reference": lambda: gives(np.ones(3))}
MARKUP: dict[str, Any] = {"cases": (Case("a <b> case", (["<i>"],)),), "title": "<u>"}

# What is handed in, and what differs from the exercise of `examples`.
ANSWERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "right": (right, {}),
    "right, one check": (right, {"cases": (), "title": "one check"}),
    "wrong": (lambda numbers: [n * n for n in numbers], {}),
    "wrong, and no usual mistake": (lambda numbers: numbers, {}),
    "another kind": ("text", {}),
    "none": (None, {}),
    "dots": (..., {}),
    "a stand-in": (Unanswered("doubles"), {}),
    "a stub": (fails(NotImplementedError()), {}),
    "an error at definition": (Unanswered("doubles", AT_DEFINITION), {}),
    "an error": (fails(NameError("name 'x' is not defined\nand more")), {}),
    "an error without words": (fails(WordlessError()), {}),
    "a refusal of a stack, no stub": (fails(REFUSED), {}),
    "leaves Python": (fails(SystemExit(3)), {}),
    "nothing returned": (gives(None), {}),
    "not read yet": (lambda numbers: (2 * n for n in numbers), {}),
    "no number": (lambda numbers: [np.nan] * len(numbers), {}),
    "another shape": (gives(np.ones([2, 2])), THREE_ONES),
    "a huge array": (gives(np.zeros([3000, 3000])), {}),
    "a huge list": (gives([0.0] * 1_000_000), {}),
    "an object": (gives(np.array([object(), 1], dtype=object)), {}),
    "unshowable": (Unshowable(), {}),
    "three unshowable": (lambda numbers: [Unshowable()] * 3, {}),
    "unshowable, and another kind": (Unshowable(), {"want": wants.value(int, "whole")}),
    "markup": (gives("<script>alert(1)</script>"), MARKUP),
    "markup as a class": (type("<img>", (), {})(), {}),
}


def test_verdicts_read_as_their_golden_file(golden: Callable[[str, str], None]) -> None:
    told = []
    for name, (answer, changes) in ANSWERS.items():
        verdict = judge(doubles(**changes), answer)
        html = as_html(verdict)
        assert not [t for t in ("<script", "<b>", "<i>", "<u>", "<img>") if t in html]
        assert verdict.is_right == name.startswith("right")
        told.append(f"--- {name}\n{as_text(verdict)}\n{summary(verdict)}")
    text = re.sub(r"line \d+ of", "line N of", "\n\n".join(told))
    golden("course/verdicts.txt", text)


def test_endless_recursion_is_an_error_like_others() -> None:
    failure = judge(doubles(), endless).failure
    assert failure is not None
    assert failure.got.startswith("RecursionError: ")


def test_reference_is_not_taken_for_an_answer() -> None:
    exercise = doubles()
    verdict = judge(exercise, exercise.solution)
    assert verdict.failure is not None
    assert "the checkpoint put it there" in verdict.failure.likely
    assert judge(exercise, exercise.reference()).is_right


def test_computation_of_the_checkpoint_is_not_your_own() -> None:
    """Not even where the reference is made once, and kept."""
    kept = fl.np_computation(lambda x: x, np.float32)
    exercise = doubles(
        want=wants.computation("(float32 -> float32)"),
        reference=lambda: kept,
        cases=(Case("one", (1.0,)),),
    )
    assert not judge(exercise, kept).is_right
    assert judge(exercise, fl.np_computation(lambda x: x, np.float32)).is_right


@pytest.mark.parametrize("only_one", [3, "text", fl.SERVER])
def test_answer_of_which_there_is_only_one_is_not_the_reference(only_one: Any) -> None:
    exercise = doubles(
        want=wants.value(type(only_one), "that"),
        reference=lambda: only_one,
        cases=(Case("is it", do=lambda answer: answer),),
    )
    assert judge(exercise, only_one).is_right


def test_answer_may_change_its_argument_and_spoils_nothing() -> None:
    def in_place(numbers: list[float]) -> list[float]:
        for position in range(len(numbers)):
            numbers[position] *= 2
        return numbers

    exercise = doubles()
    for _ in range(2):
        assert judge(exercise, in_place).is_right
    assert exercise.cases[0].arguments == ([1.0, 2.0, 3.0],)


def test_arrays_dicts_and_chance_are_handed_out_anew() -> None:
    def spoil(table: dict[str, Any], chance: np.random.Generator) -> float:
        table["x"] += chance.normal()
        return float(table["x"][0])

    arguments = ({"x": np.zeros(2)}, np.random.default_rng(3))
    exercise = doubles(
        want=wants.function(2),
        reference=lambda: lambda table, chance: float(chance.normal()),
        cases=(Case("a table", arguments), Case("again", arguments)),
    )
    for _ in range(2):
        assert judge(exercise, spoil).is_right
    assert arguments[0]["x"].tolist() == [0.0, 0.0]


def test_what_an_answer_prints_stays_and_nothing_goes_to_stderr(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def loud(numbers: list[float]) -> list[float]:
        sys.stdout.write("hello\n")
        sys.stderr.write("careful\n")
        return right(numbers)

    assert judge(doubles(), loud).is_right
    assert capfd.readouterr() == ("hello\ncareful\n" * 2, "")


def test_usual_mistakes_are_tried_in_silence() -> None:
    noisy = usual("the log of nothing", lambda numbers: np.log(np.zeros(1)))
    failure = judge(doubles(mistakes=noisy), lambda numbers: [0.5]).failure
    assert failure is not None
    assert failure.likely == ""
