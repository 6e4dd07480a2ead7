# SPDX-License-Identifier: Apache-2.0
"""A usual mistake is recognized on any input, and nothing else is."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.course.exercise import Attempt, Sign
from fedlearn_edu.course.mistakes import gives, looks, raises, returns, typed, usual

SUMMED, INVERSE = gives(sum), gives(lambda x: 1 / x)
LOST = returns(lambda got, numbers: len(got) < len(numbers))
WHOLE = typed("(int32 -> int32)", "(int64 -> int64)")
UNDEFINED, LONG = raises("name 'x'"), looks(lambda answer: len(answer) > 3)


def of(dtype: Any) -> Any:
    return fl.np_computation(lambda x: x, dtype)


@pytest.mark.parametrize(
    ("sign", "attempt", "is_it"),
    [
        (SUMMED, Attempt(None, ([1.0, 2.0],), got=np.float32(3.0)), True),
        (SUMMED, Attempt(None, ([5.0],), got=5), True),
        (SUMMED, Attempt(None, ([1.0, 2.0],), got=1.5), False),
        (SUMMED, Attempt(None, ([5.0],), got=5, error=ValueError()), False),
        # A formula that these inputs do not allow, or no result at all.
        (INVERSE, Attempt(None, (0,), got=0.0), False),
        (INVERSE, Attempt(None, (), got=0.0), False),
        (INVERSE, Attempt(None, (2,), got=None), False),
        (LOST, Attempt(None, ([1, 2],), got=[1]), True),
        (LOST, Attempt(None, ([1, 2],), got=[1, 2]), False),
        (LOST, Attempt(None, ([1, 2],), got=3), False),
        (LOST, Attempt(None, ([1, 2],), got=[], error=ValueError()), False),
        (LOST, Attempt(None), False),
        (WHOLE, Attempt(of(np.int32)), True),
        (WHOLE, Attempt(of(np.int64)), True),
        (WHOLE, Attempt(of(np.float32)), False),
        (WHOLE, Attempt("no computation"), False),
        (UNDEFINED, Attempt(None, error=NameError("name 'x' is not here")), True),
        (UNDEFINED, Attempt(None, error=NameError("name 'y'")), False),
        (UNDEFINED, Attempt(None, got="name 'x'"), False),
        (LONG, Attempt("long"), True),
        (LONG, Attempt("no"), False),
        (LONG, Attempt(3), False),
    ],
)
def test_sign_fits_its_mistake_and_no_other(
    sign: Sign, attempt: Attempt, is_it: bool
) -> None:
    assert sign.spotted(attempt) == is_it


def test_each_mistake_has_its_own_signs() -> None:
    added, wrong = usual("you added", sum, "you erred", raises("Key"), raises("Index"))
    assert (added.says, wrong.says) == ("you added", "you erred")
    assert added.spotted(Attempt(None, ([1, 2],), got=3))
    for error in (KeyError(), IndexError()):
        assert wrong.spotted(Attempt(None, error=error))
        assert not added.spotted(Attempt(None, error=error))
    with pytest.raises(AssertionError, match="needs a sign"):
        usual("a mistake that nothing tells apart")
