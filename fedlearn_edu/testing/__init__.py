# SPDX-License-Identifier: Apache-2.0
"""Conformance cases and assertions, for our tests, graded cells and third parties.

from fedlearn_edu import framework, testing
factory = framework.local_executor_factory(strategy=MyStrategy)
print(testing.assert_conforms(framework.SyncExecutionContext(factory)))
"""

from fedlearn_edu.testing.case import Case, CaseBook, Example, gives
from fedlearn_edu.testing.cases import cases
from fedlearn_edu.testing.comparison import assert_same, assert_type, difference
from fedlearn_edu.testing.conformance import (
    Conformance,
    assert_conforms,
    primitives,
    run_in,
)

__all__ = [
    "Case",
    "CaseBook",
    "Conformance",
    "Example",
    "assert_conforms",
    "assert_same",
    "assert_type",
    "cases",
    "difference",
    "gives",
    "primitives",
    "run_in",
]
