# SPDX-License-Identifier: Apache-2.0
"""What the course adds to nbgrader; `nbgrader_config.py` puts it in.

It needs nbgrader, so nothing else in the package imports it.
"""

from typing import Any, final

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor

from fedlearn_edu.course import badges

_new: Any = nbformat.v4


@final
class PrepareRelease(NbGraderPreprocessor):  # type: ignore[misc]  # it has no types
    """The last step of a release: what a learner's copy has and the lesson has not."""

    def preprocess(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """Links that open it elsewhere and a cell that installs, once we have names."""
        if badges.PUBLISHED is not None:
            lesson = resources["nbgrader"]["notebook"]
            links = badges.badges(lesson, badges.PUBLISHED)
            install = badges.install_cell(badges.PUBLISHED)
            notebook.cells[1:1] = [
                _new.new_markdown_cell(links, id="badges"),
                _new.new_code_cell(install, id="install"),
            ]
        return notebook, resources
