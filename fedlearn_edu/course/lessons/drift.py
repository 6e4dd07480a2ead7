# SPDX-License-Identifier: Apache-2.0
"""Lesson 11a: clients drift apart; how different their updates are, and FedProx."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from fedlearn_edu import learning
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import raises, returns, usual
from fedlearn_edu.learning.averaging import build_averaging_process
from fedlearn_edu.learning.local_training import LocalTrainingConfig
from fedlearn_edu.learning.optimizers import Optimizer, build_sgd, map_structure

RATE: Final = 0.05
TWO: Final = ((1.0, 4.0), (3.0, 3.0))
LOCAL_STEPS: Final = 10

Pair = tuple[float, float]


def slope(weight: float, client: Pair) -> float:
    """Of the square of the error of a client whose data is one pair (x, y)."""
    x, y = client
    return 2 * x * (x * weight - y)


def dissimilarity(updates: Any) -> Any:
    """Which share of the clients' paths is lost in the mean."""
    lengths = np.linalg.norm(updates, axis=1)
    return 1 - np.linalg.norm(np.mean(updates, axis=0)) / np.mean(lengths)


def _norm(updates: Any, axis: int | None = None) -> Any:
    return np.linalg.norm(updates, axis=axis)


def _lost(length: Any, lengths: Any) -> Any:
    return 1 - length / np.mean(lengths)


DISSIMILARITY = Exercise(
    name="dissimilarity",
    title="how different updates are",
    points=15,
    want=wants.function(1),
    reference=lambda: dissimilarity,
    cases=(
        Case("two clients", lambda: (np.array([[3.0, -4.0, 0.0], [0.0, 2.0, 0.0]]),)),
        Case("all in one direction", lambda: (np.array([[1.0, 2], [2, 4], [3, 6]]),)),
        Case("a mean that stays", lambda: (np.array([[1.0, -2.0], [-1.0, 2.0]]),)),
        Case(
            "three clients, four weights",
            lambda: (np.array([[3.0, 0, 4, 0], [0, 1, 0, 0], [-2, 4, 0, 4]]),),
        ),
    ),
    mistakes=usual(
        "this is the share that is left; take the share that is lost, 1 minus it",
        lambda u: _norm(u.mean(axis=0)) / _norm(u, 1).mean(),
        lambda u: _norm(u.mean(axis=0)) / _norm(u, 1).mean() - 1,
        "brackets: the 1 stands before the fraction, and is not part of it",
        lambda u: (1 - _norm(u.mean(axis=0))) / _norm(u, 1).mean(),
        "the fraction is upside down: the length of the mean goes on top",
        lambda u: 1 - _norm(u, 1).mean() / _norm(u.mean(axis=0)),
        "this is the length that is lost; divide it by the mean length",
        lambda u: _norm(u, 1).mean() - _norm(u.mean(axis=0)),
        "on top goes the length of the mean update, `np.mean(updates, axis=0)`; below, "
        "the mean of the clients' lengths, each of them along `axis=1`",
        lambda u: _lost(_norm(u), _norm(u, 1)),
        lambda u: _lost(_norm(u.mean(axis=1)), _norm(u, 1)),
        lambda u: _lost(abs(u.mean()), _norm(u, 1)),
        lambda u: _lost(abs(u.mean()), _norm(u)),
        "a length is the root of a sum of squares, `np.linalg.norm`, and no sum",
        lambda u: 1 - abs(u.mean(axis=0)).sum() / abs(u).sum(axis=1).mean(),
        lambda u: _lost(abs(u.mean(axis=0)).sum(), _norm(u, 1)),
        "N is the number of clients, of *rows*: `len(updates)`",
        lambda u: _lost(_norm(u.sum(axis=0) / u.shape[1]), _norm(u, 1)),
        lambda u: _lost(_norm(u.sum(axis=0)), _norm(u, 1).sum() / u.shape[1]),
        "take the mean of the lengths first, then one fraction, and not a fraction for "
        "each client",
        lambda u: np.mean(1 - _norm(u.mean(axis=0)) / _norm(u, 1)),
        "this is the length of all updates as one vector: `axis=1` gives one length "
        "for each client",
        lambda u: _lost(_norm(u.mean(axis=0)), _norm(u)),
        "these are lengths over clients, one for each weight: a client is a row, so "
        "take `axis=1`",
        lambda u: _lost(_norm(u.mean(axis=0)), _norm(u, 0)),
        "the fraction is N times too small: take one mean of the updates and one of "
        "their lengths",
        lambda u: 1 - _norm(u.mean(axis=0)) / _norm(u, 1).sum(),
        "you took the sum of the updates; take their mean",
        lambda u: _lost(_norm(u.sum(axis=0)), _norm(u, 1)),
        "these lengths are squared: the root is missing",
        lambda u: _lost(_norm(u.mean(axis=0)) ** 2, _norm(u, 1) ** 2),
        lambda u: 1 - (_norm(u.mean(axis=0)) / _norm(u, 1).mean()) ** 2,
        "this is 0 or 1 and no share: `//` rounds down, `/` divides; and on top goes "
        "the length of the *mean*",
        lambda u: 0.0,
        lambda u: 1.0,
        "this is one number for each weight: `np.linalg.norm` of the mean update is "
        "missing",
        returns(lambda got, u: np.shape(got) == u.shape[1:]),
        "this is one number for each client: take the mean of the lengths, too",
        returns(lambda got, *_: np.ndim(got) > 0),
    ),
    hints=(
        "Two lengths: how far the mean went, and how far the clients went on average. "
        "Drift is the share of the second that is missing in the first.",
        "The formula is above. A row of `updates` is a client: the mean update is "
        "`np.mean(updates, axis=0)`, and `np.linalg.norm` of a vector is its length. "
        "`axis=1` gives the length of each row.",
        "Two lengths, and what is lost between them:\n"
        "    length_of_mean = np.linalg.norm(...)\n"
        "    mean_length = np.mean(...)\n"
        "    return 1 - ... / ...",
        "Only the axis is missing:\n"
        "    length_of_mean = np.linalg.norm(np.mean(updates, axis=0))\n"
        "    mean_length = np.mean(np.linalg.norm(updates, ...))\n"
        "    return 1 - length_of_mean / mean_length",
    ),
)


