# SPDX-License-Identifier: Apache-2.0
"""`fedlearn-edu doctor`: each trouble is found, named, and has a cure."""

import json
import socket
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from fedlearn_edu.course import doctor, start
from fedlearn_edu.course.doctor import Finding, examine, verdict
from tests.programs import in_another_process

Trouble = Callable[[Path, pytest.MonkeyPatch], object]


@pytest.fixture(autouse=True)
def lessons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two lessons, and no data."""
    release = tmp_path / "release"
    for name in ("01_hello", "02_types"):
        (release / name).mkdir(parents=True)
        (release / name / f"{name}.ipynb").write_text("{}")
    monkeypatch.setattr(start, "_PACKAGED", release)
    monkeypatch.setenv("FEDLEARN_EDU_DATA", str(tmp_path))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    return release


def one(words: str) -> Finding:
    """The finding that has these words in it."""
    [found] = [f for f in examine() if words in f.found]
    return found


def test_ready_machine_has_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the doctor must not connect")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    findings = list(examine())
    assert [f for f in findings if f.verdict != "ok" or f.do] == []
    assert verdict(findings) == "nothing stops you"
    said = "\n".join(map(str, findings))
    assert f"ok       Python {sys.version_info[0]}.{sys.version_info[1]}" in said
    assert "ok       2 lessons" in said
    assert "ok       data: the embedded digits, 1,797 images" in said
    packages = {finding.found.split()[0] for finding in findings}
    assert {"numpy", "tensorflow", "ipywidgets", "jupyterlab"} <= packages
    assert not packages & {"pytest", "nbgrader", "dask"}


def test_tensorflow_stays_away() -> None:
    program = (
        "import sys; from fedlearn_edu.course import doctor; list(doctor.examine());"
        "print([m for m in ('tensorflow', 'keras', 'matplotlib') if m in sys.modules])"
    )
    assert in_another_process(program) == "[]\n"


def test_every_requirement_of_the_project_is_understood() -> None:
    """One that is written differently would be passed over in silence."""
    written = metadata.requires("fedlearn-edu") or []
    written.append('tensorflow>=2.16.1; sys_platform != "emscripten"')
    assert [line for line in written if not doctor._NEEDED.match(line)] == []


# ------------------------------------------------------------------ troubles


@pytest.mark.parametrize("version", [(3, 10, 12), (3, 14, 0)])
def test_python_that_does_not_do_is_a_problem(
    version: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    found = doctor._python()
    assert (found.verdict, found.do) == ("problem", "take Python 3.11, 3.12 or 3.13")


def version(name: str, version: str | None) -> Trouble:
    """A package has another version, or is not there."""
    real = metadata.version

    def told(package: str) -> str:
        if package == name and version is None:
            raise metadata.PackageNotFoundError(package)
        return str(version) if package == name else real(package)

    return lambda _, patch: patch.setattr(metadata, "version", told)


def kernel(command: str, *, is_linked: bool = False) -> Trouble:
    """A kernel of the name that lessons ask for, where Jupyter looks first."""

    def install(folder: Path, patch: pytest.MonkeyPatch) -> None:
        python = command.format(folder=folder)
        if is_linked:
            (folder / "bin").mkdir()
            Path(python).symlink_to(sys.executable)
        spec = {"argv": [python, "-m", "ipykernel"], "display_name": "x"}
        (folder / "kernels" / "python3").mkdir(parents=True)
        file = folder / "kernels" / "python3" / "kernel.json"
        file.write_text(json.dumps(spec | {"language": "p"}))
        patch.setenv("JUPYTER_PATH", str(folder))

    return install


def no_kernel(_: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(doctor, "find_spec", lambda _: None)


def torn_data(folder: Path, _: pytest.MonkeyPatch) -> None:
    (folder / "mnist.npz").write_bytes(b"torn")


def no_lessons(folder: Path, patch: pytest.MonkeyPatch) -> None:
    for place in ("_PACKAGED", "_REPOSITORY"):
        patch.setattr(start, place, folder / "nowhere")


OLD_LAB = '-m pip install "jupyterlab>=4.2"'
OTHER = "notebooks start another Python"
REMOVE = "jupyter kernelspec remove python3"


@pytest.mark.parametrize(
    ("trouble", "words", "verdict", "cure"),
    [
        (version("jupyterlab", None), "jupyterlab is not inst", "problem", OLD_LAB),
        (version("jupyterlab", "4.1.9"), "4.1.9 is too old", "problem", OLD_LAB),
        (version("jupyterlab", ""), "jupyterlab  is too old", "problem", OLD_LAB),
        (version("jupyterlab", "4.2.0rc1"), "jupyterlab 4.2.0rc1", "ok", ""),
        (version("jupyterlab", "4.10"), "jupyterlab 4.10", "ok", ""),
        (version("fedlearn-edu", None), "its folder only", "problem", "install -e"),
        (kernel("{folder}/bin/python"), OTHER, "problem", REMOVE),
        (kernel("{folder}/bin/python", is_linked=True), OTHER, "problem", REMOVE),
        (kernel("python"), "start this Python", "ok", ""),
        (kernel(sys.executable), "start this Python", "ok", ""),
        (
            no_kernel,
            "ipykernel",
            "problem",
            f"{sys.executable} -m pip install ipykernel",
        ),
        (torn_data, "the MNIST file cannot be read", "problem", "delete it"),
        (no_lessons, "the lessons are not here", "problem", ""),
    ],
)
def test_trouble_is_named_with_its_cure(
    trouble: Trouble,
    words: str,
    verdict: str,
    cure: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trouble(tmp_path, monkeypatch)
    found = one(words)
    assert found.verdict == verdict
    assert cure in found.do


def test_in_a_browser_there_is_nothing_to_look_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FEDLEARN_EDU_PLATFORM", "emscripten")
    [found] = examine()
    assert str(found).endswith("Python in a browser: there is nothing to look at")
