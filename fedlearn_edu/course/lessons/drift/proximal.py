# SPDX-License-Identifier: Apache-2.0
"""FedProx: the pull back to the server's model, by itself and in a learning process."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from fedlearn_edu import learning
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Attempt, Case, Exercise, Mistake
from fedlearn_edu.course.mistakes import gives, looks, raises
from fedlearn_edu.learning.averaging import build_averaging_process
from fedlearn_edu.learning.local_training import Correction, LocalTrainingConfig
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
    mistakes=(
        gives(
            "the difference keeps its sign: a client below the server's model is "
            "pulled up, and one above it down; leave `abs` out",
            lambda g, w, s, strength: g + strength * abs(w - s),
        ),
        gives(
            "this pushes the client away from the server's model: turn the sign of the "
            "difference",
            lambda g, w, s, strength: g - strength * (w - s),
        ),
        gives("you left out the strength", lambda g, w, s, strength: g + (w - s)),
        gives(
            "this pulls to zero, and not to the server's model",
            lambda g, w, s, strength: g + strength * w,
        ),
        gives(
            "this is the pull alone; the client's own gradient has to stay in",
            lambda g, w, s, strength: strength * (w - s),
        ),
        gives(
            "this adds what the pull costs, a square; its gradient is asked for",
            lambda g, w, s, strength: g + strength / 2 * (w - s) ** 2,
        ),
        gives(
            "the half in front of the square goes away when you take the gradient",
            lambda g, w, s, strength: g + strength / 2 * (w - s),
        ),
        gives(
            "the 2 of the square and the half in front of it cancel: the pull is the "
            "strength times the difference, once",
            lambda g, w, s, strength: g + 2 * strength * (w - s),
        ),
        gives(
            "this adds a square; the gradient of a square has none",
            lambda g, w, s, strength: g + strength * (w - s) ** 2,
        ),
        gives(
            "brackets are missing: the strength multiplies the whole difference",
            lambda g, w, s, strength: g + strength * w - s,
        ),
        gives(
            "the gradient stands inside the brackets: only the difference is "
            "multiplied by the strength",
            lambda g, w, s, strength: strength * (g + w - s),
        ),
        gives("this is the gradient as it was", lambda g, *rest: g),
        gives(
            "this takes a step already; only the gradient is asked for",
            lambda g, w, s, strength: w - (g + strength * (w - s)),
        ),
        gives(
            "this is a step, with the strength as its rate; only the gradient is asked "
            "for",
            lambda g, w, s, strength: w - strength * g,
        ),
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

RATE: Final = 0.1
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

        return _process(model, correct)

    return build


def _process(model: Any, correct: Correction) -> Any:
    passes = LocalTrainingConfig(build_sgd(RATE), correct=correct)
    server = build_sgd(1.0)
    return build_averaging_process("my FedProx", model, passes, server, seed=0)


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


def _ends_like(says: str, pull: Pull, *unpulled: str) -> Mistake:
    """Made by whoever ends where clients end that are pulled in this way."""
    build = _built_with(pull, *unpulled)
    return gives(says, lambda strength, rounds: _weights_after(build, strength, rounds))


def _returned_no_process(attempt: Attempt) -> bool:
    return attempt.got is not None and not isinstance(attempt.got, dict)


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
    mistakes=(
        Mistake(
            "the process is not returned: the last line of the function has to stay",
            _returned_no_process,
        ),
        raises(
            "return a dictionary with both names: there has to be a gradient for "
            "`weights` and one for `bias`",
            r"KeyError|structure|nested|keys",
        ),
        raises(
            "`proximal_gradient` takes four arguments; the last is `strength`, which "
            "`build_my_prox` was handed",
            "missing . required positional",
        ),
        raises(
            "the names are keys: write `gradients[name]`, not `gradients.name`",
            "has no attribute",
        ),
        raises(
            "a model has two tensors, `weights` and `bias`: work on each of them by "
            "its name, and not on the dictionary as a whole",
            r"dict|unsupported operand",
        ),
        _ends_like(
            "the gradients went on as they were: this is FedAvg", lambda g, w, s, m: g
        ),
        _ends_like(
            "the bias is left alone: pull it back, too", _proximal_gradient, "bias"
        ),
        _ends_like(
            "clients are pushed away from the server: the client's weights come "
            "first, then the server's",
            lambda g, w, s, m: g - m * (w - s),
        ),
        _ends_like(
            "the strength is the one that was handed to `build_my_prox`; yours is "
            "always 1",
            lambda g, w, s, m: g + (w - s),
        ),
        _ends_like(
            "the strength is the one that was handed to `build_my_prox`; yours is "
            "always 0.1",
            lambda g, w, s, m: g + 0.1 * (w - s),
        ),
        _ends_like(
            "only the pull is left: hand in the gradient, too",
            lambda g, w, s, m: m * (w - s),
        ),
        _ends_like(
            "this pulls to zero, and not to the server's model",
            lambda g, w, s, m: g + m * w,
        ),
        _ends_like(
            "this takes the step already; return the gradient to follow",
            lambda g, w, s, m: w - RATE * (g + m * (w - s)),
        ),
        looks(
            "the parentheses run it: hand in the function", lambda a: not callable(a)
        ),
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
