# SPDX-License-Identifier: Apache-2.0
"""Lesson 10: federated averaging, from one round to all that is published of it.

`rounds`, `counting` and `weights` have the exercises, in this order; `program` has the
right answers, and `plain` what is needed to tell wrong ones apart.
"""

from typing import Final

from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.lessons.averaging.counting import BATCH_HITS
from fedlearn_edu.course.lessons.averaging.rounds import FEDERATED_TRAIN, TRAIN_ROUNDS
from fedlearn_edu.course.lessons.averaging.weights import WEIGHTED_TRAIN

LESSON: Final = Lesson(
    name="10_federated_averaging",
    title="Can ten clients that know one digit each learn all ten?",
    minutes=45,
    goals=(
        "write a round of federated averaging, and run many",
        "count what a model reads, client by client",
        "decide whose data count how much, and see who pays for it",
    ),
    needs="lesson 9",
    exercises=(FEDERATED_TRAIN, TRAIN_ROUNDS, BATCH_HITS, WEIGHTED_TRAIN),
)
