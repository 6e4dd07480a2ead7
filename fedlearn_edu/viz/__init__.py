# SPDX-License-Identifier: Apache-2.0
"""Look at it: plain data in, a figure out. The only room that knows matplotlib.

matplotlib is loaded with the first figure; what notebooks show as HTML needs none.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.former_names import unknown

if TYPE_CHECKING:
    from fedlearn_edu.viz.client_bars import draw_client_accuracy
    from fedlearn_edu.viz.confusion import draw_confusion
    from fedlearn_edu.viz.dataflow.drawing import graph
    from fedlearn_edu.viz.dataflow.passes import passes
    from fedlearn_edu.viz.explorers.aggregation import (
        draw_aggregation,
        explore_aggregation,
    )
    from fedlearn_edu.viz.explorers.drift import draw_drift, explore_drift
    from fedlearn_edu.viz.explorers.mean import draw_mean, explore_mean
    from fedlearn_edu.viz.explorers.partitions import explore_partitions
    from fedlearn_edu.viz.explorers.training import explore_training
    from fedlearn_edu.viz.local_steps import draw_local_steps
    from fedlearn_edu.viz.partition import draw_partition
    from fedlearn_edu.viz.player.playing import draw_tape, play, replay
    from fedlearn_edu.viz.rounds import draw_learning_curves
    from fedlearn_edu.viz.runs import draw_run
    from fedlearn_edu.viz.style import NARROW_IN, WIDE_IN, FigureDataError, save_png
    from fedlearn_edu.viz.templates import draw_digit_templates

_HOMES = {
    "NARROW_IN": "style",
    "WIDE_IN": "style",
    "FigureDataError": "style",
    "draw_aggregation": "explorers.aggregation",
    "draw_client_accuracy": "client_bars",
    "draw_confusion": "confusion",
    "draw_digit_templates": "templates",
    "draw_drift": "explorers.drift",
    "draw_learning_curves": "rounds",
    "draw_local_steps": "local_steps",
    "draw_mean": "explorers.mean",
    "draw_partition": "partition",
    "draw_run": "runs",
    "draw_tape": "player.playing",
    "explore_aggregation": "explorers.aggregation",
    "explore_drift": "explorers.drift",
    "explore_mean": "explorers.mean",
    "explore_partitions": "explorers.partitions",
    "explore_training": "explorers.training",
    "graph": "dataflow.drawing",
    "passes": "dataflow.passes",
    "play": "player.playing",
    "replay": "player.playing",
    "save_png": "style",
}


@short_traceback
def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise unknown("fedlearn_edu.viz", name, _HOMES)
    return getattr(import_module(f"fedlearn_edu.viz.{_HOMES[name]}"), name)


__all__ = [
    "NARROW_IN",
    "WIDE_IN",
    "FigureDataError",
    "draw_aggregation",
    "draw_client_accuracy",
    "draw_confusion",
    "draw_digit_templates",
    "draw_drift",
    "draw_learning_curves",
    "draw_local_steps",
    "draw_mean",
    "draw_partition",
    "draw_run",
    "draw_tape",
    "explore_aggregation",
    "explore_drift",
    "explore_mean",
    "explore_partitions",
    "explore_training",
    "graph",
    "passes",
    "play",
    "replay",
    "save_png",
]
