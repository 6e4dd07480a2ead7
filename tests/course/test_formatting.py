# SPDX-License-Identifier: Apache-2.0
"""Results are shown as one would write them."""

from typing import Any

import numpy as np

from fedlearn_edu import Struct
from fedlearn_edu.course.formatting import shown


def test_results_are_shown_as_one_would_write_them() -> None:
    assert shown([np.float32(0.5), 2, "a", b"b"]) == "[0.5, 2, 'a', b'b']"
    assert shown({"x": (1, np.arange(3))}) == "{x: (1, [0 1 2])}"
    assert shown(np.str_("text")) == "'text'"
    assert shown(np.zeros([28, 28])).startswith("28×28 numbers [[0. 0. 0.")
    assert shown(object()) == "an object"
    assert shown(Struct([("a", 1)])) == "<a=1>"


def test_list_that_holds_itself_can_be_shown() -> None:
    circle: list[Any] = []
    circle.append(circle)
    assert shown(circle)
