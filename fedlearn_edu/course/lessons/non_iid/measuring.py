# SPDX-License-Identifier: Apache-2.0
"""The exercise of lesson 08 that says in a number how unlike the whole a client is."""

from typing import Any, Final

import numpy as np

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives


def _shares(counts: Any) -> Any:
    return np.asarray(counts) / np.sum(counts)


def _apart(counts: Any, whole: Any) -> Any:
    return np.abs(_shares(counts) - _shares(whole))


def _total_variation() -> Any:
    def total_variation(counts: Any, whole: Any) -> Any:
        return _apart(counts, whole).sum() / 2

    return total_variation


def _case(name: str, counts: list[int], whole: list[int]) -> Case:
    return Case(name, (np.array(counts), np.array(whole)))


TOTAL_VARIATION: Final = Exercise(
    name="total_variation",
    title="the distance from the whole",
    points=10,
    want=wants.function(2),
    reference=_total_variation,
    cases=(
        _case("two of four labels", [2, 2, 0, 0], [3, 6, 9, 12]),
        _case("one of four labels", [8, 0, 0, 0], [25, 25, 25, 25]),
        _case("a small copy of the whole", [1, 2, 1], [10, 20, 10]),
        _case("the other way round", [1, 3], [30, 10]),
    ),
    mistakes=(
        gives(
            "the half is missing: what one label has too much, another has too little, "
            "and both were counted",
            lambda counts, whole: _apart(counts, whole).sum(),
        ),
        gives(
            "these are counts: divide each histogram by its sum first",
            lambda counts, whole: np.abs(counts - whole).sum() / 2,
        ),
        gives(
            "these are counts, and the half is missing",
            lambda counts, whole: np.abs(counts - whole).sum(),
        ),
        gives(
            "without absolute values the differences cancel: this is always 0",
            lambda counts, whole: 0.0,
        ),
        gives(
            "this is the largest difference; add up all of them, and halve the sum",
            lambda counts, whole: _apart(counts, whole).max(),
        ),
        gives(
            "this is a mean over the labels; asked for is half the sum",
            lambda counts, whole: _apart(counts, whole).mean(),
        ),
        gives(
            "this is half a mean over the labels; asked for is half the sum",
            lambda counts, whole: _apart(counts, whole).mean() / 2,
        ),
        gives(
            "this is in percent; asked for is a share, between 0 and 1",
            lambda counts, whole: 50 * _apart(counts, whole).sum(),
        ),
        gives(
            "you squared the differences; take their absolute values",
            lambda counts, whole: (_apart(counts, whole) ** 2).sum() / 2,
        ),
        gives(
            "you squared the differences; take absolute values, and half their sum",
            lambda counts, whole: (_apart(counts, whole) ** 2).sum(),
        ),
        gives(
            "this is what the two have in common; the distance is 1 minus that",
            lambda counts, whole: 1 - _apart(counts, whole).sum() / 2,
        ),
        gives(
            "only the client was made shares; the whole is still counts",
            lambda counts, whole: np.abs(_shares(counts) - whole).sum() / 2,
        ),
        gives(
            "both were divided by the same sum; each histogram has its own",
            lambda counts, whole: np.abs(counts - whole).sum() / whole.sum() / 2,
        ),
        gives(
            "these are the differences, label by label: add them up, and halve the sum",
            _apart,
        ),
    ),
    hints=(
        "A client and the whole have different sizes: make shares of both first.",
        "½ Σ |p_k(label) - p(label)|, where p_k = counts / sum of counts, "
        "and p the same for the whole.",
        "Complete the last line:\n"
        "    p_k = counts / counts.sum()\n"
        "    p = whole / whole.sum()\n"
        "    return np.abs(...).sum() / ...",
    ),
)
