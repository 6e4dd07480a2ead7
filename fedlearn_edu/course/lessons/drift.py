# SPDX-License-Identifier: Apache-2.0
"""Lesson 11: clients drift apart, and three cures are written and measured."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from fedlearn_edu import learning
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import looks, raises, returns, usual
from fedlearn_edu.learning.averaging import build_averaging_process
from fedlearn_edu.learning.local_training import LocalTrainingConfig
from fedlearn_edu.learning.optimizers import build_sgd


def _proximal_gradient(
    gradient: Any, weights: Any, server_weights: Any, strength: Any
) -> Any:
    return gradient + strength * (weights - server_weights)


_MATRIX: Final = np.array([[0.5, -1.0], [2.0, 0.0]])

PROXIMAL_GRADIENT = Exercise(
    name="proximal_gradient",
    title="a gradient that pulls back",
    points=5,
    want=wants.function(4),
    reference=lambda: _proximal_gradient,
    cases=(
        Case("one weight", (4.0, 5.0, 2.0, 0.75)),
        Case("below the server's weight", (1.0, -2.0, 4.0, 0.1)),
        Case("strength 0 changes nothing", (-1.5, 7.0, 2.0, 0.0)),
        Case("where a round begins, nothing pulls", (2.0, 4.0, 4.0, 10.0)),
        Case("an array of weights", (_MATRIX, 2 * _MATRIX, np.ones((2, 2)), 0.3)),
    ),
    mistakes=usual(
        "the difference keeps its sign: a client below the server's model is pulled "
        "up, and one above it down; leave `abs` out",
        lambda g, w, s, strength: g + strength * abs(w - s),
        "this pushes the client away from the server's model: turn the sign of the "
        "difference",
        lambda g, w, s, strength: g - strength * (w - s),
        "you left out the strength",
        lambda g, w, s, strength: g + (w - s),
        "this pulls to zero, and not to the server's model",
        lambda g, w, s, strength: g + strength * w,
        "this is the pull alone; the client's own gradient has to stay in",
        lambda g, w, s, strength: strength * (w - s),
        "this adds what the pull costs, a square; its gradient is asked for",
        lambda g, w, s, strength: g + strength / 2 * (w - s) ** 2,
        "the half in front of the square goes away when you take the gradient",
        lambda g, w, s, strength: g + strength / 2 * (w - s),
        "the 2 of the square and the half in front of it cancel: the pull is the "
        "strength times the difference, once",
        lambda g, w, s, strength: g + 2 * strength * (w - s),
        "this adds a square; the gradient of a square has none",
        lambda g, w, s, strength: g + strength * (w - s) ** 2,
        "brackets are missing: the strength multiplies the whole difference",
        lambda g, w, s, strength: g + strength * w - s,
        "the gradient stands inside the brackets: only the difference is multiplied by "
        "the strength",
        lambda g, w, s, strength: strength * (g + w - s),
        "this is the gradient as it was",
        lambda g, *rest: g,
        "this takes a step already; only the gradient is asked for",
        lambda g, w, s, strength: w - (g + strength * (w - s)),
        "this is a step, with the strength as its rate; only the gradient is asked for",
        lambda g, w, s, strength: w - strength * g,
    ),
    hints=(
        "What is the slope of strength/2 · (weights - server_weights)²? The 2 of the "
        "square cancels the half.",
        "new gradient = gradient + strength · (weights - server_weights)",
        "Complete this:\n    return gradient + strength * (... - ...)",
    ),
)

Pull = Callable[[Any, Any, Any, float], Any]
"""A gradient, the client's weights, the server's, the strength: a gradient."""

LOCAL_RATE: Final = 0.1
_TWO_CLIENTS: Final = (
    [{"x": [[0.0, 1.0], [1.0, 0.0]], "y": [0, 1]}, {"x": [[1.0, 1.0]], "y": [0]}],
    [{"x": [[0.0, 2.0]], "y": [1]}, {"x": [[2.0, 0.5]], "y": [1]}],
)


def _built_with(pull: Pull, *unpulled: str) -> Callable[..., Any]:
    """What builds a process whose clients are pulled back in this way."""

    def build(model: Any, strength: float) -> Any:
        def correct(gradients: Any, weights: Any, server: Any) -> Any:
            return {
                name: gradient
                if name in unpulled
                else pull(gradient, weights[name], server[name], strength)
                for name, gradient in gradients.items()
            }

        passes = LocalTrainingConfig(build_sgd(LOCAL_RATE), correct=correct)
        server = build_sgd(1.0)
        return build_averaging_process("my FedProx", model, passes, server, seed=0)

    return build


def _weights_after(build: Any, strength: float, rounds: int) -> Any:
    """The model that the process of an answer ends with, on two small clients."""
    model = learning.models.softmax_regression(features=2, classes=2)
    process = build(model, strength)
    if not isinstance(process, learning.LearningProcess):
        return process
    state = process.initialize()
    for _ in range(rounds):
        state, _ = process.next(state, _TWO_CLIENTS)
    return dict(state.weights)


def _ends_like(pull: Pull, *unpulled: str) -> Callable[[float, int], Any]:
    """Where clients end that are pulled in this way."""
    build = _built_with(pull, *unpulled)
    return lambda strength, rounds: _weights_after(build, strength, rounds)


BUILD_MY_PROX = Exercise(
    name="build_my_prox",
    title="your gradient in a real learning process",
    points=10,
    want=wants.function(2),
    reference=lambda: _built_with(_proximal_gradient),
    cases=(
        Case("a strong pull, one round", (2.0, 1), do=_weights_after),
        Case("a weak pull, three rounds", (0.5, 3), do=_weights_after),
        Case("no pull: this is FedAvg", (0.0, 1), do=_weights_after),
    ),
    mistakes=usual(
        "the process is not returned: the last line of the function has to stay",
        returns(lambda got, *_: not isinstance(got, dict)),
        "return a dictionary with both names: there has to be a gradient for `weights` "
        "and one for `bias`",
        raises(r"KeyError|structure|nested|keys"),
        "`proximal_gradient` takes four arguments; the last is `strength`, which "
        "`build_my_prox` was handed",
        raises("missing . required positional"),
        "the names are keys: write `gradients[name]`, not `gradients.name`",
        raises("has no attribute"),
        "a model has two tensors, `weights` and `bias`: work on each of them by its "
        "name, and not on the dictionary as a whole",
        raises(r"dict|unsupported operand"),
        "the gradients went on as they were: this is FedAvg",
        _ends_like(lambda g, w, s, m: g),
        "the bias is left alone: pull it back, too",
        _ends_like(_proximal_gradient, "bias"),
        "clients are pushed away from the server: the client's weights come first, "
        "then the server's",
        _ends_like(lambda g, w, s, m: g - m * (w - s)),
        "the strength is the one that was handed to `build_my_prox`; yours is always 1",
        _ends_like(lambda g, w, s, m: g + (w - s)),
        "the strength is the one that was handed to `build_my_prox`; yours is always "
        "0.1",
        _ends_like(lambda g, w, s, m: g + 0.1 * (w - s)),
        "only the pull is left: hand in the gradient, too",
        _ends_like(lambda g, w, s, m: m * (w - s)),
        "this pulls to zero, and not to the server's model",
        _ends_like(lambda g, w, s, m: g + m * w),
        "this takes the step already; return the gradient to follow",
        _ends_like(lambda g, w, s, m: w - LOCAL_RATE * (g + m * (w - s))),
        "the parentheses run it: hand in the function",
        looks(lambda a: not callable(a)),
    ),
    hints=(
        "`gradients`, `weights` and `server` are dictionaries with the same two names. "
        "What has to be done with the two entries of each name?",
        "For each name: proximal_gradient(gradients[name], weights[name], "
        "server[name], strength).",
        "Fill the gaps:\n"
        "    return {\n"
        "        name: proximal_gradient(gradients[name], ..., ..., strength)\n"
        "        for name in gradients\n"
        "    }",
    ),
    limit_s=60.0,
)


BETA_1, BETA_2, EPSILON = 0.9, 0.99, 1e-3


def _fading(old: float, new: float) -> Callable[[Any, Any], Any]:
    """A running mean: how much of the old one stays, and of what is new comes in."""
    return lambda mean, value: old * mean + new * value


_M, _S = _fading(BETA_1, 1 - BETA_1), _fading(BETA_2, 1 - BETA_2)


def _adam(
    renew_m: Callable[[Any, Any], Any] = _M,
    renew_s: Callable[[Any, Any], Any] = _S,
    square: Callable[[Any, Any], Any] = lambda g, m: g**2,
    move: Callable[..., Any] = lambda rate, g, m, s: -rate * m / (np.sqrt(s) + EPSILON),
) -> Callable[..., Any]:
    """A server's step that is made of these parts; each can be a usual mistake."""

    def adam_step(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
        g = -update
        m = renew_m(m, g)
        s = renew_s(s, square(g, m))
        return weights + move(rate, g, m, s), m, s

    return adam_step


def _old_means(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    stepped = weights - rate * m / (np.sqrt(s) + EPSILON)
    return stepped, *_adam()(weights, m, s, update, rate)[1:]


_TWO: Final = np.array([1.0, -1.0])

ADAM_STEP = Exercise(
    name="adam_step",
    title="the server's step in FedAdam",
    points=10,
    want=wants.function(5),
    reference=_adam,
    cases=(
        Case("the first step", (1.0, 0.0, 0.0, 2.0, 0.1)),
        Case("a later step", (1.0, -0.5, 0.25, 2.0, 0.1)),
        Case("an update of 0: it rolls on", (3.0, 0.4, 0.09, 0.0, 0.5)),
        Case(
            "arrays: each weight by itself",
            (_TWO, np.array([0.1, 0.0]), np.array([4.0, 0.01]), 0.5 * _TWO, 0.03),
        ),
    ),
    mistakes=usual(
        "this goes the wrong way: a gradient points uphill, an update downhill, so g = "
        "-update",
        _adam(_fading(BETA_1, BETA_1 - 1)),
        "the root is missing: divide by √s, not by s",
        _adam(move=lambda rate, g, m, s: -rate * m / (s + EPSILON)),
        "epsilon stands outside the root: √s + epsilon",
        _adam(move=lambda rate, g, m, s: -rate * m / np.sqrt(s + EPSILON)),
        "this follows the latest update alone: step along m, the running mean",
        _adam(move=lambda rate, g, m, s: -rate * g / (np.sqrt(s) + EPSILON)),
        "the step uses m and s as they were: renew them first, then take the step",
        _old_means,
        "m points uphill, as g does: the step takes it *away*",
        _adam(move=lambda rate, g, m, s: rate * m / (np.sqrt(s) + EPSILON)),
        "brackets are missing: divide by (√s + epsilon) as a whole",
        _adam(move=lambda rate, g, m, s: -rate * m / np.sqrt(s) + EPSILON),
        "s is the running mean of g², not of m²",
        _adam(square=lambda g, m: m**2),
        "s is the running mean of the *squares*, of g**2",
        _adam(square=lambda g, m: g),
        "the two betas are swapped: m goes with 0.9, s with 0.99",
        _adam(_S, _M),
        "s is below zero, and has no root: -update**2 is -(update**2); square g, with "
        "g = -update",
        returns(lambda got, *_: bool(np.any(np.asarray(got[2]) < 0))),
        "s has its own beta: 0.99 and 0.01, where m has 0.9 and 0.1",
        _adam(renew_s=_M),
        "the old mean counts beta, and what is new (1 - beta)",
        _adam(renew_m=_fading(1 - BETA_1, BETA_1)),
        _adam(renew_s=_fading(1 - BETA_2, BETA_2)),
        _adam(_fading(1 - BETA_1, BETA_1), _fading(1 - BETA_2, BETA_2)),
        "these are sums that fade, not means: the new part counts (1 - beta)",
        _adam(_fading(BETA_1, 1), _fading(BETA_2, 1)),
        "this is the step of FedAvg: it adds the update as it is",
        _adam(move=lambda rate, g, m, s: -g),
    ),
    hints=(
        "Four lines, in the order of the formulas above: g, m, s, weights. Each line "
        "uses what the line before has made.",
        "g = -update; m = 0.9·m + 0.1·g; s = 0.99·s + 0.01·g²; "
        "weights = weights - rate · m / (√s + epsilon)",
        "Fill the gaps:\n"
        "    g = -update\n"
        "    m = BETA_1 * m + (1 - BETA_1) * ...\n"
        "    s = BETA_2 * s + (1 - BETA_2) * ...\n"
        "    weights = weights - rate * ... / (np.sqrt(...) + EPSILON)",
    ),
)


RATE: Final = 0.05

Pair = tuple[float, float]
Steer = Callable[[float, float, float], float]
"""The slope at the client, its own variate, the common one: the slope to follow."""
Renew = Callable[[float, float, float, int], float]
"""The client's own variate, the common one, how far it went down, in how many steps:
its next variate."""


def slope(weight: float, client: Pair) -> float:
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
        weight: float, client: Pair, own: float, common: float, steps: int
    ) -> Any:
        trained = weight
        for _ in range(steps):
            trained = trained - RATE * steer(slope(trained, client), own, common)
        return trained, renew(own, common, weight - trained, steps)

    return scaffold_client


def _stuck(weight: float, client: Pair, own: float, common: float, steps: int) -> Any:
    way = steps * RATE * _steered(slope(weight, client), own, common)
    return weight - way, _renewed(own, common, way, steps)


def _one_step(
    weight: float, client: Pair, own: float, common: float, steps: int
) -> Any:
    way = RATE * _steered(slope(weight, client), own, common)
    return weight - way, _renewed(own, common, way, steps)


def _renewed_each_step(
    weight: float, client: Pair, own: float, common: float, steps: int
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
    mistakes=usual(
        "this steers *with* the drift: take your own variate away, and add the common "
        "one",
        _client(steer=lambda slope, own, common: slope + own - common),
        "the client trained as in FedAvg: correct each slope before the step",
        _client(steer=lambda slope, own, common: slope),
        "the common variate is missing: without it nobody knows where the others want "
        "to go",
        _client(steer=lambda slope, own, common: slope - own),
        "your own variate is missing in the step: the client's slope is counted beside "
        "the common one",
        _client(steer=lambda slope, own, common: slope + common),
        "the slope was taken at the server's weight in each step; take it where the "
        "client is by now",
        _stuck,
        "this took one step only",
        _one_step,
        "this goes uphill: a step takes the rate times the slope *away*",
        _client(steer=lambda slope, own, common: -_steered(slope, own, common)),
        "brackets are missing: RATE multiplies the whole of slope - own + common",
        _client(steer=lambda slope, own, common: slope + (own - common) / RATE),
        "the rate is missing: a step is RATE times the corrected slope",
        _client(steer=lambda slope, own, common: _steered(slope, own, common) / RATE),
        "`own` is renewed once, after the loop: yours changes with each step",
        _renewed_each_step,
        "brackets are missing: divide by (steps * RATE) as a whole",
        _client(renew=lambda o, c, way, n: o - c + way / n * RATE),
        "the new variate forgets the correction: own - common belongs to it",
        _client(renew=lambda o, c, way, n: way / (n * RATE)),
        "the way has to be divided by the number of steps and by the rate",
        _client(renew=lambda o, c, way, n: o - c + way),
        "the way has to be divided by the number of steps, too: a variate is the slope "
        "of *one* step",
        _client(renew=lambda o, c, way, n: o - c + way / RATE),
        "the way has to be divided by the rate, too: slopes are asked for",
        _client(renew=lambda o, c, way, n: o - c + way / n),
        "the common variate is taken away, not added, when `own` is renewed",
        _client(renew=lambda o, c, way, n: o + c + way / (n * RATE)),
        "the way down is weight - trained; yours is the way up",
        _client(renew=lambda o, c, way, n: o - c - way / (n * RATE)),
        "the client's variate stayed as it was; it has to be renewed after the loop, "
        "with the way from `weight`, which must not move, to `trained`",
        _client(renew=lambda o, c, way, n: o),
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


LESSON: Final = Lesson(
    name="11_client_drift",
    title="Why do clients drift apart, and what cures it?",
    minutes=40,
    goals=(
        "show why more local work can give a worse model",
        "write what FedProx, FedAdam and SCAFFOLD change in a round",
        "compare algorithms over several seeds, and say which differences count",
    ),
    needs="lesson 10, federated averaging",
    exercises=(PROXIMAL_GRADIENT, BUILD_MY_PROX, ADAM_STEP, SCAFFOLD_CLIENT),
)
