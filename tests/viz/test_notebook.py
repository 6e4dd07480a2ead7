# SPDX-License-Identifier: Apache-2.0
"""What ends a cell appears below it, without pyplot and without magic."""

import re
import sys
from base64 import b64decode
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

import fedlearn_edu as fl
from fedlearn_edu import framework, viz
from fedlearn_edu.errors import NotationError
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.remote.records import Traffic
from fedlearn_edu.simulation.environments import Environment
from fedlearn_edu.simulation.partitions.skew import describe_skew
from fedlearn_edu.viz import cluster, displays, executors, notebook, pictures, programs
from tests.programs import increment


def test_shell_learns_to_show_figures() -> None:
    shell = SimpleNamespace(display_formatter=DisplayFormatter())
    figure = viz.draw_client_accuracy({"before": [0.0, 0.5], "after": [1.0, 0.5]})
    data, _ = shell.display_formatter.format(figure)
    assert "image/png" not in data

    notebook.show_figures(shell)
    data, metadata = shell.display_formatter.format(figure)
    with Image.open(BytesIO(data["image/png"])) as image:
        assert image.size == (1500, 570)
    assert metadata["image/png"] == {"width": 1100, "height": 418}
    assert data["text/plain"] == "<Figure size 1000x380 with 1 Axes>"


def shown(figure: Figure) -> list[tuple[int, int]]:
    """The sizes of all pictures in its HTML."""
    found = re.findall('base64,([^"]+)', pictures.html(figure) or "")
    images = (Image.open(BytesIO(b64decode(each))) for each in found)
    return [image.size for image in images]


def test_a_narrow_page_has_what_was_drawn_for_it_until_the_figure_is_changed() -> None:
    def draw(**more: Any) -> Figure:
        return viz.draw_client_accuracy({"before": [0.5], "after": [1.0]}, **more)

    narrow, wide = (675, 570), (1500, 570)
    figure = draw()
    assert shown(figure) == shown(figure) == [narrow, wide, narrow, wide]
    figure.axes[0].set_title("the reader's own")
    assert shown(figure) == [wide, wide]
    assert shown(draw(width_in=viz.WIDE_IN)) == [wide, wide]
    shares = [0.5]
    figure = viz.draw_client_accuracy({"after": shares})
    shares[0] = 0.6
    assert shown(figure) == [wide, wide]


def test_a_figure_of_ones_own_keeps_its_canvas_and_is_seen_on_white() -> None:
    figure = Figure(figsize=(1, 1), facecolor="none")
    figure.add_artist(Rectangle((0, 0), 1, 1, color="#FF0000", alpha=0.2))
    canvas = FigureCanvasAgg(figure)
    light, _ = pictures.for_themes(figure, 10)
    np.testing.assert_allclose(light[5, 5], [255, 204, 204], atol=1)
    assert figure.canvas is canvas
    assert figure.dpi == 100


def test_a_dark_theme_keeps_hues_and_photographs() -> None:
    half = np.tile([0.0, 1.0], [2, 4, 2]).reshape(2, 4, 4)
    figure = viz.draw_partition([0, 1], [[0], [1]], images=half)
    light, dark = pictures.for_themes(figure, 100)
    is_black, is_ink, is_paper = ((light == x).all(axis=2) for x in (0, 26, 255))
    kept = (light == dark).all(axis=2)
    assert [(kept & each).sum() > 300 for each in (is_black, is_paper)] == [True] * 2
    assert (dark[is_paper & ~kept] == 18).all()
    assert dark[is_ink].min() > 200


def test_plain_python_has_no_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    assert notebook.running_shell() is None
    monkeypatch.delitem(sys.modules, "IPython")
    assert notebook.running_shell() is None


FACTORY: Any = framework.local_executor_factory()
HISTORY = History.of([{"round": 1, "seconds": 1.0}])
SHOWN: dict[str, tuple[Any, Any]] = {
    "placed value": (fl.place([1.0, 2.5], fl.CLIENTS), displays.draw_placed),
    "tensor type": (fl.parse_type("float32[?,784]"), displays.draw_type),
    "function type": (fl.parse_type("(<T,(U -> T)> -> U)"), displays.draw_type),
    "placement type": (fl.PlacementType(), displays.draw_type),
    "error": (NotationError("wrong", do="spell it"), displays.draw_error),
    "history": (HISTORY, displays.history_table),
    "run": (Run(None, history=HISTORY), displays.run_table),
    "skew": (describe_skew([0, 1], [[0], [1]]), displays.skew_table),
    "traffic": (Traffic(()), cluster.traffic_table),
    "computation": (increment, programs.draw_computation),
    "no types": (fl.federated_computation(lambda x: x), programs.draw_polymorphic),
    "environment": (Environment(FACTORY), executors.draw_environment),
    "executor": (framework.NumPyExecutor(), executors.draw_executor),
    "factory": (FACTORY, executors.draw_factory),
    "context": (framework.SyncExecutionContext(FACTORY), executors.draw_context),
    "by hand": (
        framework.CustomExecutorFactory(lambda _: framework.NumPyExecutor(), []),
        executors.draw_custom,
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_shell_learns_to_show_our_objects(name: str) -> None:
    thing, draw = SHOWN[name]
    shell = SimpleNamespace(display_formatter=DisplayFormatter())
    plain, _ = shell.display_formatter.format(thing)
    assert "text/html" not in plain
    notebook.show_objects(shell)
    data, _ = shell.display_formatter.format(thing)
    assert data["text/html"] == draw(thing)
    assert data["text/plain"] == plain["text/plain"]
    assert "text/html" not in shell.display_formatter.format(ValueError("no"))[0]
