# SPDX-License-Identifier: Apache-2.0
"""Errors that teach: their parts, their classes, and what a notebook shows of them."""

import builtins
import inspect
import pickle
from typing import Any

import pytest

from fedlearn_edu import errors
from fedlearn_edu.errors import (
    FedLearnError,
    TypeMismatchError,
    TypeNotAssignableError,
    add_place,
    describe,
    short_traceback,
)

FULL = FedLearnError("wrong fruit", expected="apple", found="pear", where="x", do="swap")
CLASSES = [
    class_
    for _, class_ in inspect.getmembers(errors, inspect.isclass)
    if issubclass(class_, FedLearnError) and class_ is not FedLearnError
]


def test_an_error_has_four_labeled_parts() -> None:
    assert str(FULL).splitlines() == [
        "wrong fruit",
        "  expected: apple",
        "  found:    pear",
        "  where:    x",
        "  do:       swap",
    ]


def test_parts_that_are_not_known_are_left_out() -> None:
    assert str(FedLearnError("wrong fruit", do="swap")) == "wrong fruit\n  do:       swap"


def test_a_long_part_is_cut_in_its_middle() -> None:
    text = str(FedLearnError("long", found="a" * 500 + "z"))
    assert len(text) < 300
    assert "aaa … aaa" in text
    assert text.endswith("z")


def test_a_part_that_is_false_is_still_a_part() -> None:
    assert "found:    0" in str(FedLearnError("too few", found=0))


@pytest.mark.parametrize("class_", CLASSES, ids=lambda c: c.__name__)
def test_every_error_is_also_one_python_knows(class_: type) -> None:
    """A learner catches `TypeError` and gets it; nobody must learn our classes."""
    known = [
        base
        for base in class_.__mro__
        if vars(builtins).get(base.__name__) is base
        and base not in (object, Exception, BaseException)
    ]
    assert known, f"{class_.__name__} is a FedLearnError only"


@pytest.mark.parametrize(
    ("class_", "builtin"),
    [
        ("TypeMismatchError", TypeError),
        ("ArgumentsError", TypeError),
        ("TracingError", TypeError),
        ("StructureError", ValueError),
        ("ComputationReturnedNoneError", ValueError),
        ("CardinalityError", ValueError),
        ("ExecutorError", ValueError),
        ("InputRangeError", ValueError),
        ("ContextError", RuntimeError),
        ("ComputationFailedError", RuntimeError),
        ("UnsupportedIntrinsicError", NotImplementedError),
        ("EmptyGroupError", ZeroDivisionError),
        ("EmptyGroupError", RuntimeError),
    ],
)
def test_an_error_is_the_builtin_a_programmer_would_catch(
    class_: str, builtin: type[Exception]
) -> None:
    assert issubclass(getattr(errors, class_), builtin)


def test_an_error_survives_a_process_border() -> None:
    error = TypeNotAssignableError("no", expected=1, where="here")
    error.source_type = "int32"
    copy: Any = pickle.loads(pickle.dumps(error))
    assert type(copy) is TypeNotAssignableError
    assert (str(copy), copy.source_type) == (str(error), "int32")


def test_a_notebook_shows_your_line_and_the_message() -> None:
    def yours() -> None:
        raise TypeMismatchError("wrong fruit", do="swap")

    with pytest.raises(TypeMismatchError, match="wrong fruit") as caught:
        yours()
    caught.value.add_note("  at client 3")
    shown = caught.value._render_traceback_()
    assert shown[0].endswith('raise TypeMismatchError("wrong fruit", do="swap")')
    assert shown[1:] == [
        "TypeMismatchError: wrong fruit\n  do:       swap",
        "  at client 3",
    ]


def test_our_errors_leave_a_border_without_our_frames() -> None:
    def deep() -> None:
        raise TypeMismatchError("wrong fruit")

    border = short_traceback(deep)
    with pytest.raises(TypeMismatchError) as caught:
        border()
    names = [entry.name for entry in caught.traceback]
    assert "deep" not in names
    assert caught.value.__cause__ is None


def test_all_frames_are_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDLEARN_EDU_FULL_TRACEBACK", "1")

    def deep() -> None:
        raise TypeMismatchError("wrong fruit")

    border = short_traceback(deep)
    with pytest.raises(TypeMismatchError) as caught:
        border()
    assert "deep" in [entry.name for entry in caught.traceback]


def test_errors_of_others_pass_a_border_untouched() -> None:
    def deep() -> None:
        raise KeyError("mine")

    border = short_traceback(deep)
    with pytest.raises(KeyError) as caught:
        border()
    assert "deep" in [entry.name for entry in caught.traceback]


def test_a_border_keeps_name_and_documentation() -> None:
    def fruit() -> None:
        """Apples."""

    border = short_traceback(fruit)
    assert (border.__name__, border.__doc__) == ("fruit", "Apples.")


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (10, "an int: 10"),
        ("pear", "a str: 'pear'"),
        (float, "the class float"),
        (len, "the function len"),
        (object(), "an object"),
    ],
    ids=str,
)
def test_what_was_found_is_described_without_addresses(thing: Any, text: str) -> None:
    assert describe(thing) == text


def test_a_place_is_added_to_our_errors_and_noted_on_others() -> None:
    ours, theirs = FedLearnError("no"), KeyError("no")
    add_place(ours, "client 3")
    add_place(ours, "element 5")
    add_place(theirs, "client 3")
    assert ours.where == "client 3, element 5"
    assert theirs.__notes__ == ["  client 3"]
