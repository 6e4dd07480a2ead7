# SPDX-License-Identifier: Apache-2.0
"""Lesson 13: clients in other processes, what travels, and what a dead worker takes."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, reduce
from types import CodeType
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import MACHINE, Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import looks, raises, returns, usual
from fedlearn_edu.simulation import partitions
from fedlearn_edu.simulation.datasets import load_digits28

Model = dict[str, Any]
Days = Sequence[Sequence[float]]


def _same_bits(one: Model, other: Model) -> bool:
    return all(one[name].tobytes() == other[name].tobytes() for name in one)


def _model(weights: Any, bias: Any) -> Model:
    arrays = [np.array(each, np.float32) for each in (weights, bias)]
    return OrderedDict(zip(("weights", "bias"), arrays, strict=True))


def _one_bit_apart() -> tuple[Model, Model]:
    one, other = (_model(np.full([784, 10], 0.5), np.zeros(10)) for _ in range(2))
    other["weights"][400, 5] = np.nextafter(np.float32(0.5), np.float32(1))
    return one, other


_NUMBERS: Final = ([0.5, -1.0], [0.25])
_ONE: Final = _model(*_NUMBERS)
_NEARLY: Final = _model([0.5000001, -1.0], [0.25])


def _is_identity(same: Callable[[Model, Model], bool]) -> bool:
    return same(_ONE, _ONE) and not same(_ONE, _model(*_NUMBERS))


def _mentions(code: CodeType, name: str) -> bool:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return name in code.co_names or any(_mentions(each, name) for each in inner)


SAME_BITS = Exercise(
    name="same_bits",
    title="the same, bit for bit",
    points=5,
    want=wants.function(2),
    reference=lambda: _same_bits,
    cases=(
        Case("the same numbers", (_ONE, _model(*_NUMBERS))),
        Case("other weights", (_ONE, _model([0.5, 1.0], [0.25]))),
        Case("another bias", (_ONE, _model([0.5, -1.0], [0.5]))),
        Case("7,840 weights, one of which differs in its last bit", _one_bit_apart),
        Case(
            "0 and -0 are equal, but their bits differ", (_model(0, 1), _model(-0.0, 1))
        ),
        Case("`nan`, with the same bits", (_model(np.nan, 1), _model(np.nan, 1))),
    ),
    mistakes=usual(
        "equal numbers may differ in bits: 0 equals -0, and `nan` does not even equal "
        "itself; compare what `tobytes` gives",
        lambda one, other: all(np.array_equal(one[n], other[n]) for n in one),
        "a large array, when printed, leaves most numbers out: compare bytes",
        looks(lambda same: same(*_one_bit_apart()) and not same(_ONE, _NEARLY)),
        "`allclose` lets small differences pass: compare all bits, with `tobytes`",
        lambda one, other: all(np.allclose(one[n], other[n]) for n in one),
        "the bias is left out: compare all arrays",
        lambda one, other: one["weights"].tobytes() == other["weights"].tobytes(),
        "one equal array is not enough: *all* have to be equal",
        lambda one, other: any(one[n].tobytes() == other[n].tobytes() for n in one),
        "`tobytes()`, with parentheses: without them a method is compared, not bytes",
        looks(lambda same: _mentions(same.__code__, "tobytes") and _is_identity(same)),
        "`is` asks for the same object; two objects may have the same bits",
        looks(_is_identity),
        "this is the other way round: `True` means that they are the same",
        lambda one, other: not _same_bits(one, other),
        "`==` compares arrays number by number, and gives an array: compare what "
        "`tobytes` gives, name by name",
        raises("ambiguous"),
        "`all(…)` makes one answer of those for single arrays",
        returns(lambda got, *_: isinstance(got, Iterator | list)),
        "a model is a dictionary: its arrays have `tobytes`, under their names",
        raises("has no attribute 'tobytes'"),
    ),
    hints=(
        "Two models are the same if all their arrays are. Which arrays are there?",
        "The exercise names `array.tobytes()`, and bytes can be compared with `==`. A "
        "model is a dictionary: going through it gives the names of its arrays.",
        "One comparison for each name:\n    return all(... == ... for name in one)",
        "With what are these bits compared?\n"
        "    return all(one[name].tobytes() == ... for name in one)",
    ),
)


def _bytes_of_round(clients: int, max_fanout: int, model_bytes: int) -> int:
    return 2 * math.ceil(clients / max_fanout) * model_bytes


def _without_groups(count: Callable[[int, int, int], int]) -> str:
    """What groups save, by this way of counting."""
    alone, grouped = (count(1000, most, 31_400) / 1e6 for most in (1, 100))
    return (
        "A round of 1,000 clients with a message for each: "
        f"{alone:.1f} MB. In groups of 100: {grouped:.2f} MB."
    )


BYTES_OF_ROUND = Exercise(
    name="bytes_of_round",
    title="the bytes of a round",
    points=10,
    want=wants.function(3),
    reference=lambda: _bytes_of_round,
    cases=(
        Case("ten clients in two groups", (10, 5, 31_400)),
        Case("thirteen in groups of three, and a last one", (13, 3, 31_400)),
        Case("a group of one", (1, 100, 8)),
        Case("a thousand clients in ten groups", (1000, 100, 31_400)),
    ),
    mistakes=usual(
        "this counts a model for each client: a message is for a whole group",
        lambda clients, most, size: 2 * clients * size,
        "down, too, a message is for a whole group",
        lambda clients, most, size: (clients + math.ceil(clients / most)) * size,
        "this counts one way only: a model goes down, and a sum of models comes up",
        lambda clients, most, size: math.ceil(clients / most) * size,
        "this counts workers: each *group* has a message, and a worker may have many "
        "groups",
        lambda clients, most, size: 2 * 2 * size,
        "a group that is not full is a group, too: round up",
        lambda clients, most, size: 2 * (clients // most) * size,
        lambda clients, most, size: 2 * round(clients / most) * size,
        "if the last group is just full, there is no other: `math.ceil` sees to that",
        lambda clients, most, size: 2 * (clients // most + 1) * size,
        "there are no parts of groups: round up before you multiply",
        lambda clients, most, size: 2 * (clients / most) * size,
        lambda clients, most, size: math.ceil(2 * clients / most) * size,
        "this is the number of clients in a group; how many groups are there?",
        lambda clients, most, size: 2 * most * size,
        "this counts messages; how many bytes are in each?",
        lambda clients, most, size: 2 * math.ceil(clients / most),
    ),
    hints=(
        "How many groups are there? And what travels for each of them?",
        "The paragraph above the exercise says what travels: one message down, one "
        "answer up, each as large as a model. `math.ceil` rounds up.",
        "First the groups, then the bytes:\n"
        "    groups = math.ceil(... / ...)\n"
        "    return groups * ... * model_bytes",
        "How many models travel for each group?\n"
        "    groups = math.ceil(clients / max_fanout)\n"
        "    return groups * ... * model_bytes",
    ),
    reward=_without_groups,
)


def _load(client: int) -> Any:
    images, labels = load_digits28().train
    rows = np.flatnonzero(labels == client % 10)
    mine = np.random.default_rng(client).choice(rows, 70, replace=False)
    return partitions.batches(images, labels, mine, 10)


def _held(load: Callable[[int], Any], client: int) -> Any:
    sizes, digits = [], set[int]()
    for batch in load(client):
        assert len(batch["x"]) == len(batch["y"]), "x and y have other lengths"
        sizes.append(len(batch["y"]))
        digits.update(np.asarray(batch["y"]).tolist())
    different = len(set(_images(load(client))))
    return OrderedDict(
        digits=sorted(digits), images=sum(sizes), different=different, batches=sizes
    )


def _images(batches: Any) -> list[bytes]:
    return [
        np.asarray(row, np.float32).tobytes() for each in batches for row in each["x"]
    ]


_SAME, _OTHER = "the same images", "other images"
_LITTLE: Final = 50_000


def _once_more(load: Callable[[int], Any], client: int) -> str:
    """Whether a worker that comes later finds the same."""
    first = _images(load(client))
    load(client + 1)
    time.sleep(0 if load is _load else 1.05)  # for a clock of whole seconds
    return _SAME if _images(load(client)) == first else _OTHER


def _compared(load: Callable[[int], Any], one: int, other: int) -> str:
    found = [sorted(_images(load(client))) for client in (one, other)]
    return _SAME if found[0] == found[1] else _OTHER


@cache
def _training_images() -> frozenset[bytes]:
    images, labels = load_digits28().train
    everything = np.arange(len(labels))
    return frozenset(_images(partitions.batches(images, labels, everything, 100)))


def _are_real(load: Callable[[int], Any], client: int) -> bool:
    return set(_images(load(client))) <= _training_images()


def _taken_along(load: Callable[[int], Any]) -> str:
    """What travels with a loader."""
    size = len(fl.remote.pickling.value_part(load))
    return "little" if size < _LITTLE else f"{size / 1e6:.1f} MB"


def _holds(like: Callable[..., Any]) -> Any:
    return returns(lambda got, *clients: isinstance(got, dict) and like(got, *clients))


LOAD = Exercise(
    name="load",
    title="a loader",
    points=15,
    want=wants.function(1),
    reference=lambda: _load,
    cases=(
        Case("client 3 holds 70 threes, in seven batches", (3,), do=_held),
        Case("client 27 holds 70 sevens", (27,), do=_held),
        Case("they are training images, from 0 to 1", (8,), do=_are_real),
        Case("a second later, it loads the same", (4,), do=_once_more),
        Case("clients 3 and 13 hold different images", (3, 13), do=_compared),
        Case("little travels with it", do=_taken_along),
    ),
    mistakes=usual(
        "a second later there are other images, and another worker would go on with "
        "other data: no clock, and no generator without a seed; the seed is the "
        "client's number",
        returns(lambda got, *clients: len(clients) == 1 and got == _OTHER),
        "clients 3 and 13 hold the same images: let the seed depend on the client",
        returns(lambda got, *clients: len(clients) == 2 and got == _SAME),
        "there is no digit 27: a client's digit is `client % 10`",
        raises("empty|greater than 0|NonEmpty|low >= high"),
        "these are images of other digits: take them from the rows where "
        "`labels == client % 10`, and not from all",
        _holds(lambda got, client: got["digits"] != [client % 10]),
        "70 images are asked for, no more and no fewer",
        _holds(lambda got, client: got["images"] != 70),
        "some images are in it twice: `choice` takes each once with `replace=False`",
        _holds(lambda got, client: got["different"] != 70),
        "the images are right, but in batches of another size: make batches of 10",
        _holds(lambda got, client: set(got["batches"]) != {10}),
        "these are truth values: `np.flatnonzero` gives the positions that are true",
        raises("boolean index"),
        "these are fewer than 70: take the training images, `load_digits28().train`",
        raises("larger sample"),
        "these are positions, or arrays: make batches of them, with "
        "`partitions.batches(images, labels, mine, 10)`",
        raises(r"IndexError|KeyError|not subscriptable|indices must be|not iterable"),
        "images of the notebook travel with it, in every round: take them from "
        "`load_digits28().train`, inside of `load`",
        returns(lambda got, *_: str(got).endswith("MB")),
        "these are not the training images as `partitions.batches` gives them",
        returns(lambda got, *clients: got is False),
        "the parentheses call it: hand in the function itself",
        looks(lambda answer: not callable(answer)),
    ),
    hints=(
        "Four steps: all images, the rows of one digit, 70 of these rows, batches.",
        "The exercise names a function for each step. The rows are those where "
        "`labels == client % 10`, and the seed is the client's number.",
        "One line for each step:\n"
        "    images, labels = load_digits28().train\n"
        "    rows = np.flatnonzero(labels == ...)\n"
        "    mine = np.random.default_rng(...).choice(rows, ..., replace=False)\n"
        "    return partitions.batches(images, labels, ..., 10)",
        "Which images are in the batches?\n"
        "    images, labels = load_digits28().train\n"
        "    rows = np.flatnonzero(labels == client % 10)\n"
        "    mine = np.random.default_rng(client).choice(rows, 70, replace=False)\n"
        "    return partitions.batches(images, labels, ..., 10)",
    ),
    limit_s=60.0,
)


def _moved(guess: Any, reading: Any) -> Any:
    """One degree towards the reading, unless it is there."""
    return guess + np.sign(reading - guess)


def _guess_after() -> Any:
    """The same process, its step in NumPy: no check waits for TensorFlow."""
    step = fl.np_computation(_moved, np.float32, np.float32)

    def next_guess(guess: Any, readings: Any) -> Any:
        sent = fl.federated_broadcast(guess)
        return fl.federated_mean(fl.federated_map(step, (sent, readings)))

    types = fl.type_at_server(np.float32), fl.type_at_clients(np.float32)
    process = fl.federated_computation(next_guess, *types)
    return lambda days: reduce(process, days, np.float32(20))


def _guess(days: Days) -> float:
    """The same by hand."""
    guess = 20.0
    for readings in days:
        guess = float(np.mean(_moved(guess, np.array(readings))))
    return guess


GUESS_AFTER = Exercise(
    name="guess_after",
    title="a program from 2023",
    points=10,
    want=wants.function(1),
    reference=_guess_after,
    cases=(
        Case("three days, three homes", ([[22, 25, 18], [19, 24, 26], [17, 18, 19]],)),
        Case("one day", ([[18, 21, 19, 24, 500]],)),
        Case("no days", ([],)),
        Case("a home that joins", ([[21.5], [21.5, 24.0], [21.5, 24.0]],)),
    ),
    mistakes=usual(
        "`fedlearn_edu` has the language only: TFF's other names, such as `templates`, "
        "are in `fedlearn_edu.tff`",
        raises("is in fedlearn_edu.tff"),
        "TFF cannot be installed here: its names are in `fedlearn_edu.tff`",
        raises("No module named 't"),
        "the program calls the module `tff`: end the import with `as tff`",
        raises("name 'tff' is not defined"),
        "each day began with the first guess again: pass on what `next` returned the "
        "day before",
        lambda days: _guess(days[-1:]),
        "the first state is missing: `process.initialize()`, before the loop",
        raises("UnboundLocalError"),
        "`next` changes nothing: it returns the next state, which has to be kept",
        lambda days: 20.0,
        "this is the guess after the first day: `return` belongs after the loop",
        lambda days: _guess(days[:1]),
        "each round had the readings of the first day",
        lambda days: _guess(days[:1] * len(days)),
        "the last day was left out",
        lambda days: _guess(days[:-1]),
        "these are the guesses of all days: return the last one",
        returns(lambda got, _: isinstance(got, list | tuple)),
        "`next` takes a state, and then the readings of one day",
        raises(r"argument\.readings|fields|called with"),
        "`process.initialize()`, with nothing in its parentheses, is the first state",
        raises("found: +<computation|takes no argument"),
        "the state comes first, then the readings",
        raises(r"found: +float32\["),
        "in this program `next` returns the state itself, and nothing beside it",
        raises("attribute 'state'|unpack|invalid index"),
        "`days` is a list: go through it with `for readings in days`",
        raises("as an integer"),
        "a process has two computations: `process.initialize` and `process.next`",
        raises("IterativeProcess"),
    ),
    hints=(
        "Between two rounds the state is in a variable of your loop.",
        "`process.initialize()` gives the first state, `process.next(state, readings)` "
        "the one after a day. The program calls the module with TFF's names `tff`.",
        "An import, `import ... as tff`, and further down a loop:\n"
        "    state = ...\n"
        "    for readings in days:\n"
        "        state = process.next(...)\n"
        "    return state",
        "The import is `import fedlearn_edu.tff as tff`. What does a round take?\n"
        "    state = process.initialize()\n"
        "    for readings in days:\n"
        "        state = process.next(..., ...)\n"
        "    return state",
    ),
)


LESSON: Final = Lesson(
    name="13_remote_clients",
    title="Where do the clients run?",
    minutes=45,
    goals=(
        "run the clients of a program in other processes, with the same bits",
        "count what travels, and load data where they are used",
        "say what is lost with a worker, and what is not",
    ),
    needs="lesson 10, federated averaging, and groups of clients from lesson 7",
    exercises=(SAME_BITS, BYTES_OF_ROUND, LOAD, GUESS_AFTER),
    path=MACHINE,
    outcomes={
        "here-and-there": "the same",
        "after-a-kill": "the same, to the last bit",
    },
)
