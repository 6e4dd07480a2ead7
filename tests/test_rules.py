# SPDX-License-Identifier: Apache-2.0
"""Rules hold for what their text says, and for numbers only."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu.errors import StructureError
from fedlearn_edu.rules import number

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("rule", "fits", "others"),
    [
        ("0 < x <= 1", (1, 0.5, np.float32(0.1)), (0, 1.1, NAN, True, "1")),
        ("0 <= x < 2**31, a whole number", (0, np.int64(7)), (2**31, -1, 1.0, None)),
        ("x >= -1.5, a number", (-1.5, 10**400), (-2, INF, NAN, [1])),
        ("x, a whole number", (-(10**400), 0), (0.0, INF, False)),
    ],
)
def test_a_rule_is_what_its_text_says(rule: str, fits: Any, others: Any) -> None:
    for x in fits:
        number(x, rule, StructureError)
    for x in others:
        with pytest.raises(StructureError, match="x does not make sense"):
            number(x, rule, StructureError)
