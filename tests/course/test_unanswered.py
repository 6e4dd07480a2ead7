# SPDX-License-Identifier: Apache-2.0
"""The stand-in for an answer says what is missing, however it is used."""

import pytest

from fedlearn_edu.course.unanswered import Unanswered, UnansweredError


def test_stand_in_says_whose_answer_is_missing() -> None:
    assert repr(Unanswered("doubles")) == "<doubles: not answered yet>"
    assert not Unanswered("doubles")


def test_calling_it_says_what_to_do() -> None:
    with pytest.raises(UnansweredError, match="`doubles` has no answer yet") as caught:
        Unanswered("doubles")(1, more=2)
    assert "run that cell first" in (caught.value.do or "")
    assert isinstance(caught.value, RuntimeError)
