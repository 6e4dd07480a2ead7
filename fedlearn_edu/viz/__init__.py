# SPDX-License-Identifier: Apache-2.0
"""Pictures: plain data in, a figure or a widget out. Only `viz` imports matplotlib.

`draw_*` returns a figure, `explore_*` a widget; `notebook.py` says what the last line
of a cell shows. matplotlib is loaded with the first figure; HTML displays need none.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.former_names import unknown

if TYPE_CHECKING:
    from fedlearn_edu.viz.comparison import draw_comparison as draw_comparison
    from fedlearn_edu.viz.dataflow.drawing import draw_graph as draw_graph
    from fedlearn_edu.viz.dataflow.passes import draw_passes as draw_passes
    from fedlearn_edu.viz.dataflow.server_view import (
        draw_server_view as draw_server_view,
    )
    from fedlearn_edu.viz.evaluation import draw_client_accuracy as draw_client_accuracy
    from fedlearn_edu.viz.explorers.aggregation import (
        explore_aggregation as explore_aggregation,
    )
    from fedlearn_edu.viz.explorers.budget import explore_budget as explore_budget
    from fedlearn_edu.viz.explorers.drift import explore_drift as explore_drift
    from fedlearn_edu.viz.explorers.inversion import (
        explore_inversion as explore_inversion,
    )
    from fedlearn_edu.viz.explorers.mean import explore_mean as explore_mean
    from fedlearn_edu.viz.explorers.partitions import (
        explore_partitions as explore_partitions,
    )
    from fedlearn_edu.viz.explorers.poisoning import (
        explore_poisoning as explore_poisoning,
    )
    from fedlearn_edu.viz.explorers.training import explore_training as explore_training
    from fedlearn_edu.viz.lanes import draw_messages as draw_messages
    from fedlearn_edu.viz.local_steps import draw_local_steps as draw_local_steps
    from fedlearn_edu.viz.partition import draw_partition as draw_partition
    from fedlearn_edu.viz.player.drawing import draw_tape as draw_tape
    from fedlearn_edu.viz.player.player import explore_run as explore_run
    from fedlearn_edu.viz.player.player import explore_tape as explore_tape
    from fedlearn_edu.viz.rounds import draw_curves as draw_curves
    from fedlearn_edu.viz.style import NARROW_IN as NARROW_IN
    from fedlearn_edu.viz.style import WIDE_IN as WIDE_IN
    from fedlearn_edu.viz.style import FigureDataError as FigureDataError
    from fedlearn_edu.viz.style import save_png as save_png
    from fedlearn_edu.viz.templates import draw_digit_templates as draw_digit_templates
    from fedlearn_edu.viz.traffic import draw_traffic as draw_traffic

_HOMES = {
    "FigureDataError": "style",
    "NARROW_IN": "style",
    "WIDE_IN": "style",
    "draw_client_accuracy": "evaluation",
    "draw_comparison": "comparison",
    "draw_curves": "rounds",
    "draw_digit_templates": "templates",
    "draw_graph": "dataflow.drawing",
    "draw_local_steps": "local_steps",
    "draw_messages": "lanes",
    "draw_partition": "partition",
    "draw_passes": "dataflow.passes",
    "draw_server_view": "dataflow.server_view",
    "draw_tape": "player.drawing",
    "draw_traffic": "traffic",
    "explore_aggregation": "explorers.aggregation",
    "explore_budget": "explorers.budget",
    "explore_drift": "explorers.drift",
    "explore_inversion": "explorers.inversion",
    "explore_mean": "explorers.mean",
    "explore_partitions": "explorers.partitions",
    "explore_poisoning": "explorers.poisoning",
    "explore_run": "player.player",
    "explore_tape": "player.player",
    "explore_training": "explorers.training",
    "save_png": "style",
}


@short_traceback
def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise unknown("fedlearn_edu.viz", name, _HOMES)
    return getattr(import_module(f"fedlearn_edu.viz.{_HOMES[name]}"), name)


__all__ = list(_HOMES)
