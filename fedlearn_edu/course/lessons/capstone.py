# SPDX-License-Identifier: Apache-2.0
"""Lesson 14: an algorithm of one's own beside four others, under a fixed protocol.

There is no single right process. What is checked is what has to be true of each, and
of the protocol; the report is graded by hand.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from fedlearn_edu import learning
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson, named
from fedlearn_edu.course.mistakes import looks, raises, returns, usual
from fedlearn_edu.learning.averaging import build_averaging_process
from fedlearn_edu.learning.local_training import LocalTrainingConfig
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import build_sgd, build_sgdm
from fedlearn_edu.simulation import ClientData
from fedlearn_edu.testing.comparison import alike

_CLIENTS: Final = 10
_OF_THE_LIBRARY: Final = (
    *("FedAvg", "FedAvgM", "FedAdagrad", "FedAdam", "FedOpt", "FedYogi", "FedProx"),
    *("FedSGD", "SCAFFOLD", "federated averaging"),
)


def _build_mine(model: Model) -> learning.LearningProcess:
    passes, server = LocalTrainingConfig(build_sgd(0.1)), build_sgdm(1.0, 0.5)
    return build_averaging_process("mine", model, passes, server, seed=0)


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
    """Whether it differs from the algorithms of the library."""
    process = _process(build, 3)
    if process.name in _OF_THE_LIBRARY:
        return f"{process.name} of the library"
    fed_avg = learning.build_fed_avg(process.model, 0.1)
    found, theirs = (_weights_after(each, rounds) for each in (process, fed_avg))
    return f"FedAvg, named {process.name}" if alike(found, theirs) else "your own"


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
        Case("it can go on: its types", (3,), do=_closes),
        Case("the model's type stays as it is", (3,), do=_weights),
        Case("it trains the model that it is given", (5,), do=_weights),
        Case("it learns what is easy", (5,), do=_learns),
        Case("it differs from those of the library", (2,), do=_whose),
    ),
    mistakes=usual(
        "the process is not returned: end with `return build_averaging_process(…)`",
        returns(lambda got, *_: str(got).endswith("NoneType: None")),
        "return the process as a whole, not its parts",
        returns(lambda got, *_: str(got).startswith("no learning process")),
        "this is an algorithm of the library as it is: change one of its parts, and "
        "put them together with `build_averaging_process`, under a name of your own",
        returns(lambda got, *_: str(got).endswith("of the library")),
        "this is FedAvg under another name: change one of its parts",
        returns(lambda got, *_: str(got).startswith("FedAvg, named")),
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
        "a rate is above 0: the step goes downhill already",
        raises("a learning rate says"),
        "clients need a `LocalTrainingConfig`, which holds their optimizer",
        raises(r"'Optimizer' object has no attribute"),
        "`build_averaging_process` needs five things: a name, the model, what clients "
        "do, the server's optimizer and a seed",
        raises("missing .* required positional"),
        "it diverges: numbers become NaN; take smaller rates",
        raises("DivergenceError"),
        "the parentheses run it: hand in the function",
        looks(lambda answer: not callable(answer)),
    ),
    hints=(
        "Begin with FedAvg, and change one thing of which you can say why it should "
        "help with your problem.",
        "The table above names the parts. `build_averaging_process` puts them "
        "together; lesson 11b builds FedProx with it.",
        "Three steps:\n"
        "    passes = LocalTrainingConfig(...)\n"
        "    server = ...\n"
        "    return build_averaging_process(...)",
        "FedAvg, with a server of your choice:\n"
        "    passes = LocalTrainingConfig(build_sgd(0.1))\n"
        "    server = ...\n"
        '    return build_averaging_process("mine", model, passes, server, seed=0)',
    ),
    limit_s=60.0,
)


Arrays = Sequence[Any]


def _rounds_within(max_bytes: int, crossing: Arrays, clients: int) -> int:
    return int(max_bytes // (clients * sum(array.nbytes for array in crossing)))


def _in_rounds(size: Callable[[Arrays, int], int]) -> Callable[..., Any]:
    """How many rounds there are where a round has this size."""
    return lambda limit, crossing, clients: limit // size(crossing, clients)


_WEIGHTS, _BIAS = np.zeros([784, 10], np.float32), np.zeros(10, np.float32)
_SHORT: Final = np.zeros(3925, np.uint8)

ROUNDS_WITHIN = Exercise(
    name="rounds_within",
    title="how many rounds fit",
    points=5,
    want=wants.function(3),
    reference=lambda: _rounds_within,
    cases=(
        Case("FedAvg: a model each way", (5_000_000, [_WEIGHTS, _BIAS] * 2, 10)),
        Case("bytes, not numbers: a short update", (10_000, [_SHORT, _BIAS], 2)),
        Case("it fits exactly", (320, [_BIAS, _BIAS], 2)),
        Case("not even one", (100, [_WEIGHTS], 1)),
    ),
    mistakes=usual(
        "this counts numbers; a `float32` has 4 bytes, and `array.nbytes` knows",
        _in_rounds(lambda arrays, clients: clients * sum(a.size for a in arrays)),
        "not every number has 4 bytes: an `uint8` has one; `array.nbytes` knows",
        _in_rounds(lambda arrays, clients: 4 * clients * sum(a.size for a in arrays)),
        "this is one client; all of them are sent to, and send",
        _in_rounds(lambda arrays, clients: sum(a.nbytes for a in arrays)),
        "all arrays cross, not only the first",
        _in_rounds(lambda arrays, clients: clients * arrays[0].nbytes),
        "all arrays cross, not only the last",
        _in_rounds(lambda arrays, clients: clients * arrays[-1].nbytes),
        "`crossing` has both directions already: do not double it",
        _in_rounds(lambda arrays, clients: 2 * clients * sum(a.nbytes for a in arrays)),
        "this counts arrays, and not their bytes",
        _in_rounds(lambda arrays, clients: clients * len(arrays)),
        "brackets are missing: a division and a product are taken from left to right",
        lambda limit, arrays, clients: limit // sum(a.nbytes for a in arrays) * clients,
        "a round that does not fit as a whole is not begun: round down, with `//`",
        lambda limit, arrays, clients: (
            limit / (clients * sum(a.nbytes for a in arrays))
        ),
        lambda limit, arrays, clients: (
            -(-limit // (clients * sum(a.nbytes for a in arrays)))
        ),
        "this is what a round sends; how often does that fit into `max_bytes`?",
        lambda limit, arrays, clients: clients * sum(a.nbytes for a in arrays),
    ),
    hints=(
        "What does one round send, with all clients together? How often does that fit?",
        "An array knows its bytes: `array.nbytes`. The cell above shows what crosses "
        "to and from one client.",
        "A division that rounds down:\n    return max_bytes // (clients * ...)",
        "Only what is added up is missing:\n"
        "    return max_bytes // (clients * sum(... for array in crossing))",
    ),
    reward=lambda answer: (
        "FedAvg in 5 MB, with ten clients: "
        f"{answer(5_000_000, [_WEIGHTS, _BIAS] * 2, 10)} rounds."
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


# Each of the mistakes below finds another set of names that A is ahead of.
_FINALS: Final = {
    "A": np.array([0.90, 0.80, 0.85]),
    "B": np.array([0.89, 0.79, 0.84]),
    "C": np.array([0.91, 0.70, 0.70]),
    "D": np.array([0.87, 0.81, 0.86]),
    "E": np.array([0.95, 0.84, 0.80]),
    "F": np.array([0.50, 0.92, 0.86]),
    "G": np.array([0.96, 0.93, 0.97]),
    "H": np.array([0.79, 0.84, 0.70]),
}

CLEARLY_AHEAD = Exercise(
    name="clearly_ahead",
    title="which differences count",
    points=10,
    want=wants.function(2),
    reference=lambda: _ahead,
    cases=(
        Case("three seeds", (_FINALS, "A")),
        Case("the best of all", (_FINALS, "G")),
        Case("ahead of nobody", (_FINALS, "C")),
        Case("one seed", ({"A": np.array([0.9]), "B": np.array([0.8])}, "A")),
    ),
    mistakes=usual(
        "these are means; ask under each seed: `finals[name] > finals[other]`",
        _those(lambda mine, theirs: mine.mean() > theirs.mean()),
        "under one seed is not enough: it has to be ahead under all of them",
        _those(lambda mine, theirs: np.any(mine > theirs)),
        "this compares your worst seed with their best. Seeds are pairs: under one "
        "seed all met the same data",
        _those(lambda mine, theirs: mine.min() > theirs.max()),
        "this compares the best seeds only",
        _those(lambda mine, theirs: mine.max() > theirs.max()),
        "this compares the worst seeds only",
        _those(lambda mine, theirs: mine.min() > theirs.min()),
        "sorting breaks the pairs: under one seed all met the same data",
        _those(lambda mine, theirs: np.all(np.sort(mine) > np.sort(theirs))),
        "equal is not ahead: write `>`; with `>=` each is ahead of itself",
        _those(lambda mine, theirs: np.all(mine >= theirs)),
        "these are the ones that are ahead of it: turn the sign",
        _those(lambda mine, theirs: np.all(mine < theirs)),
        "this looks at the first seed only",
        _those(lambda mine, theirs: mine[0] > theirs[0]),
        "most seeds are not all of them",
        _those(lambda mine, theirs: (mine > theirs).mean() > 0.5),
        "return the names, and not how many there are",
        returns(lambda got, *_: isinstance(got, int | np.integer)),
        "an array is no single truth: say `np.all(...)`",
        raises("truth value of an array"),
    ),
    hints=(
        "Under one seed all processes met the same data: compare seed by seed.",
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
    minutes=45,
    goals=(
        "write a learning process of your own for one of three problems",
        "run it beside others by a protocol that favors none of them",
        "say which differences count, and report what does not work",
    ),
    needs="lessons 10, 11a and 11b",
    exercises=(BUILD_MINE, ROUNDS_WITHIN, CLEARLY_AHEAD),
    outcomes={"four-bits": "about half"},
)
