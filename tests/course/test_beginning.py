# SPDX-License-Identifier: Apache-2.0
"""The first cell of a lesson: stand-ins for answers, and help after a restart."""

import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from fedlearn_edu.course import begin
from fedlearn_edu.course.beginning import lesson_named
from fedlearn_edu.course.exercise import Unanswered

RESTARTED = "if you restarted the kernel, run the cells above again"
_COLORS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """An IPython of its own, without history, in which a lesson began."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    # The shell takes the place of this module; AutoGraph looks into it for sources.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    config = Config({"HistoryManager": {"enabled": False}})
    shell: Any = InteractiveShell.instance(config=config)
    shell.run_cell(
        "from fedlearn_edu.course import begin, check\nbegin('01_hello', globals())"
    )
    yield shell
    InteractiveShell.clear_instance()


def test_answers_that_exist_stay_and_others_get_a_stand_in() -> None:
    answers: dict[str, Any] = {"average_of": "already written"}
    begin("01_hello", answers)
    assert answers["average_of"] == "already written"
    assert answers["share_warm"] == Unanswered("share_warm")
    assert len(answers) == len(lesson_named("01_hello").exercises)
    begin("01_hello", answers)
    assert answers["average_of"] == "already written"


def test_stand_in_says_that_an_answer_is_missing() -> None:
    assert repr(Unanswered("doubles")) == "<doubles: not answered yet>"
    assert not Unanswered("doubles")


def test_answer_whose_cell_fails_is_no_answer_any_more(shell: Any) -> None:
    """Or a check would judge the attempt before it, and nobody would know why."""
    shell.run_cell("average_of = 1")
    assert shell.user_ns["average_of"] == 1
    shell.run_cell("average_of = 1 / 0")
    assert shell.user_ns["average_of"] == Unanswered("average_of")
    shell.run_cell("@repr\ndef share_warm():\n    pass")
    shell.run_cell("begin('01_hello', globals())")
    shell.run_cell("@missing\ndef share_warm():\n    pass")
    assert shell.user_ns["share_warm"] == Unanswered("share_warm")


CHECK = "check.average_of(average_of)"
STUB = 'raise NotImplementedError("write your answer here")'
IN_A_BODY = (
    "import fedlearn_edu as fl, numpy as np\n\n@fl.{}\n"
    f"def average_of(x):\n    {STUB}"
)
FROM_ANOTHER = (
    "try:\n    raise NotImplementedError('of a library')\n"
    "except NotImplementedError as error:\n    cause = error\n"
    "average_of = 1\nraise ValueError('write tf.exp(x)') from cause"
)
# TensorFlow says so of NumPy's functions on its symbolic tensors.
SYMBOLIC = "average_of = 1\nraise NotImplementedError('numpy() of a tensor')"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["def average_of(:", CHECK], "got:          SyntaxError: invalid syntax"),
        (["def average_of(:", CHECK], "mend the cell of your answer"),
        (["average_of = fl.federated_mean([1.0])", CHECK], "NameError: name 'fl'"),
        ([FROM_ANOTHER, CHECK], "got:          ValueError: write tf.exp(x)"),
        ([SYMBOLIC, CHECK], "got:          NotImplementedError: numpy() of"),
        (["average_of = 1\nraise NotImplementedError()", CHECK], "is not answered yet"),
        ([CHECK], "not answered yet"),
        (["federated_mean([1.0])"], "do: write fl.federated_mean"),
        (["1 / 0"], "ZeroDivisionError"),
    ],
)
def test_cell_is_told_what_is_wrong(
    cells: list[str], said: str, shell: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    for cell in cells:
        done = shell.run_cell(cell)
    assert done.error_in_exec is not None
    out, err = _plain(capfd)
    assert said in out
    assert RESTARTED not in out or "NameError" in said
    assert err == ""


@pytest.mark.parametrize(
    "cell",
    [
        f"def average_of(x):\n    {STUB}\naverage_of(1)",
        IN_A_BODY.format("np_computation(np.float32)"),
        IN_A_BODY.format("federated_computation(fl.type_at_clients(np.float32))"),
    ],
)
def test_released_cell_shows_one_line(
    cell: str, shell: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    shell.run_cell(cell)
    assert _plain(capfd)[0].strip() == "not answered yet"
    assert shell.user_ns["average_of"] == Unanswered("average_of")
    assert shell.user_ns["average_of"].error is None


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("readings_of_nobody + 1", "NameError: name 'readings_of_nobody' is not"),
        ("def f():\n    return nothing_here\nf()", "return nothing_here"),
    ],
)
def test_name_that_is_not_defined_is_explained(
    cell: str, said: str, shell: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    shell.run_cell(cell)
    out, err = _plain(capfd)
    assert said in out
    assert (RESTARTED in out, err) == (True, "")


@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_one_forgotten_await_is_one_line(
    shell: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    shell.run_cell("async def f(): pass\nasync def g(): pass")
    shell.run_cell("for each in range(9): f(); g()")
    told = "RuntimeWarning: a coroutine was never awaited: is an `await` missing?\n"
    assert _plain(capfd)[0] == told
    shell.run_cell("for each in 'a': f()")
    assert told in _plain(capfd)[0]


def test_cell_that_only_uses_an_answer_may_fail(shell: Any) -> None:
    shell.run_cell("average_of = 1")
    shell.run_cell("share_warm = 1 / 0")
    assert shell.user_ns["share_warm"] == Unanswered("share_warm")
    shell.run_cell("average_of == 1 / 0")
    shell.run_cell("average_of = checkpoint('average_of', average_of); 1 / 0")
    assert shell.user_ns["average_of"] == 1


def test_warnings_of_a_lesson_do_not_go_to_stderr(
    shell: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        begin("01_hello", {})
        shell.run_cell("import warnings; warnings.warn('careful')")
    out, err = capfd.readouterr()
    assert "UserWarning: careful" in out
    assert err == ""


def _plain(capfd: pytest.CaptureFixture[str]) -> tuple[str, str]:
    out, err = capfd.readouterr()
    return _COLORS.sub("", out), err
