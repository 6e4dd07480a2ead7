# SPDX-License-Identifier: Apache-2.0
"""Seeded random numbers: an independent stream for each purpose and each key.

Two purposes with the same seed see different numbers, whichever is asked first.
"""

import numpy as np


def seeded_rng(purpose: str, *key: int) -> np.random.Generator:
    """The generator of a purpose and its key: a seed, a round, a client, ….

    >>> seeded_rng("shuffle", 0, 1).integers(1000) == seeded_rng(
    ...     "shuffle", 0, 1
    ... ).integers(1000)
    np.True_

    Each purpose keeps to keys of one length: NumPy takes `[7]` and `[7, 0]` for the
    same seed.
    """
    return np.random.default_rng([*purpose.encode(), *key])
