# SPDX-License-Identifier: Apache-2.0
"""Slips of Python and NumPy are named in any lesson, after its own mistakes."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.judging import judge
from fedlearn_edu.course.mistakes import raises, usual

LIST, ARRAY, PAIR = [0.25, 0.5], np.array([0.25, 0.5]), OrderedDict(bias=1.0)


def told(answer: Any, solution: Callable[..., Any], **more: Any) -> str:
    failure = judge(
        Exercise(
            name="mean",
            title="",
            points=1,
            want=wants.function(2),
            reference=lambda: solution,
            cases=(Case("two numbers", (ARRAY, 3)),),
            **more,
        ),
        answer,
    ).failure
    return failure.likely if failure else "right"


def answer_of(body: str) -> Any:
    """A function of the body, where it is written: as an expression, or in full."""
    names: dict[str, Any] = {"np": np, "LIST": LIST, "ARRAY": ARRAY, "PAIR": PAIR}
    text = body if body.startswith("def ") else f"def f(x, n): return {body}"
    exec(text, names)
    return names["f"]


ERRORS = [
    ("x.sort()[0]", "something is `None` here"),
    ("np.round[x]", "round brackets call a function"),
    ("x.mean - 1", "a function is where its result is needed"),
    ("max([1, 2], lambda t: t)", "`key=…`"),
    ("n(x)", "is a `*` missing"),
    ("x(n)", "in square ones"),
    ("f(x, n)", "the function calls itself"),
    ("def f(x, n): total += n", "`total` is read before it has a value"),
    ("PAIR.bias", '`["bias"]`'),
    ("n.shape", "one number has no `.shape`"),
    ("x**0.5 ^ n", "a power is `**`"),
    ("LIST / n", "make it an array"),
    ("np.concatenate(x, x)", "several arrays are one list"),
    ("float(x)", "one number is needed, and this is an array"),
    ("max(x, 2 * x, key=lambda t: t)", "for a whole array"),
    ("x.sum(axis=1)", "there is no axis 1: this array has 1"),
    ("x + np.ones(3)", "the shapes (2,) and (3,) do not fit"),
    ("np.eye(3) @ x", "rows of the first"),
    ("np.where(x > 1, x)", "takes three things"),
    ("range(n / 2)", "whole numbers only"),
    ("x[n]", "axis 0 has 2 entries here"),
    ("x[0.5]", "a position is a whole number"),
    ("x[:0.5]", "the ends of a slice"),
    ("PAIR['b']", "there is no entry 'b' here"),
    ("np.split(x, 3)", "np.array_split"),
    ("x.count(1)", "an array has no `.count`"),
    ("LIST[n]", "the list is shorter"),
    ("[a for a, b in [n]]", "as many values"),
    ("sum(n)", "one number is where several are needed"),
    ("max(x[x > n])", "nothing is left to choose from"),
    ("federated_mean(x)", "write `fl.federated_mean`"),
    ("np.ln(x)", "in NumPy it is `np.log`"),
    ("np.nothing(x)", "NumPy has no `nothing`"),
    ("x.norm()", "write `np.linalg.norm(…)`"),
    ("LIST.mean()", "only an array has `.mean`"),
    ("sqrt(n)", "write `np.sqrt`"),
    ("mean(x)", "or of placed values `fl.federated_mean`"),
    ("x.reshape(3, 3)", "there are 2 numbers here"),
    ("np.mod(x)", "`remainder` is called with too few"),
    ("math.pi", "is not imported"),
    ("(lambda k: k + q)(n)", "`q` here: the function has `k`"),
    ("x / k", "`k` here: the function has `x`, `n`"),
    ('open("/no/such/file")', ""),
]


@pytest.mark.parametrize(("answer", "says"), ERRORS, ids=[e[1] for e in ERRORS])
def test_an_error_is_explained(answer: str, says: str) -> None:
    found = told(answer_of(answer), lambda x, n: x / n)
    assert says in found
    assert bool(says) == bool(found)


RESULTS = [
    ("x.mean", "a function, not its result"),
    ("(x / n,)", "a comma at the end"),
    ("-x / n", "the opposite sign"),
    ("100 * x / n", "is it in per cent?"),
    ("(x / n).round(2)", "this is rounded"),
    ("(x / n)[::-1]", "in another order"),
    ("x / n / 4", "0.25 times what is asked for"),
    ("(x / n) ** 2", "the square of what is asked for"),
    ("(x / n) ** 0.5", "the root of what is asked for"),
    ("0.7", "this is the same for all arguments"),
    ("n + ARRAY", "`ARRAY` is the lesson's"),
    ("np.array([n + ARRAY[0] for _ in x])", "`ARRAY` is the lesson's"),
    ("x + n", ""),
]


@pytest.mark.parametrize(("answer", "says"), RESULTS, ids=[r[1] for r in RESULTS])
def test_a_result_is_compared_with_the_right_one(answer: str, says: str) -> None:
    found = told(answer_of(answer), lambda x, n: x / n)
    assert says in found
    assert bool(says) == bool(found)


def test_a_result_is_compared_with_the_arguments() -> None:
    assert "this is `x` as it came in" in told(lambda x, n: x, lambda x, n: x**2 + n)


@pytest.mark.parametrize(
    ("got", "wanted", "says"),
    [
        (4.0, 2.0, ""),
        (0.4, 0.35, ""),
        (0.33, 1 / 3, "this is"),
        (ARRAY, 2.0, "one num"),
    ],
)
def test_one_number_is_compared_with_care(got: Any, wanted: float, says: str) -> None:
    found = told(lambda x, n: n - 3 + got, lambda x, n: np.float64(wanted))
    assert found.startswith(says)
    assert bool(found) == bool(says)


def test_mistakes_of_the_exercise_come_first() -> None:
    mistakes = usual("an array has its own", raises("NoneType"))
    answer = told(lambda x, n: x.sort()[0], lambda x, n: x, mistakes=mistakes)
    assert answer == "an array has its own"
