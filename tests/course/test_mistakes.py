# SPDX-License-Identifier: Apache-2.0
"""A usual mistake is recognized on any input, and nothing else is."""

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.course.exercise import Attempt
from fedlearn_edu.course.mistakes import gives, looks, raises, returns, typed, usual


def test_mistake_is_known_by_what_it_gives() -> None:
    summed = gives(sum)
    assert summed.spotted(Attempt(None, ([1.0, 2.0],), got=np.float32(3.0)))
    assert summed.spotted(Attempt(None, ([5.0],), got=5))
    assert not summed.spotted(Attempt(None, ([1.0, 2.0],), got=1.5))


def test_mistake_that_the_inputs_do_not_allow_is_not_it() -> None:
    inverse = gives(lambda x: 1 / x)
    assert not inverse.spotted(Attempt(None, (0,), got=0.0))
    assert not inverse.spotted(Attempt(None, (), got=0.0))
    assert not inverse.spotted(Attempt(None, (2,), got=None))


def test_mistake_is_known_by_what_a_result_is_like() -> None:
    lost = returns(lambda got, numbers: len(got) < len(numbers))
    assert lost.spotted(Attempt(None, ([1, 2],), got=[1]))
    assert not lost.spotted(Attempt(None, ([1, 2],), got=[1, 2]))
    assert not lost.spotted(Attempt(None, ([1, 2],), got=3))
    assert not lost.spotted(Attempt(None, ([1, 2],), got=[], error=ValueError()))
    assert not lost.spotted(Attempt(None))


def test_error_is_not_a_result() -> None:
    anything = gives(lambda: 1)
    assert not anything.spotted(Attempt(None, (), got=1, error=ValueError()))


def test_mistake_is_known_by_its_type() -> None:
    mistake = typed("(int32 -> int32)", "(int64 -> int64)")
    for dtype, is_it in ((np.int32, True), (np.int64, True), (np.float32, False)):
        made = fl.np_computation(lambda x: x, dtype)
        assert mistake.spotted(Attempt(made)) == is_it
    assert not mistake.spotted(Attempt("no computation"))


def test_mistake_is_known_by_its_error() -> None:
    mistake = raises("NameError.*'x'")
    error = NameError("name 'x' is not defined")
    assert mistake.spotted(Attempt(None, error=error))
    assert not mistake.spotted(Attempt(None, error=NameError("name 'y'")))
    assert not mistake.spotted(Attempt(None, got="NameError 'x'"))


def test_mistake_is_known_by_its_looks() -> None:
    mistake = looks(lambda answer: len(answer) > 3)
    assert mistake.spotted(Attempt("long"))
    assert not mistake.spotted(Attempt("no"))
    assert not mistake.spotted(Attempt(3))


def test_each_mistake_has_its_own_signs() -> None:
    added, wrong = usual("you added", sum, "you erred", raises("Key"), raises("Index"))
    assert (added.says, wrong.says) == ("you added", "you erred")
    assert added.spotted(Attempt(None, ([1, 2],), got=3))
    for error in (KeyError(), IndexError()):
        assert wrong.spotted(Attempt(None, error=error))
        assert not added.spotted(Attempt(None, error=error))
    with pytest.raises(AssertionError, match="needs a sign"):
        usual("a mistake that nothing tells apart")
