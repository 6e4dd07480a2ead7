# SPDX-License-Identifier: Apache-2.0
"""What stands in for an answer that nobody has written yet.

`begin` puts one into the notebook for each exercise of the lesson. So a check that is
run too early can say "not answered yet", where Python would say `NameError`.
"""

from dataclasses import dataclass
from typing import Any, Never, final

from fedlearn_edu.errors import FedLearnError


@final
class UnansweredError(FedLearnError, RuntimeError):
    """An answer is used before it was written."""


@final
@dataclass(frozen=True)
class Unanswered:
    """The answer to an exercise that has none yet.

    >>> Unanswered("mean_of_means")
    <mean_of_means: not answered yet>
    """

    exercise: str

    def __repr__(self) -> str:
        return f"<{self.exercise}: not answered yet>"

    def __bool__(self) -> bool:
        return False

    def __call__(self, *_arguments: Any, **_keywords: Any) -> Never:
        """Says that there is nothing to call yet."""
        raise UnansweredError(
            f"`{self.exercise}` has no answer yet",
            expected=f"your answer to the exercise `{self.exercise}`",
            found="the place for it",
            do="write it in the cell of the exercise, and run that cell first",
        )
