# SPDX-License-Identifier: Apache-2.0
"""`fedlearn-edu doctor`: each trouble is found, named, and has a cure."""

import json
import os
import socket
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from fedlearn_edu.course import doctor, records, start
from fedlearn_edu.course.doctor import Finding, examine, verdict
from tests.programs import in_another_process


@pytest.fixture(autouse=True)
def lessons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two lessons, and a progress file; no port is asked of this machine."""
    release = tmp_path / "release"
    for name in ("01_hello", "02_types"):
        (release / name).mkdir(parents=True)
        (release / name / f"{name}.ipynb").write_text("{}")
    monkeypatch.setattr(start, "_PACKAGED", release)
    monkeypatch.setattr(doctor, "LAB_PORT", 0)
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.setenv(records.VARIABLE, str(tmp_path / "progress.json"))
    monkeypatch.setenv("FEDLEARN_EDU_DATA", str(tmp_path))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    return release


def one(tmp_path: Path, words: str, **options: Any) -> Finding:
    """The finding that has these words in it."""
    findings = list(examine(tmp_path, **options))
    [found] = [f for f in findings if words in f.found]
    return found


def pretend(monkeypatch: pytest.MonkeyPatch, name: str, version: str | None) -> None:
    """Lets a package have another version, or none."""
    real = metadata.version

    def told(package: str) -> str:
        if package != name:
            return real(package)
        if version is None:
            raise metadata.PackageNotFoundError(package)
        return version

    monkeypatch.setattr(metadata, "version", told)


def test_ready_machine_has_nothing_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the doctor must not connect")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    findings = list(examine(tmp_path / "new" / "deeper"))
    assert not (tmp_path / "new").exists()
    assert [f for f in findings if f.verdict != "ok"] == []
    assert [f for f in findings if f.do] == []
    assert verdict(findings) == "nothing stops you"
    said = "\n".join(map(str, findings))
    assert f"ok       Python {sys.version_info[0]}.{sys.version_info[1]}" in said
    assert "ok       2 lessons" in said
    assert "ok       data: the embedded digits, 1,797 images" in said


def test_nothing_is_left_behind_and_tensorflow_stays_away(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from fedlearn_edu.course import doctor;"
        "list(doctor.examine(Path(sys.argv[1])));"
        "print([m for m in ('tensorflow', 'keras', 'matplotlib') if m in sys.modules])"
    )
    before = sorted(tmp_path.rglob("*"))
    assert in_another_process(program, str(tmp_path)) == "[]\n"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("version", [(3, 10, 12), (3, 14, 0)])
def test_python_that_does_not_do_is_a_problem(
    version: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    found = doctor._python()
    assert found.verdict == "problem"
    assert found.do == "take Python 3.11, 3.12 or 3.13"


def test_packages_are_those_of_the_project_and_of_the_lab(tmp_path: Path) -> None:
    found = {finding.found.split()[0] for finding in examine(tmp_path)}
    assert {"numpy", "tensorflow", "ipywidgets", "jupyterlab"} <= found
    assert not found & {"pytest", "nbgrader", "dask"}


def test_every_requirement_of_the_project_is_understood() -> None:
    """One that is written differently would be passed over in silence."""
    written = metadata.requires("fedlearn-edu") or []
    written.append('tensorflow>=2.16.1; sys_platform != "emscripten"')
    assert [line for line in written if not doctor._NEEDED.match(line)] == []


@pytest.mark.parametrize(
    ("version", "words", "verdict"),
    [
        (None, "jupyterlab is not installed", "problem"),
        ("4.1.9", "jupyterlab 4.1.9 is too old", "problem"),
        ("", "jupyterlab  is too old", "problem"),
        ("4.2.0rc1", "jupyterlab 4.2.0rc1", "ok"),
        ("4.10", "jupyterlab 4.10", "ok"),
    ],
)
def test_missing_or_old_package_is_a_problem_with_a_command(
    version: str | None,
    words: str,
    verdict: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pretend(monkeypatch, "jupyterlab", version)
    found = one(tmp_path, words)
    assert found.verdict == verdict
    if verdict == "problem":
        assert found.do.endswith('-m pip install "jupyterlab>=4.2"')
        assert sys.executable in found.do


def kernel(folder: Path, command: str) -> None:
    """A kernel of the name that lessons ask for, where Jupyter looks first."""
    spec = {"argv": [command, "-m", "ipykernel"], "display_name": "x", "language": "p"}
    (folder / "kernels" / "python3").mkdir(parents=True)
    (folder / "kernels" / "python3" / "kernel.json").write_text(json.dumps(spec))


@pytest.mark.parametrize("is_a_link_to_the_same", [False, True])
def test_kernel_of_another_python_is_a_problem(
    is_a_link_to_the_same: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_a_link_to_the_same:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "python").symlink_to(sys.executable)
    kernel(tmp_path, str(tmp_path / "bin" / "python"))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    found = one(tmp_path, "notebooks start another Python")
    assert found.verdict == "problem"
    assert "jupyter kernelspec remove python3" in found.do
    assert str(tmp_path) in found.do


@pytest.mark.parametrize("command", ["python", sys.executable])
def test_kernel_of_this_python_is_fine(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel(tmp_path, command)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    assert doctor._kernel().verdict == "ok"


def test_missing_ipykernel_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda _: None)
    assert doctor._kernel().do == f"{sys.executable} -m pip install ipykernel"


def damaged_data(folder: Path, _: pytest.MonkeyPatch) -> None:
    (folder / "mnist.npz").write_bytes(b"torn")


def no_lessons(folder: Path, patch: pytest.MonkeyPatch) -> None:
    for place in ("_PACKAGED", "_REPOSITORY"):
        patch.setattr(start, place, folder / "nowhere")


def not_installed(_: Path, patch: pytest.MonkeyPatch) -> None:
    pretend(patch, "fedlearn-edu", None)


def root(_: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(os, "geteuid", lambda: 0, raising=False)


def occupied(folder: Path, _: pytest.MonkeyPatch) -> None:
    (folder / "occupied").write_text("")


@pytest.mark.parametrize(
    ("trouble", "words", "verdict", "cure"),
    [
        (damaged_data, "the MNIST file cannot be read", "problem", "delete it"),
        (no_lessons, "the lessons are not here", "problem", ""),
        (not_installed, "runs from its folder only", "problem", "pip install -e"),
        (occupied, "cannot be written into", "problem", "fedlearn-edu start FOLDER"),
        (root, "you are root", "note", " start FOLDER --allow-root"),
    ],
)
def test_trouble_is_named_with_its_cure(
    trouble: Any,
    words: str,
    verdict: str,
    cure: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trouble(tmp_path, monkeypatch)
    below = tmp_path / "occupied" / "deeper" if trouble is occupied else tmp_path
    found = one(below, words)
    assert found.verdict == verdict
    assert cure in found.do


def test_progress_that_cannot_be_kept_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "occupied").write_text("")
    monkeypatch.setenv(records.VARIABLE, str(tmp_path / "occupied" / "p.json"))
    findings = list(examine(tmp_path))
    assert [f.verdict for f in findings if f.verdict != "ok"] == ["note"]
    assert verdict(findings) == "nothing stops you (1 note)"
    monkeypatch.setenv(records.VARIABLE, "off")
    assert one(tmp_path, "your progress is not kept").verdict == "note"


def test_port_that_is_taken_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port: int = other.getsockname()[1]
        monkeypatch.setattr(doctor, "LAB_PORT", port)
        found = one(tmp_path, f"port {port} is taken")
    assert found.verdict == "note"
    assert "takes the next one" in found.do


@pytest.mark.parametrize(
    ("status", "out", "err", "said", "verdict"),
    [
        (1, "", "Traceback …\nImportError: no AVX\n", "ImportError: no AVX", "problem"),
        (-4, "", "", "exit status -4", "problem"),
        (0, "2.21.0 2.0\n", "a lot of noise", "TensorFlow 2.21.0 adds", "ok"),
    ],
)
def test_tensorflow_that_does_not_load_is_a_problem(
    status: int,
    out: str,
    err: str,
    said: str,
    verdict: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = subprocess.CompletedProcess([], status, out, err)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    found = one(tmp_path, said, deep=True)
    assert found.verdict == verdict
    assert ("pip install" in found.do) == (verdict == "problem")


@pytest.mark.tensorflow
@pytest.mark.slow
def test_tensorflow_is_really_asked(tmp_path: Path) -> None:
    assert one(tmp_path, "adds 1 and 1", deep=True).verdict == "ok"


def test_in_a_browser_there_is_nothing_to_look_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEDLEARN_EDU_PLATFORM", "emscripten")
    [found] = examine(tmp_path, deep=True)
    assert str(found).endswith("Python in a browser: there is nothing to look at")
