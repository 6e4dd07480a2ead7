# SPDX-License-Identifier: Apache-2.0
"""Errors that teach: their parts, their classes, and what a notebook shows of them."""

import builtins
import inspect
import json
import pickle
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import errors
from fedlearn_edu.errors import (
    FedLearnError,
    NotationError,
    TypeMismatchError,
    TypeNotAssignableError,
    counted,
    short_traceback,
)
from fedlearn_edu.signals import add_place
from fedlearn_edu.structure import check_names
from fedlearn_edu.types import parse_type

CLASSES = [
    class_
    for _, class_ in inspect.getmembers(errors, inspect.isclass)
    if issubclass(class_, FedLearnError) and class_ is not FedLearnError
]


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


def files_of(error: BaseException) -> list[str]:
    return [
        Path(frame.filename).name for frame in traceback.extract_tb(error.__traceback__)
    ]


def test_our_errors_leave_a_border_without_our_frames() -> None:
    with pytest.raises(NotationError) as caught:
        short_traceback(lambda: parse_type("<int32"))()
    assert set(files_of(caught.value)) == {"test_errors.py"}
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_all_frames_are_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDLEARN_EDU_FULL_TRACEBACK", "1")
    with pytest.raises(NotationError) as caught:
        short_traceback(lambda: parse_type("<int32"))()
    assert {"errors.py", "notation.py"} <= set(files_of(caught.value))


def test_an_error_of_a_library_keeps_the_frames_of_the_library() -> None:
    with pytest.raises(ValueError, match=r"not JSON|Expecting value") as caught:
        fl.federated_computation(lambda x: json.loads("not JSON"), np.int32)
    assert files_of(caught.value)[-1] == "decoder.py"


def test_an_error_of_ours_that_is_no_lesson_is_shown_whole() -> None:
    """A bug of the package must not hide where it is."""
    with pytest.raises(TypeError, match="not iterable") as caught:
        short_traceback(lambda: check_names(5))()  # type: ignore[arg-type]
    assert "structure.py" in files_of(caught.value)


def test_one_thing_is_not_several() -> None:
    told = [counted(n, "client") for n in (0, 1, 2, 1000)]
    assert told == ["0 clients", "1 client", "2 clients", "1,000 clients"]
    assert counted(1, "entry", "entries") == "1 entry"
    few = fl.simulation.ClientData(np.ones([1, 2]), [0], [[0]])
    assert repr(few).startswith("ClientData(1 client, 1 example, ")


def test_a_border_keeps_name_and_documentation() -> None:
    def fruit() -> None:
        """Apples."""

    border = short_traceback(fruit)
    assert (border.__name__, border.__doc__) == ("fruit", "Apples.")


def test_a_place_is_added_to_our_errors_and_noted_on_others() -> None:
    ours, theirs = FedLearnError("no"), KeyError("no")
    add_place(ours, "client 3")
    add_place(ours, "element 5")
    add_place(theirs, "client 3")
    assert ours.where == "client 3, element 5"
    assert theirs.__notes__ == ["  client 3"]
