# SPDX-License-Identifier: Apache-2.0
"""Exercises of lesson 08 that cut an array: by shares, and into batches."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Mistake
from fedlearn_edu.course.lessons.non_iid.parts import arrays_of
from fedlearn_edu.course.likeness import alike
from fedlearn_edu.course.mistakes import gives, raises, returns

_PRIMES: Final = np.array([2, 3, 5, 7, 11, 13, 17, 19])
_DRAWN: Final = np.array([0.02, 0.37, 0.001, 0.419, 0.19])
_SMALL: Final = np.array([0.14, 0.14, 0.14, 0.14, 0.14, 0.3])


def _ends(positions: Any, shares: Any) -> Any:
    return np.rint(np.cumsum(shares) * len(positions)).astype(int)


def _deal_by_shares() -> Any:
    def deal_by_shares(positions: Any, shares: Any) -> Any:
        return np.split(positions, _ends(positions, shares)[:-1])

    return deal_by_shares


def _parts(deal: Any, positions: Any, shares: Any) -> Any:
    dealt = deal(positions, shares)
    parts = arrays_of(dealt)
    return dealt if parts is None else parts


def _rounded(deal: Any, positions: Any, shares: Any) -> Any:
    """What may be said of parts, however the cuts were rounded."""
    found = deal(positions, shares)
    parts = arrays_of(found)
    if parts is None:
        return found
    sizes = np.array(list(map(len, parts)))
    dealt = np.sort(np.concatenate(parts))
    fits = len(sizes) == len(shares) and np.all(
        np.abs(sizes - shares * len(positions)) <= 1
    )
    return {
        "clients": len(parts),
        "each position once": np.array_equal(dealt, np.sort(positions)),
        "sizes as the shares say, to 1": bool(fits),
    }


def _comes(says: str, deal: Callable[[Any, Any], Any]) -> Mistake:
    return gives(says, lambda *inputs: _parts(deal, *inputs))


def _leave_some(positions: Any, shares: Any) -> Any:
    sizes = (shares * len(positions)).astype(int)
    starts = np.cumsum(sizes) - sizes
    return [positions[i : i + size] for i, size in zip(starts, sizes, strict=True)]


def _round_first(positions: Any, shares: Any) -> Any:
    sizes = np.rint(shares * len(positions)).astype(int)
    return np.split(positions, np.cumsum(sizes)[:-1])


def _is_mixed(got: Any, positions: Any, _shares: Any) -> bool:
    dealt = np.concatenate(got)
    return not alike(dealt, positions) and alike(np.sort(dealt), np.sort(positions))


def _is_sizes(got: Any, positions: Any, shares: Any) -> bool:
    ends = _ends(positions, shares)
    return alike(got, ends) or alike(got, np.diff(ends, prepend=0))


DEAL_BY_SHARES: Final = Exercise(
    name="deal_by_shares",
    title="cut by shares",
    points=15,
    want=wants.function(2),
    reference=_deal_by_shares,
    cases=(
        Case("half, quarter, quarter", (_PRIMES, np.array([0.5, 0.25, 0.25])), _parts),
        Case("a client with nothing", (_PRIMES[:4], np.array([0, 0.75, 0.25])), _parts),
        Case("one client", (_PRIMES[:3], np.array([1.0])), _parts),
        Case("three thirds of ten", (np.arange(10) + 5, np.full(3, 1 / 3)), _rounded),
        Case("shares as they are drawn", (np.arange(100) * 3, _DRAWN), _rounded),
        Case("small shares add up", (np.arange(10) + 2, _SMALL), _rounded),
    ),
    mistakes=(
        _comes(
            "one client too many: the last end is the end of the array, not a cut",
            lambda positions, shares: np.split(positions, _ends(positions, shares)),
        ),
        _comes(
            "you cut at the shares; cut where they add up to: `np.cumsum(shares)`",
            lambda positions, shares: np.split(
                positions, np.rint(shares * len(positions)).astype(int)[:-1]
            ),
        ),
        _comes(
            "you cut at the shares, and once too often: cut where they add up to, but "
            "not at the end",
            lambda positions, shares: np.split(
                positions, np.rint(shares * len(positions)).astype(int)
            ),
        ),
        _comes(
            "these are equal parts: the shares were not used",
            lambda positions, shares: np.array_split(positions, len(shares)),
        ),
        _comes(
            "these are places in `positions`; asked for is what stands there",
            lambda positions, shares: np.split(
                np.arange(len(positions)), _ends(positions, shares)[:-1]
            ),
        ),
        _comes(
            "each client takes from the start: begin where the one before it ended",
            lambda positions, shares: [
                positions[:size]
                for size in np.diff(_ends(positions, shares), prepend=0)
            ],
        ),
        gives(
            "nobody gets what rounding left over: round the sums, not the sizes",
            lambda positions, shares: _rounded(_leave_some, positions, shares),
        ),
        gives(
            "each share was rounded for itself, and that adds up: round the sums",
            lambda positions, shares: _rounded(_round_first, positions, shares),
        ),
        _comes(
            "shares add up to 1: multiply the sums by `len(positions)`",
            lambda positions, shares: np.split(
                positions, np.rint(np.cumsum(shares)).astype(int)[:-1]
            ),
        ),
        _comes(
            "the cut to leave out is the last one, not the first",
            lambda positions, shares: np.split(positions, _ends(positions, shares)[1:]),
        ),
        returns("everything is dealt, but not in the order of `positions`", _is_mixed),
        returns("these are numbers of positions, not the positions", _is_sizes),
        raises(
            "a cut is a whole number: `np.rint(…).astype(int)`",
            "slice indices must be integers|cannot be interpreted as an integer",
        ),
    ),
    hints=(
        "Where does client 0 end? Where do clients 0 and 1 end together?",
        "Cut k stands at (share 0 + … + share k) · n, rounded; "
        "`np.split(array, cuts)` cuts there. n parts need n - 1 cuts.",
        "Complete all three lines:\n"
        "    ends = np.cumsum(...) * len(positions)\n"
        "    cuts = np.rint(ends).astype(int)\n"
        "    return np.split(positions, cuts[...])",
    ),
)


def _cut_batches() -> Any:
    def cut_batches(examples: Any, batch_size: int) -> Any:
        starts = range(0, len(examples), batch_size)
        return [examples[start : start + batch_size] for start in starts]

    return cut_batches


def _case(name: str, examples: list[int], batch_size: int) -> Case:
    return Case(name, (np.array(examples), batch_size))


CUT_BATCHES: Final = Exercise(
    name="cut_batches",
    title="batches",
    points=5,
    want=wants.function(2),
    reference=_cut_batches,
    cases=(
        _case("ten in fours", [3, 1, 4, 1, 5, 9, 2, 6, 5, 3], 4),
        _case("six in twos", [2, 7, 1, 8, 2, 8], 2),
        _case("fewer than a batch", [1, 4], 5),
        _case("one by one", [1, 6, 1], 1),
    ),
    mistakes=(
        gives(
            "the last batch is gone: it may be smaller, but it has to be there",
            lambda x, n: [x[i : i + n] for i in range(0, len(x) - len(x) % n, n)],
        ),
        gives(
            "`batch_size` is how many examples a batch has, not how many batches",
            np.array_split,
        ),
        gives(
            "these are parts of about one size; all but the last have `batch_size`",
            lambda x, n: np.array_split(x, -(-len(x) // n)),
        ),
        gives(
            "batches overlap: go on by `batch_size`, not by 1",
            lambda x, n: [x[i : i + n] for i in range(len(x))],
        ),
        gives(
            "a slice ends at `start + batch_size`; yours ends at `batch_size`",
            lambda x, n: [x[i:n] for i in range(0, len(x), n)],
        ),
        gives("this is the first batch only", lambda x, n: x[:n]),
        gives("these are single examples: a batch is a slice", lambda x, n: x[::n]),
        returns(
            "one batch is empty: when it comes out even, there is no rest",
            lambda got, *_: any(len(batch) == 0 for batch in got),
        ),
        gives(
            "you went on to the end each time: a slice needs an end, too",
            lambda x, n: [x[i:] for i in range(0, len(x), n)],
        ),
        gives(
            "you took every so-manieth example; a batch is a run of neighbours",
            lambda x, n: [x[i::n] for i in range(n)],
        ),
        raises(
            "an array of rows cannot have a shorter last row: make a list of slices",
            "reshape|equal division",
        ),
    ),
    hints=(
        "Where does each batch start? 0, batch_size, 2 · batch_size, …",
        "`range(0, n, step)` counts in steps, and a slice that goes past the end of an "
        "array simply stops there.",
        "Complete the list:\n"
        "    starts = range(0, len(examples), ...)\n"
        "    return [examples[start : ...] for start in starts]",
    ),
)
