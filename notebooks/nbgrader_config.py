# SPDX-License-Identifier: Apache-2.0
"""The course for nbgrader; its commands run in this folder: see docs/teaching.md."""

from pathlib import Path

from fedlearn_edu.course import grading

c = get_config()  # type: ignore[name-defined]  # noqa: F821, nbgrader provides it

c.CourseDirectory.course_id = "fedlearn_edu"
c.CourseDirectory.source_directory = "source"
c.CourseDirectory.release_directory = "release"
# What belongs to one class is in `notebooks/build`, which is not under version control.
c.CourseDirectory.submitted_directory = "build/submitted"
c.CourseDirectory.autograded_directory = "build/autograded"
c.CourseDirectory.feedback_directory = "build/feedback"
c.CourseDirectory.solution_directory = "build/solution"
c.CourseDirectory.db_url = "sqlite:///build/gradebook.db"
Path(__file__).with_name("build").mkdir(exist_ok=True)

# What came back, in `build/downloaded/01_hello/archive`. The student is the folder of a
# file, or what stands before the lesson in its name; what a browser or a platform put
# behind the lesson, as " (1)", " copy", "-Copy1", does not count.
c.ZipCollectApp.downloaded_directory = "build/downloaded"
c.FileNameCollectorPlugin.named_regexp = (
    r".*/(?P<file_id>[^/]+)/extracted/(?:.*/)?"
    r"(?P<student_id>(?!(?P=file_id)|\.)[^/]+?)"
    r"(?:_|/(?:(?P=file_id)[^/]*/)?)"
    r"(?P=file_id)[^/]*$"
)

# What takes the place of a solution.
c.ClearSolutions.code_stub = {
    "python": '# your code here\nraise NotImplementedError("write your answer here")'
}

# What a learner's copy has, and what happens to one that comes back: its code says why.
c.GenerateAssignment.preprocessors = grading.RELEASE
c.Autograde.sanitize_preprocessors = grading.SANITIZE
c.Autograde.autograde_preprocessors = grading.AUTOGRADE
c.ExportApp.plugin_class = grading.ExportWithStatus

# Seconds per cell. An endless loop costs its points, not the whole submission.
c.Execute.timeout = 120
# A check cell that was deleted comes back before it is graded.
c.OverwriteCells.add_missing_cells = True
