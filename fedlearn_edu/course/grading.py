# SPDX-License-Identifier: Apache-2.0
"""What the course adds to nbgrader; `nbgrader_config.py` puts it in.

It needs nbgrader, so nothing else in the package imports it.
"""

from typing import Any, final

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

from fedlearn_edu.course import badges

MAY_FAIL = "raises-exception"
"""The tag with which Jupyter goes on after an error."""

_new: Any = nbformat.v4


@final
class PrepareRelease(NbGraderPreprocessor):  # type: ignore[misc]  # it has no types
    """The last step of a release: what a learner's copy has and the lesson has not."""

    def preprocess(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """Exercises that stop nobody; links and a cell that installs, once we may.

        A cell without the tag ends "Run All" where it fails, so an exercise left out
        would be the end of the lesson. Points are as before: nbgrader runs every cell
        in any case, and looks at what the check cells showed.
        """
        for cell in notebook.cells:
            if is_solution(cell) or is_grade(cell):
                cell.metadata["tags"] = [*cell.metadata.get("tags", []), MAY_FAIL]
        if badges.PUBLISHED is not None:
            lesson = resources["nbgrader"]["notebook"]
            links = badges.badges(lesson, badges.PUBLISHED)
            install = badges.install_cell(badges.PUBLISHED)
            notebook.cells[1:1] = [
                _new.new_markdown_cell(links, id="badges"),
                _new.new_code_cell(install, id="install"),
            ]
        return notebook, resources
