# SPDX-License-Identifier: Apache-2.0
"""Lesson 08: who holds what, how different clients are, and whether it matters."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu import viz
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import raises, returns, usual
from fedlearn_edu.simulation.datasets import load_digits28
from fedlearn_edu.testing.comparison import alike


def arrays_of(dealt: Any) -> list[NDArray[Any]] | None:
    """The parts as arrays, `None` if this is no list of one-dimensional ones.

    >>> arrays_of([[3, 1], [2]]), arrays_of([3, 1])
    ([array([3, 1]), array([2])], None)
    """
    if not isinstance(dealt, list | tuple | np.ndarray):
        return None
    parts = list(map(np.asarray, dealt))
    return parts if parts and all(part.ndim == 1 for part in parts) else None


_ENOUGH = 5  # positions of a client, to tell chance from order


def _deal_iid(num_examples: int, num_clients: int, rng: Any) -> Any:
    return np.array_split(rng.permutation(num_examples), num_clients)


def _dealt(deal: Any, num_examples: int, num_clients: int, rng: Any) -> Any:
    """What can be said of a deal, whatever `rng` was used for in it."""
    again, another = deepcopy(rng), np.random.default_rng(99)
    dealt = deal(num_examples, num_clients, rng)
    parts = arrays_of(dealt)
    if parts is None:
        return dealt
    held = [np.sort(each) for each in parts]
    repeated, other = (
        [np.sort(each) for each in deal(num_examples, num_clients, generator)]
        for generator in (again, another)
    )
    everything = np.sort(np.concatenate(held))
    return {
        "sizes": sorted(map(len, held)),
        "each position once": np.array_equal(everything, np.arange(num_examples)),
        "none twice": len(np.unique(everything)) == len(everything),
        "all below 10": num_examples > 10 and bool(everything[-1] < 10),
        "at random": len(held) == 1 or all(map(_is_mixed, held)),
        "the same again": all(map(np.array_equal, held, repeated)),
        "others with another seed": len(held) == 1
        or num_examples < _ENOUGH
        or not all(map(np.array_equal, held, other)),
    }


def _is_mixed(held: Any) -> bool:
    """Whether the gaps between positions differ: in order, they do not."""
    return len(held) < _ENOUGH or len(np.unique(np.diff(held))) > 1


def _comes(deal: Callable[[int, int, Any], Any]) -> Callable[..., Any]:
    return partial(_dealt, deal)


DEAL_IID: Final = Exercise(
    name="deal_iid",
    title="deal like cards",
    points=10,
    want=wants.function(3),
    reference=lambda: _deal_iid,
    cases=(
        Case("1,000 for ten clients", (1000, 10, np.random.default_rng(0)), _dealt),
        Case("103 for ten clients", (103, 10, np.random.default_rng(1)), _dealt),
        Case("one client", (20, 1, np.random.default_rng(2)), _dealt),
        Case("four for two clients", (4, 2, np.random.default_rng(3)), _dealt),
    ),
    mistakes=usual(
        "the positions come in a pattern: cut what `rng.permutation` returns (what it "
        "was given does not change)",
        _comes(lambda n, k, rng: np.array_split(np.arange(n), k)),
        returns(lambda got, *_: got["each position once"] and not got["at random"]),
        "these draws cannot be repeated: draw from `rng`, and from nothing else",
        returns(lambda got, *_: not got["the same again"]),
        "these draws are the same whatever `rng` is: draw from `rng`, and from "
        "nothing else",
        returns(lambda got, *_: not got["others with another seed"]),
        "the last few positions were not dealt",
        _comes(lambda n, k, rng: rng.permutation(n)[: n // k * k].reshape(k, n // k)),
        "this says who owns each position; return, for each client, its positions",
        returns(lambda got, _n, k, _rng: np.ndim(got) == 1 and max(got) < k),
        "this is one array: cut it into one part per client",
        returns(lambda got, *_: np.ndim(got) == 1),
        "shuffle `num_examples` positions, and cut them into `num_clients` parts",
        _comes(lambda n, k, rng: np.array_split(rng.permutation(n), n // k)),
        _comes(lambda n, k, rng: np.array_split(rng.permutation(n), n)),
        _comes(lambda n, k, rng: np.array_split(rng.permutation(k), n)),
        "sizes differ by more than one: shuffle all, then cut with `np.array_split`",
        returns(lambda got, *_: got["each position once"] and np.ptp(got["sizes"]) > 1),
        "nothing is held twice, but these are not the positions 0 to `num_examples - 1`"
        ": `rng.permutation(num_examples)` gives those",
        returns(lambda got, *_: not got["each position once"] and got["none twice"]),
        "some positions are held twice, and others not at all: shuffle once, without "
        "replacement, as `rng.permutation` does",
        returns(lambda got, *_: not got["each position once"]),
        "`np.split` cuts into equal parts only: `np.array_split` takes any number",
        raises("equal division"),
    ),
    hints=(
        "Shuffle the positions as you would shuffle cards, then cut the deck.",
        "The exercise names two functions: `rng.permutation(n)` returns 0, 1, …, n - 1 "
        "in random order, and `np.array_split(array, k)` cuts an array into k parts of "
        "almost equal size.",
        "Two lines:\n"
        "    shuffled = rng.permutation(...)\n"
        "    return np.array_split(..., ...)",
        "How many parts?\n"
        "    shuffled = rng.permutation(num_examples)\n"
        "    return np.array_split(shuffled, ...)",
    ),
)


def _deal_one_label(labels: Any, num_clients: int) -> Any:
    return [np.flatnonzero(labels == label) for label in range(num_clients)]


def _held(deal: Any, labels: Any, num_clients: int) -> Any:
    """What each client holds, in order; the order does not matter."""
    dealt = deal(labels, num_clients)
    parts = arrays_of(dealt)
    if parts is None:
        return dealt
    return [part if part.dtype == bool else np.sort(part) for part in parts]


def _holds(deal: Callable[[Any, int], Any]) -> Callable[..., Any]:
    return partial(_held, deal)


DEAL_ONE_LABEL: Final = Exercise(
    name="deal_one_label",
    title="one digit per client",
    points=5,
    want=wants.function(2),
    reference=lambda: _deal_one_label,
    cases=(
        Case("three labels", (np.array([1, 0, 2, 0, 1, 0]), 3), _held),
        Case("more labels than clients", (np.array([3, 1, 0, 1, 2, 0]), 2), _held),
        Case("one client", (np.array([5, 0, 0]), 1), _held),
        Case("200 of each label", (np.arange(3).repeat(200), 2), _held),
    ),
    mistakes=usual(
        "these are the labels themselves; return their positions",
        _holds(lambda labels, k: [labels[labels == label] for label in range(k)]),
        "these are masks of True and False: `np.flatnonzero` turns one into positions",
        _holds(lambda labels, k: [labels == label for label in range(k)]),
        "`np.where` returns a tuple: take its first part, or `np.flatnonzero`",
        _holds(lambda labels, k: [np.where(labels == label) for label in range(k)]),
        "these are equal parts of the sorted labels, so clients share a label",
        _holds(lambda labels, k: np.array_split(np.argsort(labels, kind="stable"), k)),
        "you dealt by position; client k gets the positions of label k",
        _holds(lambda labels, k: [np.arange(len(labels))[i::k] for i in range(k)]),
        "client 0 gets label 0, not label 1",
        _holds(lambda labels, k: [np.flatnonzero(labels == i + 1) for i in range(k)]),
        "this is only the first position of each label",
        _holds(lambda labels, k: [np.argmax(labels == i) for i in range(k)]),
        "labels from `num_clients` on are left out",
        _holds(lambda labels, k: [np.flatnonzero(labels % k == i) for i in range(k)]),
        "this uses `y`, the lesson's labels: take the argument `labels`",
        returns(lambda got, labels, _: max(map(max, got)) >= len(labels)),
        "one array for each client, and no more: loop over `range(num_clients)`",
        returns(lambda got, _, k: isinstance(got, list) and len(got) != k),
        "this is one list of all positions: each client has an array of its own",
        lambda labels, k: np.concatenate(_deal_one_label(labels, k)),
        "these are the positions of all other labels: `==`, not `!=`",
        _holds(lambda labels, k: [np.flatnonzero(labels != i) for i in range(k)]),
        "all get the same: compare with each client's own label, `labels == label`",
        _holds(lambda labels, k: [np.flatnonzero(labels) for _ in range(k)]),
        _holds(lambda labels, k: [np.flatnonzero(labels == 3) for _ in range(k)]),
        _holds(lambda labels, k: [np.flatnonzero(labels == k) for _ in range(k)]),
        "this is a dictionary: return a list, client 0 first",
        returns(lambda got, *_: isinstance(got, dict)),
        "this is one array: make a list, with one array for each client",
        returns(lambda got, *_: isinstance(got, np.ndarray) and got.ndim == 1),
    ),
    hints=(
        "For one client: which positions hold its label? Then the same for each.",
        "Both parts are in the text above the exercise: `labels == 3` is a mask, and "
        "`np.flatnonzero` gives its positions. The 3 becomes the client's number.",
        "A list with one entry per client:\n    return [... for label in range(...)]",
        "Which mask is it?\n"
        "    return [np.flatnonzero(...) for label in range(num_clients)]",
    ),
)


def _shares(counts: Any) -> Any:
    return np.asarray(counts) / np.sum(counts)


def _apart(counts: Any, whole: Any) -> Any:
    return np.abs(_shares(counts) - _shares(whole))


def _total_variation(counts: Any, whole: Any) -> Any:
    return _apart(counts, whole).sum() / 2


def _case(name: str, counts: list[int], whole: list[int]) -> Case:
    return Case(name, (np.array(counts), np.array(whole)))


TOTAL_VARIATION: Final = Exercise(
    name="total_variation",
    title="the distance from the whole",
    points=10,
    want=wants.function(2),
    reference=lambda: _total_variation,
    cases=(
        _case("one of five labels", [5, 0, 0, 0, 0], [4, 8, 6, 2, 5]),
        _case("two of four labels", [2, 2, 0, 0], [4, 8, 11, 2]),
        _case("a small copy of the whole", [1, 2, 1], [10, 20, 10]),
        _case("opposite shares", [1, 3], [30, 10]),
    ),
    mistakes=usual(
        "the half is missing: what one label has too much, another has too little, and "
        "both were counted",
        lambda counts, whole: _apart(counts, whole).sum(),
        "these are counts: divide each histogram by its sum first",
        lambda counts, whole: np.abs(counts - whole).sum() / 2,
        "the differences cancel: take the absolute value of each before you add, and "
        "halve the sum with `/`",
        lambda counts, whole: 0.0,
        "`//` rounds down; `/` divides",
        lambda counts, whole: (
            np.abs(counts // counts.sum() - whole // whole.sum()).sum() / 2
        ),
        "this is the largest difference; add up all of them, and halve the sum",
        lambda counts, whole: _apart(counts, whole).max(),
        lambda counts, whole: _apart(counts, whole).max() / 2,
        "this is a mean over the labels; return half the sum",
        lambda counts, whole: _apart(counts, whole).mean(),
        lambda counts, whole: _apart(counts, whole).mean() / 2,
        "this is in percent; return a share, between 0 and 1",
        lambda counts, whole: 50 * _apart(counts, whole).sum(),
        "you divided the counts by each other; subtract the shares",
        lambda counts, whole: np.abs(counts / whole).sum() / 2,
        "this is the Euclidean distance; take half the sum of absolute differences",
        lambda counts, whole: np.sqrt((_apart(counts, whole) ** 2).sum()),
        lambda counts, whole: np.sqrt((_apart(counts, whole) ** 2).sum()) / 2,
        "you divided each histogram by its largest count; divide it by its sum",
        lambda counts, whole: (
            np.abs(counts / counts.max() - whole / whole.max()).sum() / 2
        ),
        "this is what the two have in common; the distance is 1 minus that",
        lambda counts, whole: 1 - _apart(counts, whole).sum() / 2,
        "the client's counts became shares, but the whole is still counts",
        lambda counts, whole: np.abs(_shares(counts) - whole).sum() / 2,
        "you divided by the number of labels; divide each histogram by its sum",
        lambda counts, whole: np.abs(counts - whole).mean() / 2,
        "both were divided by the same number; each histogram has its own sum",
        lambda counts, whole: np.abs(counts - whole).sum() / whole.sum() / 2,
        lambda counts, whole: np.abs(counts - whole).sum() / 20,
        "the arguments are histograms already: `np.bincount` makes those of labels",
        raises("broadcast"),
        "these are the differences, label by label: add them up, and halve the sum",
        _apart,
        lambda counts, whole: _apart(counts, whole) / 2,
    ),
    hints=(
        "A client is much smaller than the whole, so compare shares, not counts.",
        "The formula above has two steps: divide both histograms by their sums; then "
        "take half the sum of the absolute differences, with `np.abs` and `.sum()`.",
        "Three lines:\n"
        "    p_k = counts / ...\n"
        "    p = whole / ...\n"
        "    return np.abs(...).sum() / 2",
        "What is summed here?\n"
        "    p_k = counts / counts.sum()\n"
        "    p = whole / whole.sum()\n"
        "    return np.abs(...).sum() / 2",
    ),
)


_PRIMES: Final = np.array([2, 3, 5, 7, 11, 13, 17, 19])
_DRAWN: Final = np.array([0.02, 0.37, 0.001, 0.419, 0.19])
_SMALL: Final = np.array([0.14, 0.14, 0.14, 0.14, 0.14, 0.3])


def _ends(positions: Any, shares: Any) -> Any:
    return np.rint(np.cumsum(shares) * len(positions)).astype(int)


def _deal_by_shares(positions: Any, shares: Any) -> Any:
    return np.split(positions, _ends(positions, shares)[:-1])


def _parts(deal: Any, positions: Any, shares: Any) -> Any:
    """The parts, or what may be said of them where their sizes have to be rounded."""
    dealt = deal(positions, shares)
    parts = arrays_of(dealt)
    exact = shares * len(positions)
    if parts is None or np.allclose(exact, np.rint(exact)):
        return dealt if parts is None else parts
    sizes = np.array(list(map(len, parts)))
    fits = len(sizes) == len(shares) and np.all(np.abs(sizes - exact) <= 1)
    held = np.sort(np.concatenate(parts))
    return {
        "clients": len(parts),
        "each position once": np.array_equal(held, np.sort(positions)),
        "sizes as the shares say, to 1": bool(fits),
    }


def _cuts(deal: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return partial(_parts, deal)


def _leave_some(positions: Any, shares: Any) -> Any:
    sizes = (shares * len(positions)).astype(int)
    starts = np.cumsum(sizes) - sizes
    return [positions[i : i + size] for i, size in zip(starts, sizes, strict=True)]


def _round_first(positions: Any, shares: Any) -> Any:
    sizes = np.rint(shares * len(positions)).astype(int)
    return np.split(positions, np.cumsum(sizes)[:-1])


def _is_reordered(got: Any, positions: Any, _shares: Any) -> bool:
    dealt = np.concatenate(got)
    return not alike(dealt, positions) and alike(np.sort(dealt), np.sort(positions))


def _is_drawn(got: Any, positions: Any, shares: Any) -> bool:
    off = np.array(list(map(len, got))) - shares * len(positions)
    return bool(np.abs(off).max() >= 1)


def _is_sizes(got: Any, positions: Any, shares: Any) -> bool:
    ends = _ends(positions, shares)
    sizes = np.diff(ends, prepend=0)
    return any(alike(got, each) for each in (ends, ends[:-1], sizes))


def _drawn(deal: Any) -> Any:
    """The embedded digits, cut by this deal for ten clients, with α = 0.1."""
    _, labels = load_digits28().train
    shares = np.random.default_rng(0).dirichlet(np.full(10, 0.1), size=10)
    parts = [deal(np.flatnonzero(labels == k), shares[k]) for k in range(10)]
    held = [np.concatenate(each).astype(int) for each in zip(*parts, strict=True)]
    return viz.draw_partition(labels, held)


DEAL_BY_SHARES: Final = Exercise(
    name="deal_by_shares",
    title="cut by shares",
    points=15,
    want=wants.function(2),
    reference=lambda: _deal_by_shares,
    cases=(
        Case("half, quarter, quarter", (_PRIMES, np.array([0.5, 0.25, 0.25])), _parts),
        Case("a client with nothing", (_PRIMES[:4], np.array([0, 0.75, 0.25])), _parts),
        Case("one client", (_PRIMES[:3], np.array([1.0])), _parts),
        Case(
            "ten in three equal shares", (np.arange(10) + 5, np.full(3, 1 / 3)), _parts
        ),
        Case("very uneven shares", (np.arange(100) * 3, _DRAWN), _parts),
        Case("rounding errors do not add up", (np.arange(10) + 2, _SMALL), _parts),
    ),
    mistakes=usual(
        "some positions were not dealt: round the running sums, not the sizes",
        _cuts(_leave_some),
        "you rounded each size, and the errors add up: round the running sums",
        _cuts(_round_first),
        "one client too many: the last end is the end of the array, not a cut",
        _cuts(lambda positions, shares: np.split(positions, _ends(positions, shares))),
        "these are equal parts: the shares were not used",
        _cuts(lambda positions, shares: np.array_split(positions, len(shares))),
        raises("equal division"),
        "these are indices into `positions`; return what stands there",
        _cuts(
            lambda positions, shares: np.split(
                np.arange(len(positions)), _ends(positions, shares)[:-1]
            )
        ),
        "each client takes from the start: begin where the one before it ended",
        _cuts(
            lambda positions, shares: [
                positions[:size]
                for size in np.diff(_ends(positions, shares), prepend=0)
            ]
        ),
        "the cut to leave out is the last one, not the first",
        _cuts(
            lambda positions, shares: np.split(positions, _ends(positions, shares)[1:])
        ),
        "everything is dealt, but not in the order of `positions`",
        returns(_is_reordered),
        "these are sizes, or cuts; return the positions themselves",
        returns(_is_sizes),
        "all is dealt in order, but cut elsewhere: cut at the running sums of the "
        "shares, times `len(positions)`",
        returns(lambda got, positions, _: alike(np.concatenate(got), positions)),
        "cuts are whole numbers: running sums times `len(positions)`, and then "
        "`np.rint(…).astype(int)`",
        raises("slice indices"),
    ),
    hints=(
        "Where does the part of client 0 end? Where do those of clients 0 and 1 end "
        "together? Cut there.",
        "Cut k is at (share 0 + … + share k) · n, rounded. The exercise names a "
        "function for the sums, one for rounding and one for cutting. For three parts "
        "you need two cuts.",
        "Three lines:\n"
        "    ends = np.cumsum(...) * ...\n"
        "    cuts = np.rint(...).astype(int)\n"
        "    return np.split(positions, ...)",
        "Which cut is one too many?\n"
        "    ends = np.cumsum(shares) * len(positions)\n"
        "    cuts = np.rint(ends).astype(int)\n"
        "    return np.split(positions, cuts[...])",
    ),
    reward=_drawn,
)


LESSON: Final = Lesson(
    name="08_non_iid_mnist",
    title="How different can clients be?",
    minutes=60,
    goals=(
        "deal the same examples to clients in three ways",
        "say in one number how far a client is from the whole",
        "tell which questions do not depend on who holds what",
    ),
    needs="lesson 1, and a little NumPy",
    exercises=(DEAL_IID, DEAL_ONE_LABEL, TOTAL_VARIATION, DEAL_BY_SHARES),
    outcomes={"summed": "as well as with IID clients", "alpha": "10"},
)
