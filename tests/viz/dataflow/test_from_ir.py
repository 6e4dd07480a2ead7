# SPDX-License-Identifier: Apache-2.0
"""A tree becomes a flow: what no drawing of `tests/viz/test_figures.py` shows."""

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.dataflow.from_ir import read
from fedlearn_edu.executors.traffic import size_of
from fedlearn_edu.viz.dataflow.captions import summary

BOTH = [fl.type_at_clients(np.float32), fl.type_at_clients(np.int32)]


def test_weighted_mean_also_counts_the_clients() -> None:
    weighted = fl.federated_computation(lambda a, b: fl.federated_mean(a, b), *BOTH)
    assert summary(read(weighted)).endswith("sends 8 B, and a 1 for each mean.")


def test_zipped_values_stay_apart_unless_they_are_the_result() -> None:
    pair = fl.federated_computation(lambda a, b: fl.federated_zip([a, b]), *BOTH)
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