def _proximal_gradient(
    gradient: Any, weights: Any, server_weights: Any, strength: Any
) -> Any:
    return gradient + strength * (weights - server_weights)


def _walk(pull: Any, weight: float, strength: float) -> Any:
    """The weights of each client in a round, step by step."""
    paths = []
    for client in TWO:
        path = [weight]
        for _ in range(LOCAL_STEPS):
            gradient = pull(slope(path[-1], client), path[-1], weight, strength)
            path.append(path[-1] - RATE * gradient)
        paths.append(path)
    return np.array(paths)


def _with_and_without(pull: Any) -> Any:
    """A picture of the rounds at which both clients stay, with pull and without."""
    from fedlearn_edu import viz

    ends = []
    for strength in (0.0, 10.0):
        weight = 0.0
        for _ in range(60):
            weight = float(_walk(pull, weight, strength)[:, -1].mean())
        ends.append(_walk(pull, weight, strength))
    return viz.draw_local_steps(TWO, ends)


_MATRIX: Final = np.array([[0.5, -1.0], [2.0, 0.0]])

PROXIMAL_GRADIENT = Exercise(
    name="proximal_gradient",
    title="a gradient that pulls back",
    points=10,
    want=wants.function(4),
    reference=lambda: _proximal_gradient,
    cases=(
        Case("one weight", (3.0, 9.0, 2.0, 0.4)),
        Case("below the server's weight", (1.0, -2.0, 4.0, 0.1)),
        Case("strength 0 changes nothing", (-1.5, 7.0, 2.0, 0.0)),
        Case("where a round begins, nothing pulls", (2.0, 4.0, 4.0, 10.0)),
        Case("an array of weights", (_MATRIX, 2 * _MATRIX, np.ones((2, 2)), 0.3)),
    ),
    mistakes=usual(
        "the difference keeps its sign: a client below the server's model is pulled "
        "up, and one above it down; it is no length, so leave `abs` or `norm` out",
        lambda g, w, s, strength: g + strength * abs(w - s),
        "this pushes the client away from the server's model: turn the sign of the "
        "difference",
        lambda g, w, s, strength: g - strength * (w - s),
        "the strength is the argument, and not always 10",
        lambda g, w, s, strength: g + 10 * (w - s),
        "you left out the strength",
        lambda g, w, s, strength: g + (w - s),
        "this pulls to zero, and not to the server's model",
        lambda g, w, s, strength: g + strength * w,
        "the two weights are subtracted: where they are equal, nothing pulls",
        lambda g, w, s, strength: g + strength * w * s,
        lambda g, w, s, strength: g + strength * (w + s),
        "this is the pull alone; the client's own gradient has to stay in",
        lambda g, w, s, strength: strength * (w - s),
        "this adds what the pull costs, a square; its gradient is asked for",
        lambda g, w, s, strength: g + strength / 2 * (w - s) ** 2,
        lambda g, w, s, strength: g + strength * (w - s) ** 2,
        "the 2 of the square and the half in front of it cancel: the pull is the "
        "strength times the difference, once",
        lambda g, w, s, strength: g + strength / 2 * (w - s),
        lambda g, w, s, strength: g + 2 * strength * (w - s),
        "brackets: the strength multiplies the difference of weights, as a whole, and "
        "not the gradient",
        lambda g, w, s, strength: g + strength * w - s,
        lambda g, w, s, strength: (g + strength) * (w - s),
        lambda g, w, s, strength: strength * (g + w - s),
        lambda g, w, s, strength: strength * g + (w - s),
        "the pull is added to the gradient, and not multiplied by it",
        lambda g, w, s, strength: g * strength * (w - s),
        lambda g, w, s, strength: g * (1 + strength * (w - s)),
        "the gradient has no part in the difference: the client's weights minus the "
        "server's",
        lambda g, w, s, strength: g + strength * (g - s),
        lambda g, w, s, strength: w + strength * (w - s),
        "this is the gradient as it was",
        lambda g, *rest: g,
        "this takes a step already; only the gradient is asked for",
        lambda g, w, s, strength: w - (g + strength * (w - s)),
        lambda g, w, s, strength: w - 0.1 * (g + strength * (w - s)),
        lambda g, w, s, strength: w - RATE * (g + strength * (w - s)),
    ),
    hints=(
        "FedProx adds a term to the loss; its gradient is added to the gradient. "
        "Where does the pull point, and when is it zero?",
        "The term is in the formula above. The derivative of (weights - s)² is "
        "2 · (weights - s), and the 2 cancels the half.",
        "The gradient stays, and the pull is added:\n    return gradient + ... * (...)",
        "Only the server's part is missing:\n"
        "    return gradient + strength * (weights - ...)",
    ),
    reward=lambda answer: _with_and_without(answer),
)

