# SPDX-License-Identifier: Apache-2.0
"""What the lessons call: instant checks, hints, predictions; and your progress.

A lesson is a notebook in `notebooks/`; its exercises are in `course/lessons/`. Read
`checks.py` (what a cell calls) and `judging.py` (how an answer is tried).
"""

from fedlearn_edu.course.beginning import begin
from fedlearn_edu.course.checks import NotRightYetError, check, checkpoint, hint
from fedlearn_edu.course.predictions import predict, reveal
from fedlearn_edu.course.progress_page import progress

__all__ = [
    "NotRightYetError",
    "begin",
    "check",
    "checkpoint",
    "hint",
    "predict",
    "progress",
    "reveal",
]
