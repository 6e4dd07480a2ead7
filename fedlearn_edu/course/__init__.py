# SPDX-License-Identifier: Apache-2.0
"""What the lessons call: instant checks, hints, checkpoints; and your progress.

A lesson is a notebook in `notebooks/`; what it asks, and how an answer is judged, is in
`course/lessons/`. Nothing here is needed to write federated programs.
"""

from fedlearn_edu.course.beginning import begin
from fedlearn_edu.course.checks import NotRightYetError, check, checkpoint, hint
from fedlearn_edu.course.progress_page import progress

__all__ = ["NotRightYetError", "begin", "check", "checkpoint", "hint", "progress"]
