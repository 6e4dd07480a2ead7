# SPDX-License-Identifier: Apache-2.0
"""Lesson 14: an algorithm of one's own beside four others, under a fixed protocol.

There is no single right process. What is checked is what has to be true of each, and
of the protocol; the report is graded by hand.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from fedlearn_edu import learning
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson, named
from fedlearn_edu.course.lessons.drift import OF_CORRECT, TWO_CLIENTS, averaged
from fedlearn_edu.course.mistakes import raises, returns, usual
from fedlearn_edu.learning import optimizers
from fedlearn_edu.learning.averaging import build_averaging_process
from fedlearn_edu.learning.local_training import LocalTrainingConfig, build_client_round
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import map_structure
from fedlearn_edu.simulation import ClientData
from fedlearn_edu.testing.comparison import alike

_CLIENTS: Final = 10
_OF_THE_LIBRARY: Final = (
    *("FedAvg", "FedAvgM", "FedAdagrad", "FedAdam", "FedOpt", "FedYogi", "FedProx"),
    *("FedSGD", "SCAFFOLD", "federated averaging"),
)
_SERVERS: Final = {
    "SGD": ("FedAvg", optimizers.build_sgd),
    "SGDM": ("FedAvgM", optimizers.build_sgdm),
    "Adagrad": ("FedAdagrad", optimizers.build_adagrad),
    "Adam": ("FedAdam", optimizers.build_adam),
    "Yogi": ("FedYogi", optimizers.build_yogi),
}
_STRENGTHS: Final = (
    *(0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.5, 2.0, 3.0, 5.0),
    10.0,
)
# What the settings of a process say of its parts.
_PARTS: Final = re.compile(
    r"client SGD\(([\d.e-]+)\), (\d+) local epochs?, (weighted by|clients weighted) \w+"
    r", server (\w+)(?:\(([\w.=, -]+)\))?, seed \d+"
)


def _build_mine(model: Model) -> learning.LearningProcess:
    """A root makes small steps longer: where clients disagree, the mean is small."""

    def step(moments: Any, weights: Any, gradients: Any, number: Any) -> Any:
        roots = map_structure(lambda g: g / (abs(g) + 1e-9) ** 0.5, gradients)
        return moments, map_structure(lambda w, r: w - 0.1 * r, weights, roots)

    passes = LocalTrainingConfig(optimizers.build_sgd(0.1))
    root = optimizers.Optimizer("root", lambda weights: (), step)
    return build_averaging_process("mine", model, passes, root, seed=0)


@lru_cache(maxsize=8)
def _process(build: Any, features: int) -> Any:
    return build(learning.models.softmax_regression(features=features, classes=2))


def _closes(build: Any, features: int) -> str:
    """Whether a round takes what `initialize` and a round return."""
    process = _process(build, features)
    if not isinstance(process, learning.LearningProcess):
        return f"no learning process, but {named(process)}"
    step: Any = process.next.type_signature
    state = process.initialize.type_signature.result
    fits = step.parameter[0] == state == step.result[0]
    return "a round takes and returns the server's state" if fits else str(step)


def _weights(build: Any, features: int) -> str:
    """The type of the weights after a round."""
    process = _process(build, features)
    state: Any = process.next.type_signature.result
    return f"weights of type {state[0].member.weights}"


def _easy_data() -> ClientData:
    x = np.random.default_rng(5).standard_normal([_CLIENTS * 6, 3]).astype(np.float32)
    shares = np.arange(len(x)).reshape(_CLIENTS, 6)
    return ClientData(x, (x[:, 0] > 0).astype(np.int32), shares)


def _weights_after(process: learning.LearningProcess, rounds: int) -> Any:
    quiet = learning.Options(progress=False)
    return learning.run(
        process, _easy_data(), rounds, batch_size=3, options=quiet
    ).weights


def _whose(build: Any, rounds: int) -> str:
    """Whether it differs from the algorithms of the library and of the lesson."""
    process = _process(build, 2)
    settings, _, aggregator = process.settings.partition(", aggregator ")
    nests = len(re.findall(r"(?!mean\b)\b\w+\(", aggregator)) > 1
    if process.name in _OF_THE_LIBRARY and not nests:
        added = f" with {aggregator}" * (
            process.name != "SCAFFOLD" and aggregator != ""
        )
        return f"{process.name} of the library{added}"
    found = _weights_on_ten(process, rounds)
    if nests:
        return "your own"
    parts = _PARTS.fullmatch(settings)
    is_known = parts is not None and parts[4] in _SERVERS
    if parts is None or (aggregator and not is_known):
        return "your own"
    if aggregator:
        like = "FedAvg" * alike(found, _weights_on_ten(_plain(process, parts), rounds))
        return f"{like} with {aggregator}" if like else "your own"
    like = (
        _like(parts, found, rounds)
        if is_known
        else _by_hand(parts, _weights_on_ten(process, 1), found, rounds)
    )
    return f"{like}, named {process.name}" if like else "your own"


def _weights_on_ten(process: learning.LearningProcess, rounds: int) -> Any:
    """As on `TWO_CLIENTS`, and with as many clients as Krum needs."""
    state = process.initialize()
    for _ in range(rounds):
        state, _ = process.next(state, (_CLIENTS // 2) * TWO_CLIENTS)
    return dict(state.weights)


def _plain(
    process: learning.LearningProcess, parts: re.Match[str]
) -> learning.LearningProcess:
    """The same, with clients that follow their gradients as they are."""
    weighting = "examples" if parts[3] == "weighted by" else "uniform"
    sgd = optimizers.build_sgd(float(parts[1]))
    work = build_client_round(
        process.model, LocalTrainingConfig(sgd, int(parts[2]), weighting)
    )
    round_: Any = process.round
    changed = replace(round_, work=work)
    return replace(process, round=changed, next=changed.program())


def _like(parts: re.Match[str], found: Any, rounds: int) -> str:
    """Which known algorithm comes to the same, if one of these parts does."""
    rate, epochs, weighted, kind, numbers = parts.groups()
    name, build = _SERVERS[kind]
    server: Any = build(*(float(n.split("=")[-1]) for n in numbers.split(", ")))
    how = (rounds, float(rate), int(epochs), server, weighted == "weighted by")
    known: dict[str, Any] = {name: lambda g, w, s: g}
    for number in _STRENGTHS:
        known[f"FedProx({number})"] = partial(_pulled, number)
        known[f"the worked example, {number}"] = partial(_restricted, number)
        known[f"{name} at {number} of its rate"] = partial(_scaled, number)
    same = (each for each in known if alike(found, averaged(known[each], *how)))
    return next(same, "")


def _by_hand(parts: re.Match[str], once: Any, found: Any, rounds: int) -> str:
    """FedAvg at any rate, if that is what a server's step of one's own comes to."""
    rate, epochs, weighted, *_ = parts.groups()
    how = float(rate), int(epochs)

    def after(rounds: int, factor: float, momentum: float) -> Any:
        server = optimizers.build_sgdm(factor, momentum)
        by_size = weighted == "weighted by"
        return averaged(lambda g, w, s: g, rounds, *how, server, by_size)

    update = after(1, 1.0, 0.0)["weights"]
    factor = float(np.vdot(once["weights"], update) / np.vdot(update, update))
    momenta = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99) if factor > 0 else ()
    same = (m for m in momenta if alike(found, after(rounds, factor, m)))
    return next(("FedAvgM" if m else "FedAvg" for m in same), "")


def _scaled(factor: float, g: Any, w: Any, s: Any) -> Any:
    return {name: factor * part for name, part in g.items()}


def _restricted(rate: float, g: Any, w: Any, s: Any) -> Any:
    rates = np.where(g["bias"] > 0, rate, 1.0)
    return {name: rates * part for name, part in g.items()}


def _pulled(strength: float, g: Any, w: Any, s: Any) -> Any:
    return {name: g[name] + strength * (w[name] - s[name]) for name in g}


def _learns(build: Any, rounds: int) -> str:
    """Whether the loss falls on data that are easy to learn from."""
    process = _process(build, 3)
    judge = learning.build_federated_evaluation(process.model).on(_easy_data())
    before = judge(process.initialize().weights)["loss_per_example"]
    change = judge(_weights_after(process, rounds))["loss_per_example"] - before
    return f"the loss {'falls' if change < 0 else 'rises' if change else 'stays'}"


BUILD_MINE = Exercise(
    name="build_mine",
    title="a process of your own",
    points=10,
    want=wants.function(1),
    reference=lambda: _build_mine,
    cases=(
        Case("it can go on: its types", do=partial(_closes, features=3)),
        Case("the model's type stays as it is", do=partial(_weights, features=3)),
        Case("it trains the model that it is given", do=partial(_weights, features=5)),
        Case("it learns what is easy", do=partial(_learns, rounds=5)),
        Case(
            "it is yours: of no library, and no example", do=partial(_whose, rounds=2)
        ),
    ),
    mistakes=usual(
        "the process is not returned: end with `return build_averaging_process(…)`",
        returns(lambda got, *_: str(got).endswith("NoneType: None")),
        "return the process as a whole, not its parts",
        returns(lambda got, *_: str(got).startswith("no learning process")),
        "one aggregator is not yours yet, and the mean does not count: nest two, such "
        "as one that clips around a median, or write a function",
        returns(lambda got, *_: " with " in str(got)),
        "this is an algorithm of the library as it is: change one of its parts, and "
        "put them together with `build_averaging_process`, under a name of your own",
        returns(lambda got, *_: str(got).endswith("of the library")),
        "this is the worked example: change something else",
        returns(lambda got, *_: str(got).startswith("the worked example")),
        "this is an algorithm of the library under another name, perhaps at rates of "
        "yours (a factor on every gradient is one): a `correct` or a server's step has "
        "to do something else",
        returns(lambda got, *_: ", named" in str(got)),
        "it trains another model than the one it is given: use the argument `model`, "
        "and not a model from another cell",
        returns(lambda got, *_: "784" in str(got)),
        "the loss rises: is a rate too large, or has it the wrong sign?",
        returns(lambda got, *_: got == "the loss rises"),
        "nothing is learned: is a rate 0?",
        returns(lambda got, *_: got == "the loss stays"),
        "a rate alone is no optimizer: write `build_sgd(rate)`, at the clients and at "
        "the server",
        raises(r"'(float|int)' object has no attribute"),
        'a function alone is no part: write `Optimizer("mine", lambda weights: (), '
        "step)`, or `LocalTrainingConfig(…, correct=correct)`",
        raises("'function' object has no attribute"),
        "clients need a `LocalTrainingConfig`: it holds their optimizer and `correct`",
        raises(r"'Optimizer' object has no attribute|argument 'correct'"),
        "`build_averaging_process` needs five things: a name, the model, what clients "
        "do, the server's optimizer and a seed",
        raises(r"build_averaging_process\(\) missing"),
        "the name comes first, then the model",
        raises("trains a Model(?s:.*)found: +a str"),
        "an `Optimizer` is made of three: its name, a function of the weights, and the "
        "step",
        raises(r"Optimizer.__init__\(\)"),
        "`clipping` needs a rule inside, such as `median()`, which takes none itself, "
        "and the norm to clip to",
        raises("argument: 'inner'|clipping needs a norm"),
        "rules are in `aggregators`, and brackets make one: `aggregators.median()`",
        raises("name '(median|mean|clipping|(multi_)?krum)'|by a factory"),
        "a server's step returns two things, its memory and the weights, in this order",
        raises("true_fn and false_fn"),
        "`correct` is called with three things, the gradients, the weights and the "
        "server's; a server's step with four; a function in `map_structure` with one "
        "array of each structure",
        raises(r"takes \d+ positional arguments? but|missing \d required positional"),
        "a tensor decides no `if`, `and` or `max`: compute, as `is_absent` does above",
        raises("`if`, `while`"),
        *OF_CORRECT,
        "numbers become NaN: a root of a number below 0, or rates that are too large",
        raises("DivergenceError"),
    ),
    hints=(
        "Begin with FedAvg, and change one thing of which you can say why it should "
        "help with your problem.",
        "The worked example changes what clients follow. Lesson 11a does, too, with a "
        "pull; what else could `correct` do to a gradient, or an optimizer to a step? "
        "Or nest two aggregators: what cuts long updates around what is no mean.",
        "A function of yours, and where it goes:\n"
        "    def correct(gradients, weights, server): ...\n\n"
        "    passes = LocalTrainingConfig(build_sgd(0.1), correct=correct)\n"
        "    return build_averaging_process(...)",
        "Only what is yours is missing:\n"
        "    def correct(gradients, weights, server):\n"
        "        return map_structure(lambda g: ..., gradients)\n\n"
        "    passes = LocalTrainingConfig(build_sgd(0.1), correct=correct)\n"
        '    return build_averaging_process("mine", model, passes, build_sgd(1.0), '
        "seed=0)",
    ),
    limit_s=60.0,
)


Arrays = Sequence[Any]


def _adapted(array: Any, rank: int | None) -> int:
    """The bytes that cross in place of an array."""
    if rank is None or array.ndim != 2:
        return int(array.nbytes)
    return int(rank * sum(array.shape) * array.itemsize)


def _rounds_within(max_bytes: int, *round_: Any) -> int:
    return int(max_bytes // _bytes(max_bytes, *round_))


def _with(size: Callable[[Any, Any], float], ways: int = 2) -> Callable[..., Any]:
    """The same where an array has this size, and crosses this often."""
    return lambda limit, arrays, clients, rank: (
        limit // (ways * clients * sum(size(array, rank) for array in arrays))
    )


def _bytes(limit: int, arrays: Arrays, clients: int, rank: Any) -> int:
    return 2 * clients * sum(_adapted(array, rank) for array in arrays)


_MODEL: Final = [np.zeros([784, 10], np.float32), np.zeros(10, np.float32)]
_HALF: Final = [np.zeros([60, 40], np.float16), np.zeros(40, np.float16)]

ROUNDS_WITHIN = Exercise(
    name="rounds_within",
    title="how many rounds fit",
    points=10,
    want=wants.function(4),
    reference=lambda: _rounds_within,
    cases=(
        Case("the model as it is", (5_000_000, _MODEL, 10, None)),
        Case("an adapter of rank 2", (5_000_000, _MODEL, 10, 2)),
        Case("two bytes a number", (1_000_000, [*_HALF, *_HALF], 3, 3)),
        Case("it fits exactly", (62_800, _MODEL, 1, None)),
        Case("not even one", (20_000, _MODEL, 4, 2)),
        Case("a high rank", (9_000_000, _MODEL, 7, 12)),
    ),
    mistakes=usual(
        "this counts numbers; `array.itemsize` says how many bytes each of them has",
        _with(lambda a, r: _adapted(a, r) / a.itemsize),
        _with(lambda a, r: _adapted(a, r) / (a.itemsize if r and a.ndim == 2 else 1)),
        "not every number has 4 bytes: a `float16` has two; `array.itemsize` knows",
        _with(lambda a, r: 4 * _adapted(a, r) / a.itemsize),
        _with(lambda a, r: a.nbytes if not r or a.ndim != 2 else 4 * r * sum(a.shape)),
        "`len` counts the rows of a matrix; `array.nbytes` has all bytes",
        _with(lambda a, r: 4 * (r * sum(a.shape) if r and a.ndim == 2 else len(a))),
        "an adapter of a high rank is larger than the matrix; it crosses all the same",
        _with(lambda a, r: min(a.nbytes, _adapted(a, r))),
        "the number of clients is the argument `clients`, and not always ten",
        lambda limit, arrays, _, rank: _rounds_within(limit, arrays, 10, rank),
        "this is one client; all of them are sent to, and send",
        lambda limit, arrays, _, rank: _rounds_within(limit, arrays, 1, rank),
        "this is one way: what goes down comes up again",
        _with(_adapted, 1),
        "the model crosses as it is: with a rank, A and B do in place of a matrix",
        _with(lambda a, r: a.nbytes),
        "A has rows × rank numbers and B rank × columns: together rank times the *sum* "
        "of rows and columns",
        _with(lambda a, r: a.nbytes * (r or 1) if a.ndim == 2 else a.nbytes),
        _with(lambda a, r: a.nbytes * (r or 1) ** 2 if a.ndim == 2 else a.nbytes),
        "only one of the two is counted: A, of rows × rank, and B, of rank × columns",
        _with(
            lambda a, r: r * a.shape[-1] * a.itemsize if r and a.ndim == 2 else a.nbytes
        ),
        _with(lambda a, r: r * len(a) * a.itemsize if r and a.ndim == 2 else a.nbytes),
        "an array with one axis, the bias, has no adapter: it crosses as it is",
        raises("tuple index out of range|has no len"),
        _with(lambda a, r: r * sum(a.shape) * a.itemsize if r else a.nbytes),
        "an array with one axis, the bias, crosses, too",
        _with(lambda a, r: _adapted(a, r) if a.ndim == 2 or not r else 0),
        "the matrix stays where it is: only A and B cross, and not both and the matrix",
        _with(lambda a, r: _adapted(a, r) + (a.nbytes if r and a.ndim == 2 else 0)),
        "all arrays cross, not only the first or the last",
        lambda limit, arrays, *rest: _rounds_within(limit, arrays[:1], *rest),
        lambda limit, arrays, *rest: _rounds_within(limit, arrays[-1:], *rest),
        "brackets are missing: a division and a product are taken from left to right",
        lambda *given: given[0] // (_bytes(*given) // given[2]) * given[2],
        lambda *given: given[0] // (_bytes(*given) // given[2] // 2) * given[2],
        lambda *given: given[0] // (2 * given[2]) * (_bytes(*given) // given[2] // 2),
        lambda *given: given[0] // 2 * _bytes(*given) // 2,
        "a round that does not fit as a whole is not begun: round down, with `//`",
        lambda *given: given[0] / _bytes(*given),
        lambda *given: -(-given[0] // _bytes(*given)),
        "this is what a round sends; how often does that fit into `max_bytes`?",
        _bytes,
        "`rank` is `None` where the arrays cross as they are: ask for it first",
        raises("NoneType"),
    ),
    hints=(
        "What does one round send, with all clients together, down and up? How often "
        "does that fit?",
        "An array knows its bytes, `array.nbytes`, the bytes of one number, "
        "`array.itemsize`, and its `shape`. A and B together have rank · (rows + "
        "columns) numbers.",
        "Add up what crosses, then divide and round down:\n"
        "    for array in arrays:\n"
        "        crossing += ... if array.ndim == 2 and ... else array.nbytes\n"
        "    return max_bytes // (...)",
        "Only the adapter is missing:\n"
        "    crossing = 0\n"
        "    for array in arrays:\n"
        "        thin = rank is not None and array.ndim == 2\n"
        "        crossing += rank * ... * array.itemsize if thin else array.nbytes\n"
        "    return max_bytes // (2 * clients * crossing)",
    ),
    reward=lambda answer: (
        "In 5 MB, with ten clients: "
        f"{answer(5_000_000, _MODEL, 10, None)} rounds with models, "
        f"{answer(5_000_000, _MODEL, 10, 2)} with adapters of rank 2."
    ),
)


Finals = Mapping[str, Any]


def _ahead(finals: Finals, name: str) -> list[str]:
    return [other for other, f in finals.items() if np.all(finals[name] > f)]


def _those(is_ahead: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The names of which this is true: of our finals, and theirs."""
    return lambda finals, name: [
        other for other, found in finals.items() if is_ahead(finals[name], found)
    ]