Pull = Callable[[Any, Any, Any, float], Any]
"""A gradient, the client's weights, the server's, the strength: a gradient."""

LOCAL_RATE: Final = 0.1
TWO_CLIENTS: Final = (
    [{"x": [[0.0, 1.0], [1.0, 0.0]], "y": [0, 1]}, {"x": [[1.0, 1.0]], "y": [0]}],
    [{"x": [[0.0, 2.0]], "y": [1]}, {"x": [[2.0, 0.5]], "y": [1]}],
)


def _build_my_prox(model: Any, strength: float) -> Any:
    def correct(*gradients_and_weights: Any) -> Any:
        return map_structure(
            lambda g, w, s: _proximal_gradient(g, w, s, strength),
            *gradients_and_weights,
        )

    passes = LocalTrainingConfig(build_sgd(LOCAL_RATE), correct=correct)
    return build_averaging_process("my FedProx", model, passes, build_sgd(1.0), seed=0)


def _in_a_list(model: Any) -> Any:
    """The model with its weights in a list of layers, as a network has them."""
    return replace(
        model,
        initialize=lambda seed: [model.initialize(seed)],
        predict=lambda weights, x: model.predict(weights[0], x),
        gradient=lambda weights, batch: (
            [(found := model.gradient(weights[0], batch))[0]],
            found[1],
        ),
    )


