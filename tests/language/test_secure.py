# SPDX-License-Identifier: Apache-2.0
"""Secure sums: the greatest parameters and values that they take."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from tests.programs import INTS

PAIRS = fl.type_at_clients(OrderedDict(a=np.int32, b=np.int64))


def made(secure: Any, parameter: Any, type_: Any = INTS) -> Any:
    return fl.federated_computation(lambda v: secure(v, parameter), type_)


@pytest.mark.parametrize(
    ("secure", "parameter", "values", "total"),
    [
        (fl.federated_secure_sum, 10, [10, 1], 11),
        (fl.federated_secure_sum_bitwidth, 4, [15, 1], 16),
        (fl.federated_secure_sum_bitwidth, 1, [1, 0], 1),
        (fl.federated_secure_sum_bitwidth, 62, [1, 0], 1),
    ],
)
def test_the_greatest_parameters_and_values_are_taken(
    secure: Any, parameter: int, values: list[int], total: int
) -> None:
    assert made(secure, parameter)(values) == total


def test_a_modulus_may_be_as_wide_as_its_values() -> None:
    secure = fl.federated_secure_modular_sum
    assert made(secure, OrderedDict(a=5, b=2**40), PAIRS)([(4, 2**41 + 1)])["b"] == 1