def _beaten(answer: Any, finals: Finals, name: str) -> Any:
    """The names in any collection and order."""
    got = answer(finals, name)
    is_list = isinstance(got, list | tuple | set | np.ndarray)
    return sorted(got) if is_list and all(isinstance(n, str) for n in got) else got


# Each of the mistakes below finds another set of names that A is ahead of.
_FINALS: Final = {
    "A": np.array([0.90, 0.80, 0.85]),
    "B": np.array([0.89, 0.79, 0.84]),
    "C": np.array([0.90, 0.70, 0.70]),
    "D": np.array([0.87, 0.81, 0.86]),
    "E": np.array([0.95, 0.84, 0.80]),
    "G": np.array([0.96, 0.93, 0.97]),
    "H": np.array([0.79, 0.84, 0.70]),
    "I": np.array([0.85, 0.84, 0.83]),
    "J": np.array([0.80, 0.92, 0.95]),
    "K": np.array([0.70, 0.60, 0.50]),
}

CLEARLY_AHEAD = Exercise(
    name="clearly_ahead",
    title="ahead with every seed",
    points=5,
    want=wants.function(2),
    reference=lambda: _ahead,
    cases=(
        Case("three seeds", (_FINALS, "A"), do=_beaten),
        Case("the best of all", (_FINALS, "G"), do=_beaten),
        Case("ahead of nobody", (_FINALS, "K"), do=_beaten),
        Case(
            "one seed", ({"A": np.array([0.9]), "B": np.array([0.8])}, "A"), do=_beaten
        ),
    ),
    mistakes=usual(
        "these are all names, or all others: does the test compare, and has `all` its "
        "brackets, `.all()`?",
        lambda finals, name: list(finals),
        lambda finals, name: [other for other in finals if other != name],
        "this is too short: is a `return` inside of the loop, or does `all` stand "
        "around an array alone, and not around the comparison?",
        lambda finals, name: [],
        lambda finals, name: _ahead(finals, name)[:1],
        "this is `name` itself, again and again: return the names that it beats",
        returns(lambda got, _, name: set(got) == {name}),
        "these are means; ask seed by seed: `finals[name] > finals[other]`",
        _those(lambda mine, theirs: mine.mean() > theirs.mean()),
        "one seed is not enough: it has to be ahead with each",
        _those(lambda mine, theirs: np.any(mine > theirs)),
        "most seeds are not enough: it has to be ahead with each",
        _those(lambda mine, theirs: np.sum(mine > theirs) > len(mine) / 2),
        "the best or the worst result of each is not of the same seed: with one seed "
        "all met the same data, so compare seed by seed",
        _those(lambda mine, theirs: mine.min() > theirs.max()),
        _those(lambda mine, theirs: mine.min() > theirs.min()),
        _those(lambda mine, theirs: mine.max() > theirs.max()),
        "sorting breaks the pairs: with one seed all met the same data",
        _those(lambda mine, theirs: np.all(np.sort(mine) > np.sort(theirs))),
        _those(lambda mine, theirs: sorted(mine) > sorted(theirs)),
        "equal is not ahead, with no seed: write `>`, and not `>=`",
        _those(lambda mine, theirs: np.all(mine >= theirs)),
        _those(lambda mine, theirs: np.all(mine >= theirs) and mine is not theirs),
        "these are the ones that are ahead of it: turn the sign",
        _those(lambda mine, theirs: np.all(mine < theirs)),
        "this looks at one seed only",
        _those(lambda mine, theirs: mine[0] > theirs[0]),
        _those(lambda mine, theirs: mine[-1] > theirs[-1]),
        "an array is no single truth: say `np.all(...)`",
        raises("truth value of an array"),
        "names are asked for: not how many, not arrays, and not what is true of each",
        returns(lambda got, *_: not np.ndim(got) or not isinstance(got[0], str)),
        "a loop over `finals` gives names; `finals.items()` gives a name and its "
        "array, and `finals.values()` only arrays",
        raises("unpack|unhashable|inhomogeneous"),
        "use the arguments: `finals` has the arrays, and the one to compare is `name`",
        raises("KeyError|NameError"),
    ),
    hints=(
        "With one seed all processes met the same data: compare seed by seed.",
        "`finals[name] > finals[other]` is an array with a truth for each seed, and "
        "`np.all` says whether all are true.",
        "A list of names:\n    return [other for other in finals if ...]",
        "One part is missing:\n"
        "    return [other for other in finals if np.all(finals[name] > ...)]",
    ),
)


LESSON: Final = Lesson(
    name="14_your_own_algorithm",
    title="Can you beat four algorithms, and show it fairly?",
    minutes=75,
    goals=(
        "write a learning process of your own for one of three problems",
        "run it beside others by a protocol, and say whom it favors",
        "say which differences count, and report what does not work",
    ),
    needs="lessons 10, 11a and 11b",
    exercises=(BUILD_MINE, CLEARLY_AHEAD, ROUNDS_WITHIN),
    outcomes={"four-bits": "about half", "second-report": "2"},
)