def _weights_after(build: Any, strength: float, rounds: int, in_a_list: Any = 0) -> Any:
    """The model that the process of an answer ends with, on two small clients."""
    if build is _build_my_prox:
        return _ends_like(_proximal_gradient)(strength, rounds)
    model = learning.models.softmax_regression(features=2, classes=2)
    process = build(_in_a_list(model) if in_a_list else model, strength)
    is_process = isinstance(process, learning.LearningProcess)
    if not is_process or process.name == "FedProx":
        return process
    state = process.initialize()
    for _ in range(rounds):
        state, _ = process.next(state, TWO_CLIENTS)
    return dict(state.weights[0] if in_a_list else state.weights)


def averaged(
    change: Callable[..., Any],
    rounds: int,
    rate: float = LOCAL_RATE,
    epochs: int = 1,
    server: Optimizer | None = None,
    is_weighted: bool = True,
) -> Any:
    """The model after rounds of averaging; in NumPy, so that it takes no time.

    Clients follow what `change` makes of the gradients, their weights, the server's.
    """
    counts = [3, 2] if is_weighted else [1, 1]  # their examples
    step = server or build_sgd(1.0)
    w: Any = {"weights": np.zeros([2, 2]), "bias": np.zeros(2)}
    kept = step.initialize(w)
    for number in range(rounds):
        ends = [_trained(change, w, client * epochs, rate) for client in TWO_CLIENTS]
        back = {n: w[n] - np.average([e[n] for e in ends], 0, counts) for n in w}
        kept, w = step.next(kept, w, back, number)
        w = {name: np.asarray(each) for name, each in w.items()}
    return w


def _trained(change: Any, server: Any, batches: Any, rate: float) -> Any:
    w = dict(server)
    for batch in batches:
        x, hot = np.array(batch["x"]), np.eye(2)[batch["y"]]
        shares = np.exp(x @ w["weights"] + w["bias"])
        errors = (shares / shares.sum(1, keepdims=True) - hot) / len(x)
        found = change({"weights": x.T @ errors, "bias": errors.sum(0)}, w, server)
        w = {name: w[name] - rate * found[name] for name in w}
    return w


def _ends_like(pull: Pull, *unpulled: str) -> Callable[..., Any]:
    """Where clients end that are pulled in this way."""

    def ends(strength: float, rounds: int, *_: Any) -> Any:
        return averaged(
            lambda g, w, s: {
                n: g[n] if n in unpulled else pull(g[n], w[n], s[n], strength)
                for n in g
            },
            rounds,
        )

    return ends


OF_CORRECT: Final = (
    "NumPy cannot compute with tensors: use arithmetic and `abs`, or `import "
    "tensorflow as tf` and its functions",
    raises("NumPy code|of a tensor|SymbolicTensor object|name 'tf'"),
    "`map_structure` is a function, and its first argument is your function; the "
    "structures follow",
    raises(r"must be callable|\.map_structure of"),
    "a function returns nothing: is there a `return` in `correct`, and in each "
    "function inside?",
    raises("(?s)Second structure: type=NoneType|'NoneType'"),
    "a model is more than one array: hand `map_structure` a function, which it calls "
    "for each of them, and compute with its arguments alone",
    raises(r"'(?:[\w.]*OrderedDict|str)'|for each field|of an OrderedDict"),
    "each array needs its gradient: return a structure like the one that came in",
    raises(r"KeyError|structure|nested|keys"),
)
"""What goes wrong in a `correct`, here and in lesson 14: causes, and their signs."""

