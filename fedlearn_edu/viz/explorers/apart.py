# SPDX-License-Identifier: Apache-2.0
"""Moves labels in a plane apart, so that each can be read and belongs to its point."""

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

_ROUNDS = 60
_GOLDEN_ANGLE = 2.4


def apart(points: Points, fixed: Points, gap: float) -> Points:
    """Where labels go that begin at `points`: `gap` from each other and from `fixed`.

    In every round each two that are too close push each other half of the way. In a
    crowd it may take more rounds than there are; then some stay a little closer.

    >>> apart(np.zeros([2, 2]), np.empty([0, 2]), gap=1.0).round(1).tolist()
    [[0.5, -0.2], [-0.5, 0.2]]

    Args:
        points: `[n,2]`, in any unit that is the same to the right and upwards.
        fixed: `[m,2]`, what labels should not cover.
        gap: The least distance, in the same unit.
    """
    count = len(points)
    angles = _GOLDEN_ANGLE * np.arange(count)
    # Points at the very same place part in directions of their own.
    nudges = 1e-3 * gap * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    moved = np.concatenate([points + nudges, fixed])
    shares = np.where(np.arange(len(moved)) < count, 0.5, 1.0)
    for _ in range(_ROUNDS):
        away = moved[:, None] - moved[None]
        distance = np.linalg.norm(away, axis=-1)
        np.fill_diagonal(distance, np.inf)
        lacking = np.clip(gap - distance, 0, None)
        if not lacking[:count].any():
            break
        push = away * (lacking / np.maximum(distance, 1e-9))[..., None]
        moved[:count] += (push * shares[None, :, None]).sum(axis=1)[:count]
    return np.asarray(moved[:count])
