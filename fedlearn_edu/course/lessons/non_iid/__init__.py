# SPDX-License-Identifier: Apache-2.0
"""Lesson 08: who holds which examples, how unlike clients are, and whether it matters.

The exercises deal examples to clients (`dealing`), measure what came of it
(`measuring`), and cut what one client holds (`cutting`).
"""

from typing import Final

from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.lessons.non_iid.cutting import CUT_BATCHES, DEAL_BY_SHARES
from fedlearn_edu.course.lessons.non_iid.dealing import DEAL_IID, DEAL_ONE_LABEL
from fedlearn_edu.course.lessons.non_iid.measuring import TOTAL_VARIATION

LESSON: Final = Lesson(
    name="08_non_iid_mnist",
    title="How different can clients be?",
    minutes=40,
    goals=(
        "deal the same examples to clients in four ways",
        "say in one number how unlike the whole a client is",
        "tell which questions do not care who holds what",
    ),
    needs="lessons 1 and 6, and a little NumPy",
    exercises=(DEAL_IID, DEAL_ONE_LABEL, TOTAL_VARIATION, DEAL_BY_SHARES, CUT_BATCHES),
)
