# SPDX-License-Identifier: Apache-2.0
"""A tree becomes a flow: what no drawing of `tests/viz/test_figures.py` shows."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.dataflow.from_ir import read
from fedlearn_edu.executors.traffic import size_of
from fedlearn_edu.viz.dataflow.captions import summary


def test_zipped_values_stay_apart_unless_they_are_the_result() -> None:
    both = [fl.type_at_clients(np.float32), fl.type_at_clients(np.int32)]

    @fl.federated_computation(*both)
    def pair(a: Any, b: Any) -> Any:
        return fl.federated_zip([a, b])

    flow = read(pair)
    *given, together, result = flow.nodes
    assert (together.name, flow.into(together)) == ("federated_zip", given)
    assert flow.into(result) == [together]
    assert summary(flow) == "Nothing travels."


@pytest.mark.parametrize(
    ("notation", "size"),
    [
        ("{float64[3]}@CLIENTS", 24),
        ("<>", 0),
        ("int32*", None),
        ("<int32,int32[?]>", None),
    ],
    ids=str,
)
def test_sizes_are_known_where_shapes_are(notation: str, size: int | None) -> None:
    assert size_of(fl.parse_type(notation)) == size