BUILD_MY_PROX = Exercise(
    name="build_my_prox",
    title="your gradient in a real learning process",
    points=15,
    want=wants.function(2),
    reference=lambda: _build_my_prox,
    cases=(
        Case("a strong pull, one round", (2.0, 1), do=_weights_after),
        Case("a weak pull, three rounds", (0.5, 3), do=_weights_after),
        Case("a network's list of layers", (2.0, 1, "in a list"), do=_weights_after),
    ),
    mistakes=usual(
        "a network keeps its arrays in a list of layers, which has no names: let "
        "`map_structure` go through whatever there is",
        raises(r"list indices|'list' object has no attribute"),
        "the strength is one number, and not a structure: let the function that you "
        "hand to `map_structure` take three arguments, and bring the strength along",
        raises(r"(?s)same nested structure.*\btype=float\b"),
        "`proximal_gradient` takes four arguments; the last is `strength`, which "
        "`build_my_prox` was handed",
        raises(r"proximal_gradient\(\) missing . required positional"),
        "`map_structure` takes `gradients`, `weights` and `server` one by one, in no "
        "list, and calls your function with three arrays: it takes three",
        raises(r"\(\) takes . positional|\(\) missing . required positional"),
        *OF_CORRECT,
        "this is the library's process: put yours together, with a `correct` of yours",
        returns(lambda got, *_: isinstance(got, learning.LearningProcess)),
        "the gradients went on as they were: this is FedAvg",
        _ends_like(lambda g, w, s, m: g),
        "clients are pushed away from the server: the client's weights come first, "
        "then the server's",
        _ends_like(lambda g, w, s, m: g - m * (w - s)),
        "the strength is what `build_my_prox` was handed, and not always 10, 1 or 0.1",
        _ends_like(lambda g, w, s, m: g + 10 * (w - s)),
        _ends_like(lambda g, w, s, m: g + (w - s)),
        _ends_like(lambda g, w, s, m: g + 0.1 * (w - s)),
        "only the pull is left: hand in the gradient, too",
        _ends_like(lambda g, w, s, m: m * (w - s)),
        "only one part of the model is pulled: let `map_structure` go through all",
        _ends_like(_proximal_gradient, "bias"),
        _ends_like(_proximal_gradient, "weights"),
        "the strength multiplies the client's weights minus the server's, in brackets",
        _ends_like(lambda g, w, s, m: g + m * w),
        _ends_like(lambda g, w, s, m: g + m * w - s),
        "the gradient comes first, then the client's weights, then the server's",
        _ends_like(lambda g, w, s, m: w + m * (g - s)),
        _ends_like(lambda g, w, s, m: s + m * (g - w)),
        "this takes the step already; return the gradient to follow",
        _ends_like(lambda g, w, s, m: w - LOCAL_RATE * (g + m * (w - s))),
    ),
    hints=(
        "Each array of the model has a gradient, weights at the client and weights at "
        "the server. What do you do with these three?",
        "`proximal_gradient`, from the exercise before, wants four arguments. Three "
        "are what `map_structure` brings together, the fourth is handed to "
        "`build_my_prox`.",
        "A function of three arrays, and `map_structure` to call it:\n"
        "    def pulled(g, w, s):\n"
        "        return proximal_gradient(...)\n\n"
        "    return map_structure(pulled, ...)",
        "Only the structures are missing:\n"
        "    def pulled(g, w, s):\n"
        "        return proximal_gradient(g, w, s, strength)\n\n"
        "    return map_structure(pulled, ..., ..., ...)",
    ),
    limit_s=60.0,
)


LESSON: Final = Lesson(
    name="11a_client_drift",
    title="Why can more local work make a worse model?",
    minutes=55,
    goals=(
        "show why more local work can give a worse model",
        "measure on digits how different the clients' updates are",
        "write what FedProx changes in a round, and say what it cannot cure",
    ),
    needs="lesson 10, and the derivative of a square",
    exercises=(DISSIMILARITY, PROXIMAL_GRADIENT, BUILD_MY_PROX),
    outcomes={
        "work": "as many, or more",
        "best-of-three": "1",
        "pull": "as large as before",
        "network": "better",
    },
)
