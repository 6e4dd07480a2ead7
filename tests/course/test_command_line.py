# SPDX-License-Identifier: Apache-2.0
"""`fedlearn-edu start`, `progress` and `doctor`: what they print, and how they end."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fedlearn_edu.__main__ import main
from fedlearn_edu.course import doctor, records, start
from fedlearn_edu.course.doctor import Finding
from tests.course.examples import LESSONS
from tests.patience import PATIENCE_S

Run = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def small_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lesson to copy, and two to have progress in; nothing opens."""
    lesson = tmp_path / "release" / "01_hello" / "01_hello.ipynb"
    lesson.parent.mkdir(parents=True)
    lesson.write_text("{}")
    monkeypatch.setattr(start, "_PACKAGED", tmp_path / "release")
    monkeypatch.setattr("fedlearn_edu.course.lessons.load_all", lambda: LESSONS)
    monkeypatch.setenv(records.VARIABLE, str(tmp_path / "progress.json"))
    monkeypatch.setattr(start, "open_lab", lambda *_: pytest.fail("it opened"))
    monkeypatch.setattr(start, "command", lambda: "fedlearn-edu")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command; gives its status, and what it says or complains of."""

    def run(*arguments: object) -> tuple[int, str]:
        status = main(list(map(str, arguments)))
        printed = capsys.readouterr()
        if status == 2:
            assert (printed.out, printed.err.count("\n")) == ("", 1)
            return status, printed.err
        assert printed.err == ""
        return status, printed.out

    return run


@pytest.mark.parametrize(
    ("arguments", "folder", "options"),
    [
        ([], "fedlearn-lessons", ()),
        (["--port=8890"], "fedlearn-lessons", ["--port=8890"]),
        (["mine", "--port", "8890", "-y"], "mine", ["--port", "8890", "-y"]),
    ],
)
def test_start_copies_and_opens_jupyterlab_on_the_folder(
    arguments: list[str],
    folder: str,
    options: Sequence[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Run,
) -> None:
    opened: list[Any] = []

    def open_lab(*asked: Any) -> int:
        opened.append(asked)
        return 0

    monkeypatch.setattr(start, "open_lab", open_lab)
    monkeypatch.chdir(tmp_path)
    assert run("start", *arguments) == (
        0,
        f"01_hello/01_hello.ipynb: new\n1 file in {folder}\n"
        f"Next time: fedlearn-edu start {folder}; "
        "also: fedlearn-edu progress, fedlearn-edu doctor\n",
    )
    assert opened == [(Path(folder), options)]
    assert Path(folder, "01_hello/01_hello.ipynb").is_file()


def test_command_is_named_as_it_can_be_typed_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    script = tmp_path / "bin" / "fedlearn-edu"
    script.parent.mkdir()
    script.touch(0o755)
    monkeypatch.setattr(sys, "executable", str(script.with_name("python")))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "nowhere")
    assert start.command() == os.path.join("bin", "fedlearn-edu")
    monkeypatch.setenv("PATH", str(script.parent))
    assert start.command() == "fedlearn-edu"
    script.unlink()
    assert start.command() == f"{sys.executable} -m fedlearn_edu"


@pytest.mark.parametrize(
    ("user", "options", "is_explained"),
    [(0, [], True), (0, ["--allow-root"], False), (1000, [], False)],
)
def test_jupyterlab_that_fails_is_told_and_root_how_to_go_on(
    user: int,
    options: list[str],
    is_explained: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Run,
) -> None:
    monkeypatch.setattr(start, "open_lab", lambda *_: 7)
    monkeypatch.setattr(os, "geteuid", lambda: user, raising=False)
    status, said = run("start", tmp_path / "mine", *options)
    last = said.splitlines()[-1]
    assert (status, last[:31]) == (1, "JupyterLab ended with status 7.")
    assert ("make lab LAB_ARGS=--allow-root" in last) == is_explained
    monkeypatch.setattr("fedlearn_edu.__main__.find_spec", lambda _: None)
    status, said = run("start", tmp_path / "mine")
    assert (status, said.splitlines()[-1]) == (1, start.NO_LAB)
    assert f"{sys.executable} -m pip install jupyterlab, or" in start.NO_LAB


def test_progress_is_printed(tmp_path: Path, run: Run) -> None:
    records.note_check("say_hello", True)
    assert "1 of 3 exercises done, 5 of 30 points." in run("progress")[1]
    (tmp_path / "occupied").write_text("mine")
    status, said = run("start", tmp_path / "occupied", "--no-lab")
    assert status == 2
    assert "name another one: fedlearn-edu start FOLDER" in said


@pytest.mark.parametrize(
    ("verdicts", "status", "last"),
    [
        (["ok", "ok"], 0, "nothing stops you"),
        (["problem", "ok"], 1, "1 problem to solve first"),
        (["problem", "problem"], 1, "2 problems to solve first"),
    ],
)
def test_doctor_says_whether_something_stops_you(
    verdicts: list[doctor.Verdict],
    status: int,
    last: str,
    monkeypatch: pytest.MonkeyPatch,
    run: Run,
) -> None:
    found = [Finding(verdict, found="x", do="y") for verdict in verdicts]
    monkeypatch.setattr(doctor, "examine", lambda *_, **__: iter(found))
    ended, said = run("doctor")
    assert (ended, said.splitlines()[-1]) == (status, last)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("start here there", "unrecognized arguments: there"),
        ("start --no-lab --port=1", "unrecognized arguments: --port=1"),
        ("progress --html", "unrecognized arguments: --html"),
        ("demo --rounds 0", "'0' is not a whole number of at least 1"),
        ("demo --rounds many", "'many' is not a whole number"),
        ("demo --seed -1", "'-1' is not a whole number of at least 0"),
        ("demo --data fashion_mnist", "invalid choice: 'fashion_mnist'"),
        ("dance", "invalid choice: 'dance'"),
    ],
)
def test_bad_arguments_get_one_line(
    arguments: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments.split())
    printed = capsys.readouterr()
    assert stopped.value.code == 2
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert said in printed.err
    assert "--help" in printed.err


@pytest.mark.parametrize("command", ["start", "progress", "doctor", "demo"])
def test_help_is_there_for_every_command(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    assert capsys.readouterr().out.startswith("usage: ")


def test_name_in_messages_is_the_one_that_was_typed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for typed, said in (
        ("/somewhere/bin/fedlearn-edu", "usage: fedlearn-edu "),
        ("/somewhere/fedlearn_edu/__main__.py", "usage: python -m fedlearn_edu "),
    ):
        monkeypatch.setattr(sys, "argv", [typed])
        assert main([]) == 0
        assert capsys.readouterr().out.startswith(said)


def test_reader_who_leaves_early_is_no_error() -> None:
    run = subprocess.Popen(
        [sys.executable, "-m", "fedlearn_edu", "doctor"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert run.stdout is not None
    assert b"Python" in run.stdout.readline()
    run.stdout.close()
    assert run.stderr is not None
    with run.stderr:
        assert run.stderr.read() == b""
    assert run.wait(PATIENCE_S) == 0


INTERRUPTED = """
import sys
from fedlearn_edu.course import start
from pathlib import Path
sys.executable = sys.argv[1]  # stands for JupyterLab: asks once, ends the second time
print(start.open_lab(Path()), flush=True)
"""

LAB = """#!{python}
import signal, sys, time
asked = []
def ask(*_):
    asked.append(1)
    print("stop?" if len(asked) == 1 else "stopped", flush=True)
    if len(asked) == 2:
        sys.exit(3)
signal.signal(signal.SIGINT, ask)
print("serving", flush=True)
while True:
    time.sleep(0.05)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals go to groups of processes")
def test_ctrl_c_is_left_to_jupyterlab(tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    lab.write_text(LAB.format(python=sys.executable))
    lab.chmod(0o755)
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(lab)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        assert run.stdout.readline() == "serving\n"
        for said in ("stop?\n", "stopped\n"):
            os.killpg(run.pid, signal.SIGINT)
            assert run.stdout.readline() == said
        # `communicate` would lose what came along with a line.
        assert (run.stdout.read(), run.stderr.read()) == ("3\n", "")
