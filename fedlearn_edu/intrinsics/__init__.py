# SPDX-License-Identifier: Apache-2.0
"""The vocabulary: one file for each family, one home for each intrinsic.

Importing this room fills the registry and gives Python's operators their meaning.
"""

from fedlearn_edu.intrinsics import (
    aggregation,
    arithmetic,
    averages,
    mapping,
    movement,
    secure,
    selecting,
    sequences,
)

__all__ = [
    "aggregation",
    "arithmetic",
    "averages",
    "mapping",
    "movement",
    "secure",
    "selecting",
    "sequences",
]
