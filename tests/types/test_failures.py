# SPDX-License-Identifier: Apache-2.0
"""Errors that are found again behind the text that a pipeline made of them."""

import pytest

from fedlearn_edu.types.failures import unwrapped, wrapped


def quoted(error: Exception) -> Exception:
    """What is left of an error after a pipeline has passed it on."""
    return RuntimeError(f"{{node}} UnknownError: {wrapped(error)} [Op:Next] name:")


def test_an_error_is_found_again_behind_its_quotation() -> None:
    original = KeyError("mine")
    assert unwrapped(quoted(original), "elsewhere") is original
    assert not hasattr(original, "__notes__")


def test_a_quotation_of_a_quotation_leads_to_the_first() -> None:
    original = KeyError("mine")
    assert unwrapped(quoted(unwrapped(quoted(original)))) is original


def test_the_text_still_says_what_went_wrong() -> None:
    assert "mine" in str(wrapped(ValueError("mine")))


@pytest.mark.parametrize("text", ["", "[fedlearn_edu failure 123456789] gone"])
def test_an_error_that_quotes_nothing_known_stays_as_it_is(text: str) -> None:
    error = RuntimeError(text)
    assert unwrapped(error) is error
    assert not hasattr(error, "__notes__")
    assert unwrapped(error, "in element 3") is error
    assert error.__notes__ == ["  in element 3"]


def test_errors_are_not_kept_forever() -> None:
    first = quoted(KeyError("first"))
    for number in range(200):
        wrapped(KeyError(number))
    assert unwrapped(first) is first
