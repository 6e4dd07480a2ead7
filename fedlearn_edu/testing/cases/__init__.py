# SPDX-License-Identifier: Apache-2.0
"""The conformance cases: every intrinsic and every construct of the language.

One file per family. The expected values are worked out by hand, so they also test the
oracle.
"""

from fedlearn_edu.testing.case import NUMPY, Case
from fedlearn_edu.testing.cases.aggregation import AGGREGATION
from fedlearn_edu.testing.cases.arithmetic import ARITHMETIC
from fedlearn_edu.testing.cases.averages import AVERAGES
from fedlearn_edu.testing.cases.calls import CALLS
from fedlearn_edu.testing.cases.captures import CAPTURES
from fedlearn_edu.testing.cases.functions import FUNCTIONS
from fedlearn_edu.testing.cases.mapping import MAPPING
from fedlearn_edu.testing.cases.movement import MOVEMENT
from fedlearn_edu.testing.cases.secure import SECURE
from fedlearn_edu.testing.cases.sequences import SEQUENCES
from fedlearn_edu.testing.cases.sequences_at_clients import SEQUENCES_AT_CLIENTS
from fedlearn_edu.testing.cases.structures import STRUCTURES

_BOOKS = (
    MOVEMENT,
    MAPPING,
    AGGREGATION,
    AVERAGES,
    SECURE,
    SEQUENCES,
    SEQUENCES_AT_CLIENTS,
    ARITHMETIC,
    STRUCTURES,
    CALLS,
    FUNCTIONS,
    CAPTURES,
)


def cases(runtime: str = NUMPY) -> tuple[Case, ...]:
    """All cases with leaf code of a runtime: `"numpy"`, `"tensorflow"` or `"mixed"`."""
    return tuple(case for book in _BOOKS for case in book if case.runtime == runtime)
