# SPDX-License-Identifier: Apache-2.0
"""Cases: the three secure sums. Whatever masks are drawn, the sums are exact."""

from collections import OrderedDict

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.testing.case import CaseBook, Leaf, gives

SECURE = CaseBook()

INTS = fl.type_at_clients(np.int32)
COUNTS = fl.to_type(OrderedDict(n=np.int64, bins=fl.TensorType(np.int32, [2])))


def counts(n: int, *bins: int) -> OrderedDict[str, object]:
    """A value of type COUNTS."""
    return OrderedDict(n=np.int64(n), bins=np.array(bins, np.int32))


@SECURE.add(
    nobody=gives(0, []), one=gives(5, [5]), many=gives(116, [100, 1, 2, 3, 4, 6])
)
def secure_sum(_: Leaf) -> Computation:
    """The masks cancel, so the sum is exact; the limit itself is allowed."""
    return fl.federated_computation(lambda v: fl.federated_secure_sum(v, 100), INTS)


@SECURE.add(
    gives(counts(7, 11, 22), [counts(3, 1, 2), counts(4, 10, 20), counts(0, 0, 0)])
)
def secure_sum_of_structures(_: Leaf) -> Computation:
    """Every leaf has masks of its own dtype and shape, and a limit of its own."""
    limits = OrderedDict(n=10, bins=20)
    return fl.federated_computation(
        lambda v: fl.federated_secure_sum(v, limits), fl.type_at_clients(COUNTS)
    )


@SECURE.add(gives(10, [1, 2, 3, 4], 4))
def secure_sum_with_a_limit_of_the_caller(_: Leaf) -> Computation:
    """The limit may be a value of the program."""
    return fl.federated_computation(
        lambda v, limit: fl.federated_secure_sum(v, limit), INTS, np.int32
    )


@SECURE.add(nobody=gives(0, []), many=gives(45, [15, 15, 15]))
def secure_sum_bitwidth(_: Leaf) -> Computation:
    """Four bits hold 0 to 15."""
    return fl.federated_computation(
        lambda v: fl.federated_secure_sum_bitwidth(v, 4), INTS
    )


@SECURE.add(
    nobody=gives(0, []),
    zero=gives(0, [1, 2, 3]),
    negative=gives(1, [-1, -1]),
    many=gives(2, [1, 1, 1, 1, 1]),
)
def secure_modular_sum(_: Leaf) -> Computation:
    """The result is in [0, 3), also for negative values."""
    return fl.federated_computation(
        lambda v: fl.federated_secure_modular_sum(v, 3), INTS
    )


@SECURE.add(gives(counts(1, 3, 4), [counts(3, 9, 2), counts(4, 4, 2)]))
def secure_modular_sum_of_structures(_: Leaf) -> Computation:
    """Every leaf may have a modulus of its own."""
    moduli = OrderedDict(n=3, bins=10)
    return fl.federated_computation(
        lambda v: fl.federated_secure_modular_sum(v, moduli), fl.type_at_clients(COUNTS)
    )
