# SPDX-License-Identifier: Apache-2.0
"""A course of one lesson in a folder of its own, run through nbgrader's interface."""

import contextlib
import csv
import logging
import os
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest import mock

from tests.grading.needed import cut_down
from tests.patience import PATIENCE_S
from tools.cells import check_cells, grade_id, read, write
from tools.kernels import closed_environment, own_sockets
from tools.release import course_config

ENDLESS = "while True: pass"
"""The answer that is interrupted."""
CATCHES_ALL = """import time
while True:
    try:
        time.sleep(9)
    except:
        pass"""
"""The answer that cannot be."""


@dataclass(frozen=True)
class Graded:
    """What nbgrader made of one submission: points, and the notebook as it ran."""

    points: Mapping[str, float]
    notebook: Any

    def check(self, exercise: str) -> Any:
        return check_cells(self.notebook)[exercise]

    def cell(self, name: str) -> Any:
        return next(cell for cell in self.notebook.cells if grade_id(cell) == name)


@dataclass(frozen=True)
class Course:
    """A released lesson to which students hand in answers."""

    root: Path
    lesson: str

    @classmethod
    def release(cls, source: Path, root: Path) -> "Course":
        """Copies the folder of a lesson to `root` and makes its release there."""
        course = cls(root, source.name)
        shutil.copytree(source, root / "source" / source.name)
        for folder in ("no_data", "home"):
            (root / folder).mkdir()
        api = course._api  # (it also turns its log on)
        with _nbgrader(root):
            _expect_success(api.generate_assignment(course.lesson))
        return course

    @property
    def source(self) -> Path:
        return self._notebook("source")

    @property
    def released(self) -> Path:
        return self._notebook("release")

    def hand_in(self, student: str, sources: Mapping[str, str | None]) -> None:
        """Writes a submission: the release, some cells changed, or deleted (`None`)."""
        notebook = read(self.released)
        known = {grade_id(cell): cell for cell in notebook.cells}
        for name, source in sources.items():
            if source is None:
                notebook.cells.remove(known[name])
            else:
                known[name].source = source
        self._write(notebook, student)

    def hand_in_what_counts(
        self, student: str, sources: Mapping[str, str | None]
    ) -> None:
        """The same from somebody who deletes what no exercise needs."""
        self.hand_in(student, sources)
        notebook = read(self.submitted(student))
        checks = check_cells(read(self.source)).values()
        cut_down(notebook, {grade_id(check): [check.source] for check in checks})
        self._write(notebook, student)

    def _write(self, notebook: Any, student: str) -> None:
        write(notebook, self.submitted(student))

    def grade(self, student: str) -> Graded:
        """Autogrades a submission: all cells run in a kernel that reaches nobody."""
        with _nbgrader(self.root):
            _expect_success(self._api.autograde(self.lesson, student))
        return Graded(
            self.points(student), read(self._notebook(f"build/autograded/{student}"))
        )

    def grade_all(self) -> str:
        """Autogrades everybody, writes all feedback; gives what nbgrader logged."""
        with _nbgrader(self.root):
            done = self._api.autograde(self.lesson, "*")
            _expect_success(self._api.generate_feedback(self.lesson))
        return str(done.get("log", ""))

    @property
    def downloads(self) -> Path:
        """Where what came back is put."""
        return self.root / "build/downloaded" / self.lesson / "archive"

    def collect(self) -> None:
        """Hands in what was downloaded."""
        from nbgrader.apps.zipcollectapp import ZipCollectApp

        with _nbgrader(self.root):
            app = ZipCollectApp(config=self._api.config, log_level="ERROR")
            app.coursedir = self._api.coursedir
            app.coursedir.assignment_id = self.lesson
            app.init_plugins()
            app.extract_archive_files()
            app.process_extracted_files()

    def enrol(self, students: Iterable[str]) -> None:
        """Puts the class list into the gradebook."""
        with self._gradebook() as gradebook:
            for student in students:
                gradebook.update_or_create_student(student)

    def points(self, student: str) -> dict[str, float]:
        """What the gradebook has for each exercise."""
        with self._gradebook() as gradebook:
            submission = gradebook.find_submission(self.lesson, student)
            return {
                grade.cell.name.removeprefix("check-"): float(grade.auto_score or 0)
                for notebook in submission.notebooks
                for grade in notebook.grades
            }

    def export(self) -> list[dict[str, str]]:
        """The rows of the table of points."""
        from nbgrader.apps.exportapp import ExportApp

        config = course_config(self.root)
        config.ExportPlugin.to = str(self.root / "grades.csv")
        app = ExportApp(config=config, log_level="ERROR")
        app.init_plugin()
        with self._gradebook() as gradebook:
            app.plugin_inst.export(gradebook)
        with (self.root / "grades.csv").open(newline="") as table:
            return list(csv.DictReader(table))

    def report(self, plugin: Any) -> Path:
        """The folder that an exporter writes."""
        with contextlib.chdir(self.root), self._gradebook() as gradebook:
            exporter = plugin(config=self._api.config)
            exporter.to = "build/class"
            exporter.export(gradebook)
        return self.root / "build/class"

    def _gradebook(self) -> Any:
        from nbgrader.api import Gradebook

        with _nbgrader(self.root):
            return Gradebook(self._api.coursedir.db_url, self._api.coursedir.course_id)

    @cached_property
    def _api(self) -> Any:
        from nbgrader.apps.api import NbGraderAPI

        config = course_config(self.root)
        config.Execute.timeout_func = _seconds
        # Whoever grades for real wants a kernel to end in peace.
        config.Execute.shutdown_kernel = "immediate"
        config.KernelManager.update(own_sockets())
        return NbGraderAPI(config=config)

    def submitted(self, student: str) -> Path:
        """What a student handed in."""
        return self._notebook(f"build/submitted/{student}")

    def _notebook(self, step: str) -> Path:
        return self.root / step / self.lesson / f"{self.lesson}.ipynb"


def _seconds(cell: Any) -> float:
    """A cell that ends has time enough on a busy machine."""
    return 1 if cell.source in (ENDLESS, CATCHES_ALL) else PATIENCE_S


@contextlib.contextmanager
def _nbgrader(root: Path) -> Iterator[None]:
    """nbgrader calls `alembic` by name, and warns where we would fail."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    logger = logging.getLogger("traitlets")  # nbgrader's, which tells every step
    level = logger.level
    logger.setLevel(logging.ERROR)
    with (
        warnings.catch_warnings(),
        mock.patch.dict(os.environ, PATH=path),
        closed_environment(root / "no_data", root / "home"),
    ):
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logger.setLevel(level)


def _expect_success(done: Mapping[str, Any]) -> None:
    if not done["success"]:
        raise RuntimeError(f"{done.get('log', '')}\n{done.get('error', '')}")
