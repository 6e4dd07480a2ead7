# SPDX-License-Identifier: Apache-2.0
"""Write `notebooks/release`, what learners get, from the lessons with solutions.

`make release` runs this. It does what `nbgrader generate_assignment` does, for all
lessons and without a gradebook; the same lessons give the same bytes, everywhere.
"""

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "notebooks" / "source"
RELEASE = ROOT / "notebooks" / "release"
INDEX = ROOT / "notebooks" / "index.ipynb"
EXPLORERS = ROOT / "notebooks" / "explorers" / "explorers.ipynb"
# What JupyterLab writes into a notebook that it opens, and calls it unsaved then; of
# the version of Python, `fedlearn-edu start` knows more.
LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
    "version": "3",
}


def course_config(root: Path) -> Any:
    """The settings of `nbgrader_config.py`, for a course in the folder `root`."""
    from traitlets.config.loader import PyFileConfigLoader

    loader = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT / "notebooks"))
    config = loader.load_config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}"
    return config


def lesson_names(source: Path = SOURCE) -> list[str]:
    """The names of all lessons, in order."""
    return sorted(path.stem for path in source.glob("*/*.ipynb"))


def generate(source: Path, into: Path) -> None:
    """Write the release of every lesson in `source` to the folder `into`."""
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.converters import GenerateAssignment
    from nbgrader.utils import capture_log

    config = course_config(into.parent)
    config.CourseDirectory.source_directory = str(source)
    config.CourseDirectory.release_directory = str(into)
    config.GenerateAssignment.no_database = True
    config.SaveCells.enabled = False
    api = NbGraderAPI(config=config)
    api.coursedir.assignment_id = "*"
    done = capture_log(GenerateAssignment(coursedir=api.coursedir, parent=api))
    if not done["success"]:
        raise RuntimeError(f"{done.get('log', '')}\n{done['error']}")


def write_index(into: Path) -> None:
    """Write the map of the course, and what there is to play with, beside the lessons.

    What the map's cell shows is stored, so that it can be seen before anything runs.
    And every notebook says that it is in Python.
    """
    import nbformat

    from fedlearn_edu.course import progress_page as page
    from fedlearn_edu.course.lessons import load_all
    from fedlearn_edu.course.records import Progress
    from fedlearn_edu.viz.progress import draw_progress
    from tools.cells import code_cells, read, write

    drawn = page.rows(load_all(), Progress(), into)
    html = draw_progress(drawn, page.sentence(load_all(), Progress()))
    notebook = read(INDEX)
    (cell,) = code_cells(notebook)
    new: Any = nbformat.v4.new_output
    cell.outputs = [new("display_data", {"text/html": html})]
    write(notebook, into / INDEX.name)
    write(read(EXPLORERS), into / EXPLORERS.name)
    for path in into.rglob("*.ipynb"):
        notebook = read(path)
        notebook.metadata.language_info = LANGUAGE
        text = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
        path.write_text(re.sub("(?m)^ +", "", text) + "\n")  # the wheel has them all


def main() -> None:
    """Replace `notebooks/release` once all lessons could be written."""
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder) / "release"
        generate(SOURCE, into)
        write_index(into)
        shutil.rmtree(RELEASE, ignore_errors=True)
        shutil.copytree(into, RELEASE)
    print(f"{len(lesson_names(RELEASE))} lessons written to notebooks/release")


if __name__ == "__main__":
    main()
