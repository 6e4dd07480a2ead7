# SPDX-License-Identifier: Apache-2.0
"""Lesson 03: what a program froze in becomes a parameter."""

from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, typed

FROZEN: Final = 21.0
"""What `limit_now` is in the notebook when the first program is defined."""
LATER: Final = 15.0
AT_BOTH: Final = "<readings={float32}@CLIENTS,limit=float32@SERVER>"


def _share_above() -> Any:
    one_if_above = fl.np_computation(
        lambda reading, limit: np.float32(reading > limit), np.float32, np.float32
    )

    @fl.federated_computation(
        fl.type_at_clients(np.float32), fl.type_at_server(np.float32)
    )
    def share_above(readings: Any, limit: Any) -> Any:
        limits = fl.federated_broadcast(limit)
        return fl.federated_mean(fl.federated_map(one_if_above, (readings, limits)))

    return share_above


def _share(readings: Any, limit: float) -> Any:
    return np.mean(np.asarray(readings) > limit, dtype=np.float32)


SHARE_ABOVE = Exercise(
    name="share_above",
    title="let the limit in",
    points=10,
    want=wants.computation(f"({AT_BOTH} -> float32@SERVER)"),
    reference=_share_above,
    cases=(
        Case("a low limit", ([7.0, 8.0, 9.0, 12.0, 14.0, 18.0, 24.0], 10.0)),
        Case("a high limit", ([22.0, 26.0, 31.0, 33.0, 36.0], 30.0)),
        Case("exactly at the limit is not above", ([5.0, 5.0, 6.0], 5.0)),
        Case("one home", ([-3.0], -4.0)),
    ),
    mistakes=(
        gives(
            "the limit is still frozen in: it is 21, whatever comes with the call",
            lambda readings, limit: _share(readings, FROZEN),
        ),
        gives(
            "the limit is still frozen in: it is what Python's `limit_now` was",
            lambda readings, limit: _share(readings, LATER),
        ),
        gives(
            "you compared the wrong way round: the reading comes first in the pair",
            lambda readings, limit: np.mean(np.asarray(readings) < limit),
        ),
        gives(
            "this is how many are above the limit; take the mean to have the share",
            lambda readings, limit: np.sum(np.asarray(readings) > limit),
        ),
        gives(
            "you counted homes that are exactly at the limit, too",
            lambda readings, limit: np.mean(np.asarray(readings) >= limit),
        ),
        gives(
            "you asked whether the mean is above the limit; each home has to answer "
            "for itself",
            lambda readings, limit: float(np.mean(readings) > limit),
        ),
        gives(
            "nobody is ever above here: what is compared with what?",
            lambda readings, limit: 0.0,
        ),
        gives(
            "this is the mean of the readings; no home has compared",
            lambda readings, limit: np.mean(readings),
        ),
        typed(
            "each home has its answer, but nobody took the mean",
            f"({AT_BOTH} -> {{float32}}@CLIENTS)",
        ),
    ),
    hints=(
        "Look at `frozen_share`, and at the one line that reads Python's variable. "
        "What takes a value from the server to the clients?",
        "`federated_broadcast(limit)` is the limit at every client. Then each client "
        "applies `one_if_above` to a pair: its reading, and the limit.",
        "Fill the gaps:\n"
        "    def share_above(readings, limit):\n"
        "        limits = fl.federated_broadcast(...)\n"
        "        above = fl.federated_map(one_if_above, (readings, ...))\n"
        "        return ...",
    ),
)
