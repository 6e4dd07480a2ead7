# SPDX-License-Identifier: Apache-2.0
"""Exercises of lesson 08 that deal positions: at random, and one label per client."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

import numpy as np

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Mistake
from fedlearn_edu.course.lessons.non_iid.parts import arrays_of
from fedlearn_edu.course.mistakes import gives, raises, returns

_ENOUGH = 5  # positions of a client, to tell chance from order


def _deal_iid() -> Any:
    def deal_iid(num_examples: int, num_clients: int, rng: Any) -> Any:
        return np.array_split(rng.permutation(num_examples), num_clients)

    return deal_iid


def _dealt(deal: Any, num_examples: int, num_clients: int, rng: Any) -> Any:
    """What can be said of a deal, whatever `rng` was used for in it."""
    again = deepcopy(rng)
    dealt = deal(num_examples, num_clients, rng)
    parts = arrays_of(dealt)
    if parts is None:
        return dealt
    held = [np.sort(each) for each in parts]
    repeated = [np.sort(each) for each in deal(num_examples, num_clients, again)]
    everything = np.sort(np.concatenate(held))
    return {
        "sizes": sorted(map(len, held)),
        "each position once": np.array_equal(everything, np.arange(num_examples)),
        "at random": len(held) == 1 or all(map(_is_mixed, held)),
        "the same again": all(map(np.array_equal, held, repeated)),
    }


def _is_mixed(held: Any) -> bool:
    """Whether the gaps between positions differ: in order, they do not."""
    return len(held) < _ENOUGH or len(np.unique(np.diff(held))) > 1


def _comes(says: str, deal: Callable[[int, int, Any], Any]) -> Mistake:
    return gives(says, lambda *inputs: _dealt(deal, *inputs))


DEAL_IID: Final = Exercise(
    name="deal_iid",
    title="deal like cards",
    points=10,
    want=wants.function(3),
    reference=_deal_iid,
    cases=(
        Case("100 for each of 10", (1000, 10, np.random.default_rng(0)), _dealt),
        Case("it does not come out even", (103, 10, np.random.default_rng(1)), _dealt),
        Case("one client", (20, 1, np.random.default_rng(2)), _dealt),
        Case("two of everything", (4, 2, np.random.default_rng(3)), _dealt),
    ),
    mistakes=(
        _comes(
            "the positions come in a pattern: mix all of them first, then cut",
            lambda n, k, rng: np.array_split(np.arange(n), k),
        ),
        returns(
            "you drew from `np.random`, so nobody can repeat this: draw from `rng`",
            lambda got, *_: not got["the same again"],
        ),
        _comes(
            "every client holds everything: cut the positions into parts",
            lambda n, k, rng: [rng.permutation(n)] * k,
        ),
        _comes(
            "the last few positions went to nobody",
            lambda n, k, rng: rng.permutation(n)[: n // k * k].reshape(k, n // k),
        ),
        returns(
            "this is one array: cut it, one part for each client",
            lambda got, *_: np.ndim(got) == 1,
        ),
        _comes(
            "the number of clients became the size of a part",
            lambda n, k, rng: np.array_split(rng.permutation(n), n // k),
        ),
        _comes(
            "the two numbers are swapped: mix the examples, and cut once per client",
            lambda n, k, rng: np.array_split(rng.permutation(k), n),
        ),
        returns(
            "sizes are left to chance: mix all positions, and cut into equal parts",
            lambda got, *_: got["each position once"] and np.ptp(got["sizes"]) > 1,
        ),
        returns(
            "some positions are held twice and others by nobody: draw without "
            "replacement, as `rng.permutation` does",
            lambda got, *_: not got["each position once"],
        ),
        raises(
            "`rng.shuffle` mixes in place and gives back nothing; `rng.permutation` "
            "gives the mixed positions",
            "NoneType",
        ),
        raises(
            "`np.split` wants parts of one size; `np.array_split` does not",
            "equal division",
        ),
    ),
    hints=(
        "Mix the positions as you would mix cards, then cut the pile.",
        "`rng.permutation(n)` is 0, 1, …, n-1 in random order, and "
        "`np.array_split(array, k)` cuts an array into k parts.",
        "Complete both lines:\n"
        "    mixed = rng.permutation(...)\n"
        "    return np.array_split(mixed, ...)",
    ),
)


def _deal_one_label() -> Any:
    def deal_one_label(labels: Any, num_clients: int) -> Any:
        return [np.flatnonzero(labels == label) for label in range(num_clients)]

    return deal_one_label


def _held(deal: Any, labels: Any, num_clients: int) -> Any:
    """What each client holds, in order; the order does not matter."""
    dealt = deal(labels, num_clients)
    parts = arrays_of(dealt)
    return dealt if parts is None else list(map(np.sort, parts))


def _holds(says: str, deal: Callable[[Any, int], Any]) -> Mistake:
    return gives(says, lambda *inputs: _held(deal, *inputs))


DEAL_ONE_LABEL: Final = Exercise(
    name="deal_one_label",
    title="one digit per client",
    points=5,
    want=wants.function(2),
    reference=_deal_one_label,
    cases=(
        Case("three labels", (np.array([1, 0, 2, 0, 1, 0]), 3), _held),
        Case("the rest is left out", (np.array([3, 1, 0, 1, 2, 0]), 2), _held),
        Case("one client", (np.array([5, 0, 0]), 1), _held),
    ),
    mistakes=(
        _holds(
            "these are the labels; asked for are their positions",
            lambda labels, k: [labels[labels == label] for label in range(k)],
        ),
        _holds(
            "these are masks of True and False: `np.flatnonzero` turns one into "
            "positions",
            lambda labels, k: [labels == label for label in range(k)],
        ),
        _holds(
            "`np.where` returns a tuple: take its first part, or `np.flatnonzero`",
            lambda labels, k: [np.where(labels == label) for label in range(k)],
        ),
        _holds(
            "these are equal parts of the sorted labels, so clients share a label",
            lambda labels, k: np.array_split(np.argsort(labels, kind="stable"), k),
        ),
        _holds(
            "you dealt by position; client k gets what shows label k",
            lambda labels, k: [np.arange(len(labels))[i::k] for i in range(k)],
        ),
        _holds(
            "client 0 gets label 0, not label 1",
            lambda labels, k: [np.flatnonzero(labels == i + 1) for i in range(k)],
        ),
        _holds(
            "this is one client per label; `num_clients` may be fewer",
            lambda labels, k: [np.flatnonzero(labels == i) for i in np.unique(labels)],
        ),
        _holds(
            "this is only the first position of each label",
            lambda labels, k: [np.argmax(labels == i) for i in range(k)],
        ),
        _holds(
            "labels from `num_clients` on went to somebody: they are left out",
            lambda labels, k: [np.flatnonzero(labels % k == i) for i in range(k)],
        ),
        returns(
            "this is a dictionary: return a list, client 0 first",
            lambda got, *_: isinstance(got, dict),
        ),
        returns(
            "this is one array: make a list, with one array for each client",
            lambda got, *_: isinstance(got, np.ndarray) and got.ndim == 1,
        ),
    ),
    hints=(
        "For one label: which positions of `labels` hold it? Then the same for each.",
        "`np.flatnonzero(labels == 3)` gives the positions of all threes.",
        "Complete the list:\n"
        "    return [np.flatnonzero(labels == ...) for label in range(...)]",
    ),
)
