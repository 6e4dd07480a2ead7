# SPDX-License-Identifier: Apache-2.0
"""What makes no picture is refused, by figures and by explorers, in words that help."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu import viz
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.remote.records import Round
from fedlearn_edu.simulation import datasets

NAN, INF = float("nan"), float("inf")
STEPS = [[2.0, 2.2, 2.38], [2.0, 1.1, 1.02]]
PAIRS = [(1.0, 4.0), (3.0, 3.0)]
HISTORY = History.of([{"round": 1, "loss": 1.0}])
IMAGES = np.zeros([12, 4, 5], np.float32)
LABELS = {"labels": [0, 1], "shares": [[0], [1]]}
TWO_OF_THREE = datasets.from_arrays(
    IMAGES, np.arange(12) % 2, IMAGES, np.arange(12) % 3
)

# Functions, what they say, and arguments: by position, or by name.
WRONG: list[tuple[str, str, list[Any]]] = [
    (
        "draw_learning_curves",
        "expected: ",
        [
            (np.zeros([0, 2]), [], []),
            (np.zeros([1, 0]), [0.1], [0.1]),
            ([1.0, 2.0], [0.1, 0.2], [0.1, 0.2]),
            ([[1.0], [2.0]], [0.1, 0.2], [0.1]),
            ([[1], [1, 2]], [0.1, 0.2], [0.1, 0.2]),
            ([["a"]], [0.1], [0.1]),
            ([[1.0]], 0.1, 0.1),
            (None, None, None),
        ],
    ),
    (
        "draw_client_accuracy",
        "expected: ",
        [
            *(({},), ({"a": []},), ({"a": [0.1], "b": [0.1, 0.2]},), ({"a": 0.5},)),
            *(({name: [0.5] for name in "abcd"},), ([[0.5]],)),
        ],
    ),
    (
        "draw_digit_templates",
        "expected: ",
        [
            *((np.zeros([785, 10]),), (np.zeros([784, 0]),), (np.zeros([0, 10]),)),
            *((1.0,), ([[NAN]],)),
        ],
    ),
    (
        "draw_local_steps",
        "where: +clients",
        [
            ([(1.0, 4.0)], [[[1.0, 2.0]]]),
            ([(0.0, 4.0), (3.0, 3.0)], [STEPS]),
            ("two", [STEPS]),
        ],
    ),
    (
        "draw_local_steps",
        "where: +rounds",
        [
            *((PAIRS, []), (PAIRS, 3), (PAIRS, [[[1.0], [1.0]]])),
            *(
                (PAIRS, [[[1.0, 2.0], [begin, end]]])
                for begin, end in [(0, 2), (1, NAN)]
            ),
        ],
    ),
    ("draw_messages", "where: +round_", [(7,), (Round(1, "", ()),)]),
    (
        "draw_traffic",
        "where: +rounds",
        [(7, 1), ([], 1), ([7], 1), ([Round(1, "", ())], 1)],
    ),
    ("draw_traffic", "where: +model_bytes", [([], 0), ([], 1.5)]),
    ("draw_run", "where: +runs", [(7,), ({},), ({"a": 1},), (Run(None),)]),
    ("draw_run", "where: +runs", [({str(n): HISTORY for n in range(5)},)]),
    (
        "draw_run",
        "where: +columns",
        [{"runs": HISTORY, "columns": []}, {"runs": HISTORY, "columns": "round"}],
    ),
    (
        "draw_partition",
        "one image per label",
        [LABELS | {"images": np.zeros(s)} for s in ([3, 8, 8], [2, 8])],
    ),
    (
        "explore_mean",
        "values are one finite float32 per client",
        [([],), (["a"],), ([NAN],), (3.0,)],
    ),
    ("explore_mean", "every value needs a weight", [([1.0, 2.0], [1.0])]),
    ("explore_mean", "a weight is negative", [([1.0], [-1.0])]),
    ("explore_mean", "too many sliders", [([1.0] * 9,)]),
    ("explore_aggregation", "over a few clients", [([],), ([1] * 13,), (7,)]),
    ("explore_aggregation", "no number", [([NAN],), (["a"],), {"zero": INF}]),
    (
        "explore_aggregation",
        "a group of one is no group",
        [{"fan_out": 1}, {"fan_out": 2.5}],
    ),
    ("explore_drift", "with this data", [("nobody's",), (3,)]),
    ("explore_drift", "with this clients", [{"clients": 1}, {"clients": 100}]),
    (
        "explore_drift",
        "with this learning_rate",
        [{"learning_rate": rate} for rate in (NAN, 0, "fast")],
    ),
    ("explore_drift", "with this local_epochs", [{"local_epochs": 2.5}]),
    (
        "explore_inversion",
        "is a whole number from|noise_multiplier is a number from",
        [
            *({"batch_size": 9}, {"local_steps": 0}, {"seed": 0.5}),
            *({"noise_multiplier": noise} for noise in (-1, NAN, "a")),
        ],
    ),
    (
        "explore_poisoning",
        "with this (attack|rule|data)|is a whole number",
        [
            *({"attack": "krum"}, {"rule": "mean"}, {"data": 3}),
            *({"attackers": 9}, {"rounds": 0}),
        ],
    ),
    (
        "explore_budget",
        "(probability|noise_multiplier) is a number from|is a whole number",
        [
            *({"probability": 0.0}, {"probability": 2}, {"noise_multiplier": 0}),
            *({"clients": 10}, {"rounds": 100}),
        ],
    ),
    (
        "explore_partitions",
        "clients is a whole number from 1 to 100",
        [{"clients": count} for count in (0, 101, 2.5)],
    ),
    (
        "explore_partitions",
        "there is no such partition",
        [{"partition": "fair"}, {"partition": []}],
    ),
    ("explore_partitions", "seed is a whole number", [{"seed": -1}]),
    (
        "explore_partitions",
        "no images to deal out",
        [(7,), (datasets.from_arrays([[1.0], [2.0]], [0, 1]),)],
    ),
    *(
        (
            "explore_partitions",
            f"not the numbers of[^$]*{two[0]}, {two[1]}",
            [(datasets.from_arrays(IMAGES, two * 6),)],
        )
        for two in ([1, 2], [0, 2], [-1, 0])
    ),
    ("explore_partitions", "nobody learns", [(TWO_OF_THREE,)]),
    ("explore_training", "nothing to train, or too much", [(7,), ({},), ({"": len},)]),
    (
        "explore_training",
        "nothing to train, or too much",
        [({str(n): len for n in range(5)},)],
    ),
    ("explore_training", "this cannot be trained", [({"a": 7},)]),
    ("explore_training", "no clients to learn from", [{"data": [1]}, {"test": 3}]),
    ("explore_training", "rounds is a whole number", [{"rounds": 0}, {"rounds": True}]),
    ("explore_training", "batch_size is a whole number", [{"batch_size": 0}]),
]


@pytest.mark.parametrize(
    ("name", "said", "given"),
    [
        (name, said, given)
        for names, said, calls in WRONG
        for name in names.split()
        for given in calls
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_makes_no_picture_is_refused(name: str, said: str, given: Any) -> None:
    by_position, by_name = ((), given) if isinstance(given, dict) else (given, {})
    with pytest.raises(viz.FigureDataError, match=said):
        getattr(viz, name)(*by_position, **by_name)
