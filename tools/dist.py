# SPDX-License-Identifier: Apache-2.0
"""`make dist` tries the wheel as one who has nothing else: no clone, a new environment.

For Python 3.11, 3.12 and 3.13, those that are here: it is installed with what it needs,
in the newest versions; lessons are delivered, the doctor looks, the demo learns, and
lesson 01 runs, as released and with its solutions.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
LESSON = "01_hello/01_hello.ipynb"
NOT_ANSWERED = "is not answered yet"


def interpreter(version: str) -> str | None:
    """The command of this Python, among those of pyenv or on the path."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    return str(found[-1]) if found else shutil.which(f"python{version}")


def steps(python: str, wheel: Path, folder: Path) -> Iterator[list[str | Path]]:
    """The commands of a trial in `folder`, one after the other."""
    own, lessons = folder / "venv" / "bin", folder / "lessons"
    yield [python, "-m", "venv", folder / "venv"]
    yield [own / "python", "-m", "pip", "install", "--quiet", f"{wheel}[lab]"]
    yield [own / "fedlearn-edu", "start", lessons, "--no-lab"]
    yield [own / "fedlearn-edu", "doctor", "--deep"]
    short = ["--data", "digits28", "--rounds", "1"]
    yield [own / "fedlearn-edu", "demo", *short, "--out", folder / "demo"]
    for source, answered in ((lessons, False), (ROOT / "notebooks/source", True)):
        copy = folder / "lesson.ipynb"
        shutil.copy(source / LESSON, copy)
        yield [own / "jupyter", "execute", "--inplace", copy]
        if (NOT_ANSWERED in copy.read_text(encoding="utf-8")) == answered:
            without = "without" if answered else "with"
            raise SystemExit(f"{source / LESSON}: not {without} {NOT_ANSWERED!r}")


def run(command: list[str | Path], folder: Path) -> None:
    """Runs it in the folder, away from the clone; says what and how long."""
    left_out = ("PYTHONPATH", "FEDLEARN_EDU_DATA", "VIRTUAL_ENV")
    kept = {key: value for key, value in os.environ.items() if key not in left_out}
    private = {"PYTHONNOUSERSITE": "1", "FEDLEARN_EDU_PROGRESS": "off"}
    begin = time.monotonic()
    done = subprocess.run(
        command, cwd=folder, env=kept | private, capture_output=True, text=True
    )
    shown = " ".join(Path(word).name for word in command[:4])
    print(f"  {time.monotonic() - begin:5.0f} s  {shown}", flush=True)
    if done.returncode:
        raise SystemExit(f"{shown} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def main() -> None:
    """Tries the wheel in `dist` on these Pythons, or on all that are here."""
    (wheel,) = (ROOT / "dist").glob("*.whl")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB")
    found = {version: interpreter(version) for version in sys.argv[1:] or VERSIONS}
    if not any(found.values()):
        raise SystemExit(f"there is no Python {', '.join(found)} here")
    for version, python in found.items():
        print(f"Python {version}: {python or 'skipped, it is not here'}")
        if python:
            with tempfile.TemporaryDirectory() as folder:
                for step in steps(python, wheel, Path(folder)):
                    run(step, Path(folder))


if __name__ == "__main__":
    main()
