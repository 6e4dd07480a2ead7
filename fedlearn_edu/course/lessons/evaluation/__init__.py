# SPDX-License-Identifier: Apache-2.0
"""Lesson 09: from the loss of one batch to what a model costs everybody.

`batches`, `clients` and `everybody` have the exercises, in this order; `program` has
the right answers, and `plain` what is needed to tell wrong ones apart.
"""

from typing import Final

from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.lessons.evaluation.batches import BATCH_LOSS, BATCH_TRAIN
from fedlearn_edu.course.lessons.evaluation.clients import LOCAL_EVAL, LOCAL_TRAIN
from fedlearn_edu.course.lessons.evaluation.everybody import FEDERATED_EVAL

LESSON: Final = Lesson(
    name="09_local_training_and_evaluation",
    title="How good is a model for everybody?",
    minutes=55,
    goals=(
        "write what a model costs, and one step of learning",
        "let each client train, and judge, on all its own data",
        "tell what a loss was averaged over, and when that fools you",
    ),
    needs="lessons 1 and 6",
    exercises=(BATCH_LOSS, BATCH_TRAIN, LOCAL_TRAIN, LOCAL_EVAL, FEDERATED_EVAL),
)
