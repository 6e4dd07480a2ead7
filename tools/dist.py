# SPDX-License-Identifier: Apache-2.0
"""`make dist` tries the wheel as one who has nothing else: no clone, a new environment.

For Python 3.11, 3.12 and 3.13, those that are here: it is installed with what it needs,
in the newest versions; lessons are delivered, the doctor looks, the demo learns, and
lesson 01 runs, as released and with its solutions.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from fedlearn_edu.errors import FedLearnError

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
LESSON = "01_hello"
NOT_ANSWERED = "is not answered yet"


class TrialError(FedLearnError, RuntimeError):
    """The wheel does not do what it is for, where there is nothing but the wheel."""


def interpreter(version: str) -> str | None:
    """The command of this Python, on the path or among those of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [f"python{version}", *pyenv.glob(f"versions/{version}.*/bin/python")]
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    for each in map(shutil.which, map(str, candidates)):
        if each is None:
            continue
        command = [each, "-c", asked]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        if said.stdout.strip() == version:
            return each
    return None


def trial(python: str, wheel: Path, folder: Path) -> Iterator[str]:
    """Installs the wheel into a new environment in `folder`; a line for each step.

    Raises:
        TrialError: if a step fails.
    """
    own, lessons = folder / "venv" / "bin", folder / "lessons"
    notebook = lessons / LESSON / f"{LESSON}.ipynb"
    solved = ROOT / "notebooks" / "source" / LESSON / f"{LESSON}.ipynb"
    yield _timed(folder, python, "-m", "venv", folder / "venv")
    install = (own / "python", "-m", "pip", "install", "--quiet", f"{wheel}[lab]")
    yield _timed(folder, *install)
    yield _timed(folder, own / "fedlearn-edu", "start", lessons, "--no-lab")
    yield _timed(folder, own / "fedlearn-edu", "doctor", "--deep")
    short = ("--data", "digits28", "--rounds", "1", "--out", folder / "demo")
    yield _timed(folder, own / "fedlearn-edu", "demo", *short)
    for file, answered in ((notebook, False), (solved, True)):
        copy = folder / f"{file.parents[1].name}.ipynb"
        shutil.copy(file, copy)
        yield _timed(folder, own / "jupyter", "execute", "--inplace", copy)
        check_outputs(copy, answered=answered)


def check_outputs(notebook: Path, *, answered: bool) -> None:
    """Looks whether checks said that there is no answer; no other cell has failed.

    Raises:
        TrialError: if they should, and do not, or the other way round.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    said = json.dumps([cell.get("outputs") for cell in cells])
    if (NOT_ANSWERED in said) == answered:
        raise TrialError(
            "the lesson does not show what it should",
            expected=f"checks {'without' if answered else 'with'} {NOT_ANSWERED!r}",
            found=said[-2000:],
            where=str(notebook),
            do="run the lesson, and look at its checks",
        )


def _timed(folder: Path, *command: str | Path) -> str:
    """Runs a command in the folder, away from the clone; says what and how long."""
    private = {"PYTHONNOUSERSITE": "1", "FEDLEARN_EDU_PROGRESS": "off"}
    left_out = ("PYTHONPATH", "FEDLEARN_EDU_DATA", "VIRTUAL_ENV")
    kept = {key: value for key, value in os.environ.items() if key not in left_out}
    words, begin = [str(word) for word in command], time.monotonic()
    done = subprocess.run(
        words,
        cwd=folder,
        env=kept | private,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise TrialError(
            "a step of the trial failed",
            expected="exit status 0",
            found=f"{done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}",
            where=" ".join(words),
            do="mend it, and make dist",
        )
    shown = " ".join(Path(word).name for word in words[:4])
    return f"  {time.monotonic() - begin:5.0f} s  {shown}"


def main() -> int:
    """Tries the wheel in `dist` on these Pythons, or on all that are here."""
    (wheel,) = (ROOT / "dist").glob("*.whl")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB")
    found = {version: interpreter(version) for version in sys.argv[1:] or VERSIONS}
    for version, python in found.items():
        if python is None:
            print(f"Python {version}: skipped, it is not here")
            continue
        print(f"Python {version}: {python}")
        with tempfile.TemporaryDirectory() as folder:
            try:
                for line in trial(python, wheel, Path(folder)):
                    print(line, flush=True)
            except TrialError as error:
                print(error)
                return 1
    return 0 if any(found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
