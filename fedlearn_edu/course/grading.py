# SPDX-License-Identifier: Apache-2.0
"""What the course adds to nbgrader, through `nbgrader_config.py`.

This module and `class_report.py` are the only ones that need nbgrader.
"""

import csv
import re
from pathlib import Path
from typing import Any, Final, final

import nbformat
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.plugins import CsvExportPlugin
from nbgrader.preprocessors import DeduplicateIds, Execute, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

MAY_FAIL: Final = "raises-exception"
"""The tag with which Jupyter goes on after an error."""

MOST_DEATHS: Final = 5
"""How often a submission may take its kernel away before it is given up."""

DID_NOT_RUN: Final = "did not run"

_new: Any = nbformat.v4


@final
class PrepareRelease(NbGraderPreprocessor):  # type: ignore[misc]  # it has no types
    """The last step of a release: marks what only a learner's copy has."""

    def preprocess(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """Lets exercises fail.

        A cell without the tag ends "Run All" where it fails, so an exercise left out
        would be the end of the lesson. Points are as before: nbgrader runs every cell
        in any case, and looks at what the check cells showed.
        """
        for cell in notebook.cells:
            if is_solution(cell) or is_grade(cell):
                cell.metadata["tags"] = [*cell.metadata.get("tags", []), MAY_FAIL]
        return notebook, resources


@final
class OneOfEach(DeduplicateIds):  # type: ignore[misc]
    """Of cells that were copied or split the last one counts; the others only run.

    nbgrader empties what it knows of the others, and then gives the whole submission
    up, because it finds no name there; cells of another lesson do the same.
    """

    def preprocess(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """Takes out what is known of cells that do not count, and says which."""
        at = resources["nbgrader"]
        with Gradebook(at["db_url"]) as gradebook:
            source = gradebook.find_notebook(at["notebook"], at["assignment"])
            names = {cell.name for cell in source.source_cells}
        for cell in notebook.cells:
            about = cell.metadata.pop("nbgrader", None) or {}
            if about.get("grade_id") in names:
                kept = {key: about[key] for key in about if key in _KNOWN}
                cell.metadata["nbgrader"] = kept
        done: tuple[Any, Any] = super().preprocess(notebook, resources)
        for number, cell in enumerate(notebook.cells, 1):
            if cell.metadata.get("nbgrader") == {}:
                del cell.metadata["nbgrader"]
                told = "Cell number %d is a copy, or half of a cell: it has no points"
                self.log.warning(told, number)
        return done


_KNOWN: Final = (
    *("grade", "grade_id", "locked", "schema_version", "solution", "task"),
    *("points", "checksum", "cell_type"),
)


@final
class ExecuteAgain(Execute):  # type: ignore[misc]
    """Runs a submission; a cell that ends the kernel costs its own exercise only.

    After `os._exit`, with too little memory, or if the kernel does not answer when a
    cell is interrupted for taking too long, nbgrader gives up the whole submission.
    Here the cell that did it is left out, and everything runs again.
    """

    def preprocess(
        self, notebook: Any, resources: Any, km: Any = None
    ) -> tuple[Any, Any]:
        """Runs it again after a kernel was lost, up to `MOST_DEATHS` times."""
        self._left_out: dict[int, BaseException] = {}
        while True:
            try:
                done: tuple[Any, Any] = super().preprocess(notebook, resources, km)
                return done
            except (DeadKernelError, CellTimeoutError) as error:
                if len(self._left_out) == MOST_DEATHS:
                    raise
                culprit = self._culprit(notebook.cells)
                self._left_out[culprit] = error
                told = "Cell number %d %s: running again without it"
                self.log.warning(told, culprit + 1, _did(error))

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        """Runs a cell, or says that it was left out."""
        self._running = index
        # With the tag it would not run, and a check that shows nothing has full points.
        while self.skip_cells_with_tag in cell.metadata.get("tags", []):
            cell.metadata["tags"].remove(self.skip_cells_with_tag)
        if index not in self._left_out:
            done: tuple[Any, Any] = super().preprocess_cell(cell, resources, index)
            return done
        error = self._left_out[index]
        said = f"this cell {_did(error)}, so everything ran again without it"
        name = type(error).__name__
        traceback = [f"{name}: {said}"]
        cell.outputs = [
            _new.new_output("error", ename=name, evalue=said, traceback=traceback)
        ]
        return cell, resources

    def _culprit(self, cells: list[Any]) -> int:
        """The cell that ran; the answer, if that was its check."""
        if not is_grade(cells[self._running]):
            return self._running
        answers = [i for i in range(self._running) if is_solution(cells[i])]
        return min({*answers[-1:]} - self._left_out.keys(), default=self._running)


@final
class InWords(NbGraderPreprocessor):  # type: ignore[misc]
    """Makes of what a submission showed what a student can read, and of half, half.

    An answer that passes more than half of the cases of its check has half of its
    points, rounded down; a constant never does. nbgrader has none for a check that
    fails, but takes a result that is a number for points. Where nothing was written,
    or a loop was interrupted, a sentence takes the place of the traceback.
    """

    def preprocess(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """Changes what cells have shown."""
        for cell in notebook.cells:
            outputs = cell.get("outputs", [])
            for number, output in enumerate(outputs):
                if said := _SAID.get((output.get("ename"), output.get("evalue"))):
                    output.traceback = [said]
                if is_grade(cell) and (half := _half(cell, output)):
                    outputs[number] = half
        return notebook, resources


_UNANSWERED: Final = "not answered"
_SAID: Final = {
    ("NotImplementedError", "write your answer here"): _UNANSWERED,
    ("KeyboardInterrupt", ""): "interrupted after two minutes: a loop without an end?",
}
_REFUSED: Final = "NotRightYetError"
_PASSED: Final = re.compile(r"not right yet, (\d+) of (\d+) checks pass")
_VERDICT: Final = "verdict"


def _half(cell: Any, output: Any) -> Any:
    """Half of the points as a result, if that is what a failed check deserves."""
    found = _PASSED.search(output.get("evalue", ""))
    if output.get("ename") != _REFUSED or found is None:
        return None
    # The first row is about what kind of thing the answer is.
    passed, count = (int(number) - 1 for number in found.groups())
    if 2 * passed <= count:
        return None
    data = {"text/plain": str(int(cell.metadata.nbgrader.points) // 2)}
    about = {_VERDICT: output.evalue}
    return _new.new_output("execute_result", data=data, metadata=about)


def verdict_in(cell: Any) -> Any:
    """What a check said of an answer, after the points; empty if it was right."""
    for output in cell.get("outputs", []):
        said = output.get("evalue") or output.get("ename")
        if said := said or output.get("metadata", {}).get(_VERDICT):
            cause = said.partition(" pass: ")[2] or said.splitlines()[0]
            return _UNANSWERED if _UNANSWERED in cause else cause
    return ""


def _did(error: BaseException) -> str:
    is_dead = isinstance(error, DeadKernelError)
    return "ended the kernel" if is_dead else "could not be interrupted"


@final
class ExportWithStatus(CsvExportPlugin):  # type: ignore[misc]
    """nbgrader's table with a column for the status of each submission.

    nbgrader has 0.0 for a submission that it could not run. Here that has no points.
    """

    def export(self, gradebook: Any) -> None:
        """Writes the table."""
        super().export(gradebook)
        file = Path(self.to or "grades.csv")
        head, *rows = csv.reader(file.read_text().splitlines())
        lesson, student = head.index("assignment"), head.index("student_id")
        points = slice(head.index("raw_score"), head.index("max_score"))
        for row in rows:
            row.append(_status(gradebook, row[lesson], row[student]))
            if row[-1] == DID_NOT_RUN:
                row[points] = [""] * len(row[points])
        with file.open("w", newline="") as table:
            csv.writer(table).writerows([[*head, "status"], *rows])


def _status(gradebook: Any, lesson: str, student: str) -> str:
    try:
        submission = gradebook.find_submission(lesson, student)
    except MissingEntry:
        return "nothing handed in"
    if not all(map(_was_run, submission.notebooks)):
        return DID_NOT_RUN
    return "to be graded by hand" if submission.needs_manual_grade else "graded"


def _was_run(notebook: Any) -> bool:
    """Whether each check has points; answers may be graded by hand."""
    answers = {cell.name for cell in notebook.notebook.solution_cells}
    return all(
        {grade.auto_score, grade.manual_score} != {None}
        for grade in notebook.grades
        if grade.cell.cell_type == "code" and grade.cell.name not in answers
    )


RELEASE: Final = [*GenerateAssignment.preprocessors.default(), PrepareRelease]
"""What nbgrader does with a lesson, one after the other."""

SANITIZE: Final = [
    OneOfEach if each is DeduplicateIds else each
    for each in Autograde.sanitize_preprocessors.default()
]
"""What nbgrader does with a submission before it runs."""

AUTOGRADE: Final = [
    step
    for each in Autograde.autograde_preprocessors.default()
    for step in ([ExecuteAgain, InWords] if each is Execute else [each])
]
"""What nbgrader does with a submission, one after the other."""
