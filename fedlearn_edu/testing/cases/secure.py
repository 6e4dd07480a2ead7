# SPDX-License-Identifier: Apache-2.0
"""Cases: the three secure sums. Whatever masks are drawn, the sums are exact."""

from collections import OrderedDict
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.testing.case import CaseBook, Leaf, gives

SECURE = CaseBook()

INTS = fl.type_at_clients(np.int32)
COUNTS = fl.to_type(OrderedDict(n=np.int64, bins=fl.TensorType(np.int32, [2])))


def counts(n: int, *bins: int) -> OrderedDict[str, object]:
    """A value of type COUNTS."""
    return OrderedDict(n=np.int64(n), bins=np.array(bins, np.int32))


@SECURE.add(
    nobody=gives(0, []),
    one=gives(5, [5]),
    many=gives(116, [100, 1, 2, 3, 4, 6]),
    of=[INTS],
)
def secure_sum(_: Leaf, v: Any) -> Any:
    """The masks cancel, so the sum is exact; the limit itself is allowed."""
    return fl.federated_secure_sum(v, 100)


@SECURE.add(
    gives(counts(7, 11, 22), [counts(3, 1, 2), counts(4, 10, 20), counts(0, 0, 0)]),
    of=[fl.type_at_clients(COUNTS)],
)
def secure_sum_of_structures(_: Leaf, v: Any) -> Any:
    """Every leaf has masks of its own dtype and shape, and a limit of its own."""
    limits = OrderedDict(n=10, bins=20)
    return fl.federated_secure_sum(v, limits)


@SECURE.add(gives(10, [1, 2, 3, 4], 4), of=[INTS, np.int32])
def secure_sum_with_a_limit_of_the_caller(_: Leaf, v: Any, limit: Any) -> Any:
    """The limit may be a value of the program."""
    return fl.federated_secure_sum(v, limit)


@SECURE.add(nobody=gives(0, []), many=gives(45, [15, 15, 15]), of=[INTS])
def secure_sum_bitwidth(_: Leaf, v: Any) -> Any:
    """Four bits hold 0 to 15."""
    return fl.federated_secure_sum_bitwidth(v, 4)


@SECURE.add(
    nobody=gives(0, []),
    zero=gives(0, [1, 2, 3]),
    negative=gives(1, [-1, -1]),
    many=gives(2, [1, 1, 1, 1, 1]),
    of=[INTS],
)
def secure_modular_sum(_: Leaf, v: Any) -> Any:
    """The result is in [0, 3), also for negative values."""
    return fl.federated_secure_modular_sum(v, 3)


@SECURE.add(
    gives(counts(1, 3, 4), [counts(3, 9, 2), counts(4, 4, 2)]),
    of=[fl.type_at_clients(COUNTS)],
)
def secure_modular_sum_of_structures(_: Leaf, v: Any) -> Any:
    """Every leaf may have a modulus of its own."""
    moduli = OrderedDict(n=3, bins=10)
    return fl.federated_secure_modular_sum(v, moduli)
