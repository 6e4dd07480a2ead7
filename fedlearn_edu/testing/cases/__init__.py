# SPDX-License-Identifier: Apache-2.0
"""The conformance cases: every intrinsic and every construct of the language.

One file per family. The expected values are worked out by hand, so they also test the
oracle.
"""

from dataclasses import replace
from functools import partial

from fedlearn_edu.testing.case import NUMPY, TENSORFLOW, Case, Leaf
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


def cases(runtime: str | Leaf = NUMPY) -> tuple[Case, ...]:
    """All cases with leaf code of a runtime: `"numpy"`, `"tensorflow"` or `"mixed"`.

    With a decorator for your own leaf code in place of a name: the cases that are there
    for NumPy and for TensorFlow, with your leaf code.
    """
    every = [case for book in _BOOKS for case in book]
    if isinstance(runtime, str):
        return tuple(case for case in every if case.runtime == runtime)
    shared = {case.name for case in every if case.runtime == TENSORFLOW}
    return tuple(
        replace(case, build=partial(case.build, runtime=runtime))
        for case in every
        if case.runtime == NUMPY and case.name in shared
    )
