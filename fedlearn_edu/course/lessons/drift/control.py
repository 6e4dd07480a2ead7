# SPDX-License-Identifier: Apache-2.0
"""SCAFFOLD: a client that steers against its drift, and remembers what it met."""

from collections.abc import Callable
from typing import Any, Final

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives

RATE: Final = 0.05

Steer = Callable[[float, float, float], float]
"""The slope at the client, its own variate, the common one: the slope to follow."""
Renew = Callable[[float, float, float, int], float]
"""The client's own variate, the common one, how far it went down, in how many steps:
its next variate."""


def slope(weight: float, client: tuple[float, float]) -> float:
    """Of the square of the error of a client whose data is one pair (x, y)."""
    x, y = client
    return 2 * x * (x * weight - y)


def _steered(slope: float, own: float, common: float) -> float:
    return slope - own + common


def _renewed(own: float, common: float, way: float, steps: int) -> float:
    return own - common + way / (steps * RATE)


def _client(steer: Steer = _steered, renew: Renew = _renewed) -> Callable[..., Any]:
    """A client that steers and remembers in this way; both can be usual mistakes."""

    def scaffold_client(
        weight: float,
        client: tuple[float, float],
        own: float,
        common: float,
        steps: int,
    ) -> Any:
        trained = weight
        for _ in range(steps):
            trained = trained - RATE * steer(slope(trained, client), own, common)
        return trained, renew(own, common, weight - trained, steps)

    return scaffold_client


def _stuck(
    weight: float, client: tuple[float, float], own: float, common: float, steps: int
) -> Any:
    way = steps * RATE * _steered(slope(weight, client), own, common)
    return weight - way, _renewed(own, common, way, steps)


def _one_step(weight: float, client: Any, own: float, common: float, steps: int) -> Any:
    trained = weight - RATE * _steered(slope(weight, client), own, common)
    return trained, _renewed(own, common, weight - trained, steps)


def _renewed_each_step(
    weight: float, client: tuple[float, float], own: float, common: float, steps: int
) -> Any:
    trained = weight
    for _ in range(steps):
        trained = trained - RATE * _steered(slope(trained, client), own, common)
        own = _renewed(own, common, weight - trained, steps)
    return trained, own


SCAFFOLD_CLIENT = Exercise(
    name="scaffold_client",
    title="a client of SCAFFOLD",
    points=15,
    want=wants.function(5),
    reference=_client,
    cases=(
        Case("nothing to remember yet, two steps", (0.0, (1.0, 4.0), 0.0, 0.0, 2)),
        Case("one step against the drift", (1.0, (1.0, 4.0), -4.0, 1.0, 1)),
        Case("ten steps", (2.0, (3.0, 3.0), 5.0, -1.5, 10)),
        Case("the other client", (2.0, (1.0, 4.0), -3.0, -1.5, 3)),
    ),
    mistakes=(
        gives(
            "this steers *with* the drift: take your own variate away, and add the "
            "common one",
            _client(steer=lambda slope, own, common: slope + own - common),
        ),
        gives(
            "the client trained as in FedAvg: correct each slope before the step",
            _client(steer=lambda slope, own, common: slope),
        ),
        gives(
            "the common variate is missing: without it nobody knows where the others "
            "want to go",
            _client(steer=lambda slope, own, common: slope - own),
        ),
        gives(
            "your own variate is missing in the step: the client's slope is counted "
            "beside the common one",
            _client(steer=lambda slope, own, common: slope + common),
        ),
        gives(
            "the slope was taken at the server's weight in each step; take it where "
            "the client is by now",
            _stuck,
        ),
        gives("this took one step only", _one_step),
        gives(
            "this goes uphill: a step takes the rate times the slope *away*",
            _client(steer=lambda slope, own, common: -_steered(slope, own, common)),
        ),
        gives(
            "brackets are missing: RATE multiplies the whole of slope - own + common",
            _client(steer=lambda slope, own, common: slope + (own - common) / RATE),
        ),
        gives(
            "the rate is missing: a step is RATE times the corrected slope",
            _client(
                steer=lambda slope, own, common: _steered(slope, own, common) / RATE
            ),
        ),
        gives(
            "`own` is renewed once, after the loop: yours changes with each step",
            _renewed_each_step,
        ),
        gives(
            "brackets are missing: divide by (steps * RATE) as a whole",
            _client(
                renew=lambda own, common, way, steps: own - common + way / steps * RATE
            ),
        ),
        gives(
            "the new variate forgets the correction: own - common belongs to it",
            _client(renew=lambda own, common, way, steps: way / (steps * RATE)),
        ),
        gives(
            "the way has to be divided by the number of steps and by the rate",
            _client(renew=lambda own, common, way, steps: own - common + way),
        ),
        gives(
            "the way has to be divided by the number of steps, too: a variate is the "
            "slope of *one* step",
            _client(renew=lambda own, common, way, steps: own - common + way / RATE),
        ),
        gives(
            "the way has to be divided by the rate, too: slopes are asked for",
            _client(renew=lambda own, common, way, steps: own - common + way / steps),
        ),
        gives(
            "the common variate is taken away, not added, when `own` is renewed",
            _client(
                renew=lambda own, common, way, steps: (
                    own + common + way / (steps * RATE)
                )
            ),
        ),
        gives(
            "the way down is weight - trained; yours is the way up",
            _client(
                renew=lambda own, common, way, steps: (
                    own - common - way / (steps * RATE)
                )
            ),
        ),
        gives(
            "the client's variate stayed as it was; it has to be renewed after the "
            "loop, with the way from `weight`, which must not move, to `trained`",
            _client(renew=lambda own, common, way, steps: own),
        ),
    ),
    hints=(
        "It is local training as you know it, with another slope in the step. What is "
        "new comes after the loop, once.",
        "Step: trained = trained - RATE · (slope - own + common). After the loop: "
        "own = own - common + (weight - trained) / (steps · RATE).",
        "Fill the gaps:\n"
        "    trained = weight\n"
        "    for _ in range(steps):\n"
        "        corrected = slope(trained, client) - ... + ...\n"
        "        trained = trained - RATE * corrected\n"
        "    own = own - common + (... - ...) / (steps * RATE)",
    ),
)
