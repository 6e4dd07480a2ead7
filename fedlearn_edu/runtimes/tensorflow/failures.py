# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow reports, without the pages about its graphs.

The executor hands in what a graph has raised, and a dataset that is read only at the
end what it raises then. TensorFlow turns whatever a generator raises into an error of
its own, which quotes it: the quotation carries a number here, by which the error is
found again behind it.
"""

import itertools
import re
from collections import OrderedDict

from fedlearn_edu.errors import ComputationFailedError, add_place
from fedlearn_edu.runtimes.tensorflow.library import tf

_MAX_KEPT = 20
_numbers = itertools.count()
_kept: OrderedDict[int, Exception] = OrderedDict()

# How those lines of TensorFlow's messages begin that say where, not what.
_ABOUT_GRAPH = ("Graph execution error", "Detected at node", "  File ", "<stack", "\t")

# What the reason says, and what to do about it; for all others, see below.
_CURES = {
    "outside the valid range of [0, ": (
        "count labels from 0, or make a model of more classes (classes=…)"
    ),
    "must have the same first dimension": "give x and y one row each for every example",
}

_NODE = re.compile(r"^\{\{function_node .*?\}\} ", re.MULTILINE)


def explained(error: Exception, place: str) -> Exception:
    """The error that code read by TensorFlow has raised itself, or one of ours."""
    if unwrapped(error) is not error or not isinstance(error, tf.errors.OpError):
        return unwrapped(error, place)
    text = str(getattr(error, "message", error))
    lines = [line for line in _NODE.sub("", text).splitlines() if line.strip()]
    reason = next((line for line in lines if not line.startswith(_ABOUT_GRAPH)), "")
    return ComputationFailedError(
        f"TensorFlow reported an error {place}",
        found=f"{type(error).__name__}: {reason}",
        do=next(
            (cure for words, cure in _CURES.items() if words in reason),
            "run the function by itself on one client's data to see more",
        ),
    )


def wrapped(error: Exception) -> RuntimeError:
    """An error whose text leads back to `error`."""
    number = next(_numbers)
    _kept[number] = error
    while len(_kept) > _MAX_KEPT:
        _kept.popitem(last=False)
    return RuntimeError(f"[fedlearn_edu failure {number}] {error}")


def unwrapped(error: Exception, place: str = "") -> Exception:
    """The error that a pipeline's `error` quotes, or else itself, at that `place`."""
    found = re.search(r"\[fedlearn_edu failure (\d+)\]", str(error))
    if found and int(found[1]) in _kept:
        return _kept[int(found[1])]
    if place:
        add_place(error, place)
    return error
