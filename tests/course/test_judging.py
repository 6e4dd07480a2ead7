# SPDX-License-Identifier: Apache-2.0
"""Whatever an answer is or does, there is a verdict, and it is the right one."""

import sys
from typing import Any, Never

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Failure, Unanswered
from fedlearn_edu.course.feedback import as_html, as_text
from fedlearn_edu.course.judging import judge
from fedlearn_edu.course.mistakes import usual
from fedlearn_edu.errors import FedLearnError, UnsupportedIntrinsicError
from tests.course.examples import doubles, right


def failure(answer: Any, **changes: Any) -> Failure:
    """The first failure of an answer, which can be shown in both forms."""
    verdict = judge(doubles(**changes), answer)
    assert as_text(verdict)
    assert as_html(verdict)
    assert verdict.failure is not None
    return verdict.failure


def test_wrong_answer_is_told_what_was_tried_and_why_it_failed() -> None:
    assert failure(lambda numbers: [n * n for n in numbers]) == Failure(
        inputs="doubles([1.0, 2.0, 3.0])",
        expected="[2.0, 4.0, 6.0]",
        got="[1.0, 4.0, 9.0]",
        likely="you squared",
    )


def test_wrong_kind_of_answer_is_not_called() -> None:
    rows = judge(doubles(), "text").rows
    assert [row.outcome for row in rows] == ["failed", "not run", "not run"]


def released(numbers: Any) -> Never:
    raise NotImplementedError


@pytest.mark.parametrize("answer", [None, ..., Unanswered("doubles"), released])
def test_missing_answer_is_not_answered_yet(answer: Any) -> None:
    assert "`doubles` is not answered yet" in failure(answer).do
    verdict = judge(doubles(), answer)
    assert {row.outcome for row in verdict.rows} == {"not run"}
    first, line = as_text(verdict).splitlines()
    assert first == "doubles: twice each number"
    assert line == failure(answer).do
    assert "<tr>" not in as_html(verdict)


def test_error_at_definition_says_all_that_it_has_to_say() -> None:
    error = FedLearnError(
        "no fruit", expected="an apple", found="a pear", where="a b\n  ^", do="swap it"
    )
    text = as_text(judge(doubles(), Unanswered("doubles", error)))
    assert text.splitlines()[5:-1] == [
        "  expected:     an apple",
        "  got:          FedLearnError: no fruit; swap it",
        "  found:        a pear",
        "  where:        a b",
        "                  ^",
        "  do:           mend the cell of your answer, and run it until it shows no "
        "error; then run this one",
    ]


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


def undefined(numbers: list[float]) -> Never:
    raise NameError("name 'x' is not defined\nand more")


def endless(numbers: Any) -> Any:
    return endless(numbers)


class WordlessError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def wordless(numbers: Any) -> Never:
    raise WordlessError


def refused(numbers: list[float]) -> Never:
    raise UnsupportedIntrinsicError("no layer for it", do="add the layer")


@pytest.mark.parametrize(
    ("answer", "got", "likely"),
    [
        (lambda numbers: None, "", "nothing came back: is there a `return`?"),
        (lambda numbers: (n for n in numbers), "", "put `list(…)` around it"),
        (lambda numbers: [np.nan] * 3, "", "was something divided by zero?"),
        (undefined, "NameError: name 'x' is not defined", "`x` is not the name here"),
        (endless, "RecursionError: ", ""),
        (lambda numbers: sys.exit(3), "SystemExit: 3", ""),
        # A `NotImplementedError`, too, and not a cell that was left open.
        (refused, "UnsupportedIntrinsicError: no layer for it; add the layer", ""),
        (wordless, "WordlessError", ""),
        ("text", "a str: 'text'", ""),
    ],
)
def test_any_wrong_answer_is_told_what_came_and_why(
    answer: Any, got: str, likely: str
) -> None:
    found = failure(answer)
    assert found.got.startswith(got)
    assert "\n" not in found.got
    assert likely in found.likely
    assert "not answered yet" not in found.do


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


def test_shapes_that_differ_are_compared_in_words() -> None:
    found = failure(
        lambda numbers: np.ones([2, 2]), reference=lambda: lambda numbers: np.ones(3)
    )
    assert found.likely == "the shape is (2, 2), and should be (3,)"


def test_huge_results_are_shown_shortened() -> None:
    for huge in (np.zeros([3000, 3000]), [0.0] * 1_000_000):
        assert len(failure(lambda numbers, huge=huge: huge).got) <= 160


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


def test_objects_that_cannot_be_shown_or_compared_are_wrong_answers() -> None:
    assert failure(Unshowable()).got == "an object of the class Unshowable"
    assert failure(lambda numbers: [Unshowable()] * 3).got
    found = failure(Unshowable(), want=wants.value(int, "a whole number"))
    assert found.got == "an object of the class Unshowable"


def test_addresses_are_left_out() -> None:
    found = failure(lambda numbers: np.array([object(), 1], dtype=object))
    assert "0x" not in found.got


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
    assert failure(lambda numbers: [0.5], mistakes=noisy).likely == ""
