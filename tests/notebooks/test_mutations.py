# SPDX-License-Identifier: Apache-2.0
"""The lessons notice when the library is wrong: one constant changed, and they fail.

Each change goes into a copy of the package; the copy by itself passes.
"""

import os
import shutil
from pathlib import Path
from unittest import mock

import pytest
from nbclient.exceptions import CellExecutionError

from tests.architecture.repository import PACKAGE
from tests.notebooks.notebooks import LESSONS
from tools.cells import read
from tools.kernels import closed_environment, execute

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.slow,
    pytest.mark.tensorflow,
    pytest.mark.thorough,
]


def _passes(lesson: str, package: Path, folder: Path) -> bool:
    """Whether a lesson runs to its end with the package in this folder."""
    [path] = [path for path in LESSONS if path.stem == lesson]
    with (
        mock.patch.dict(os.environ, PYTHONPATH=str(package)),
        closed_environment(folder, folder),
    ):
        try:
            execute(read(path), folder)
        except CellExecutionError:
            return False
    return True


def _copy(folder: Path) -> Path:
    shutil.copytree(
        PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__")
    )
    return folder


def test_lesson_passes_with_a_copy_that_is_as_it_should_be(tmp_path: Path) -> None:
    assert _passes("01_hello", _copy(tmp_path), tmp_path)


@pytest.mark.parametrize(
    ("lesson", "file", "constant", "changed"),
    [
        ("01_hello", "language/averages.py", "np.int32(1)", "np.int32(2)"),
        ("05_sequences", "language/sequences.py", 'binary("add"', 'binary("subtract"'),
        (
            "10_federated_averaging",
            "simulation/partitions/batching.py",
            "flat / 255.0",
            "flat / 254.0",
        ),
    ],
)
def test_lesson_fails_when_one_constant_is_changed(
    lesson: str, file: str, constant: str, changed: str, tmp_path: Path
) -> None:
    target = _copy(tmp_path) / PACKAGE.name / file
    text = target.read_text(encoding="utf-8")
    assert text.count(constant) == 1
    target.write_text(text.replace(constant, changed), encoding="utf-8")
    assert not _passes(lesson, tmp_path, tmp_path)
