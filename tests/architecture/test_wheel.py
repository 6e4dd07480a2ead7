# SPDX-License-Identifier: Apache-2.0
"""The wheel has the package, the lessons and the data, and nothing else."""

from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.architecture.repository import PACKAGE, ROOT, named, text_files

# What is no Python in the package; a new one is written down here.
DATA = {
    "fedlearn_edu/py.typed",
    "fedlearn_edu/simulation/data/digits28.npz",
    "fedlearn_edu/simulation/data/digits28_ATTRIBUTION.txt",
}
ABOUT = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    (built,) = WheelBuilder(str(ROOT)).build(
        directory=str(folder), versions=["standard"]
    )
    return Path(built)


def test_what_is_in_the_wheel(wheel: Path) -> None:
    code = {named(f) for f in text_files() if f.is_relative_to(PACKAGE)} - DATA
    assert {Path(name).suffix for name in code} == {".py"}, "more data? write it down"
    lessons = {
        named(file).replace("notebooks", "fedlearn_edu/course", 1)
        for file in text_files()
        if named(file).startswith("notebooks/release/")
    }
    names = set(ZipFile(wheel).namelist())
    about = {name for name in names if ".dist-info/" in name}
    assert {name.partition(".dist-info/")[2] for name in about} == ABOUT
    assert names - about == code | DATA | lessons


def test_wheel_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size <= 1_130_000
