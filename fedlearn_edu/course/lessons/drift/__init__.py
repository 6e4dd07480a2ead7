# SPDX-License-Identifier: Apache-2.0
"""Lesson 11: clients drift apart, and three cures are written and measured."""

from typing import Final

from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.lessons.drift.adaptive import ADAM_STEP
from fedlearn_edu.course.lessons.drift.control import SCAFFOLD_CLIENT
from fedlearn_edu.course.lessons.drift.proximal import BUILD_MY_PROX, PROXIMAL_GRADIENT

LESSON: Final = Lesson(
    name="11_client_drift",
    title="Why do clients drift apart, and what cures it?",
    minutes=40,
    goals=(
        "show why more local work can give a worse model",
        "write what FedProx, FedAdam and SCAFFOLD change in a round",
        "compare algorithms over several seeds, and say which differences count",
    ),
    needs="lesson 10, federated averaging",
    exercises=(PROXIMAL_GRADIENT, BUILD_MY_PROX, ADAM_STEP, SCAFFOLD_CLIENT),
)
