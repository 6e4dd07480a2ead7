# SPDX-License-Identifier: Apache-2.0
"""Errors that cross a pipeline which keeps only their text.

TensorFlow turns whatever a generator raises into an error of its own, which quotes it.
The quotation carries a number here, by which the error is found again behind it.
"""

import itertools
import re
from collections import OrderedDict

from fedlearn_edu.errors import add_place

_MAX_KEPT = 20
_numbers = itertools.count()
_kept: OrderedDict[int, Exception] = OrderedDict()


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
