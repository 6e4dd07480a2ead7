# SPDX-License-Identifier: Apache-2.0
"""Chance that can be asked for again: one stream for each purpose and each key.

Two purposes with the same seed do not see the same numbers, and whoever is asked first
does not matter.
"""

import numpy as np


def chance(purpose: str, *key: int) -> np.random.Generator:
    """The source of chance for a purpose and its key: a seed, a round, a client, ….

    >>> chance("shuffle", 0, 1).integers(1000) == chance("shuffle", 0, 1).integers(1000)
    np.True_

    Each purpose keeps to keys of one length: NumPy takes `[7]` and `[7, 0]` for the
    same seed.
    """
    return np.random.default_rng([*purpose.encode(), *key])
