# SPDX-License-Identifier: Apache-2.0
"""What notebooks show: figures as pictures, and objects of the package as drawings.

Importing `style` asks for figures, importing the package for objects. Without a running
IPython nothing happens; no magic command and no window is needed, and no global state
of matplotlib is touched.
"""

import sys
from base64 import b64encode
from functools import partial
from html import escape
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN_DPI = 90
FAST_DPI = 100
_LEAST_SHARE = 0.7  # of its width: 11 points are then as high as 7 to 8

# From a class to the function that draws its objects, and those of classes derived from
# it, as HTML. Both are only named: nothing is loaded before it is shown.
DISPLAYS = {
    "fedlearn_edu.dataflow.server_view.ServerView": "programs.draw_view",
    "fedlearn_edu.language.federated_value.FederatedValue": "displays.draw_placed",
    "fedlearn_edu.language.computation.Computation": "programs.draw_computation",
    "fedlearn_edu.language.computation.PolymorphicComputation": (
        "programs.draw_polymorphic"
    ),
    "fedlearn_edu.contexts.execution.AsyncExecutionContext": "executors.draw_context",
    "fedlearn_edu.contexts.execution.SyncExecutionContext": "executors.draw_context",
    "fedlearn_edu.contexts.factories.CustomExecutorFactory": "executors.draw_custom",
    "fedlearn_edu.contexts.factories.LocalExecutorFactory": "executors.draw_factory",
    "fedlearn_edu.executors.base.Executor": "executors.draw_executor",
    "fedlearn_edu.errors.FedLearnError": "displays.draw_error",
    "fedlearn_edu.learning.comparison.Comparison": "comparison.comparison_table",
    "fedlearn_edu.learning.history.History": "displays.history_table",
    "fedlearn_edu.learning.run_state.Run": "displays.run_table",
    "fedlearn_edu.remote.cluster.Cluster": "cluster.draw_cluster",
    "fedlearn_edu.remote.records.Traffic": "cluster.traffic_table",
    "fedlearn_edu.simulation.partitions.skew.Skew": "displays.skew_table",
    "fedlearn_edu.learning.process.LearningProcess": "programs.draw_process",
    "fedlearn_edu.types.base.Type": "displays.draw_type",
    "fedlearn_edu.simulation.environments.Environment": "executors.draw_environment",
}


def hook_in() -> None:
    """Lets the IPython this code runs in, if any, show objects of the package."""
    if (shell := running_shell()) is not None:
        show_objects(shell)


def show_objects(shell: Any) -> None:
    """Teaches an IPython shell to show objects of the classes in `DISPLAYS`."""
    formatter = shell.display_formatter.formatters["text/html"]
    for class_name, drawer in DISPLAYS.items():
        module, name = class_name.rsplit(".", 1)
        formatter.for_type_by_name(module, name, partial(_draw, drawer))


def _draw(drawer: str, thing: object) -> Any:
    module, function = drawer.split(".")
    return getattr(import_module(f"fedlearn_edu.viz.{module}"), function)(thing)


def show_figures(shell: Any) -> None:
    """Teaches an IPython shell to show a `Figure` as a picture, with its words."""
    formatters = shell.display_formatter.formatters
    formatters["image/png"].for_type_by_name("matplotlib.figure", "Figure", png)
    formatters["text/html"].for_type_by_name("matplotlib.figure", "Figure", html)


def running_shell() -> Any:
    """The IPython this code runs in, `None` in plain Python."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    return get_ipython()


def publish(html: str, text: str) -> None:
    """Shows HTML in a notebook, with the text for those who cannot; elsewhere the text.

    Outside of a notebook the text goes to stdout.
    """
    if running_shell() is None:
        sys.stdout.write(f"{text}\n")
        return
    from IPython.display import display

    display({"text/html": html, "text/plain": text}, raw=True)  # type: ignore[no-untyped-call]


def show(thing: Any) -> None:
    """Displays an object in a notebook; elsewhere its `text` goes to stdout."""
    if running_shell() is not None:
        from IPython.display import display

        display(thing)  # type: ignore[no-untyped-call]
    elif text := getattr(thing, "text", ""):
        sys.stdout.write(f"{text}\n")


def png(figure: "Figure") -> tuple[bytes, dict[str, int]]:
    """The figure as PNG at 150 dots per inch, and the size it is shown in, in pixels.

    The same figure gives the same bytes: no date and no version is kept.
    """
    from fedlearn_edu.viz.style import DPI

    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    width, height = (round(_SHOWN_DPI * inches) for inches in figure.get_size_inches())
    return buffer.getvalue(), {"width": width, "height": height}


def html(figure: "Figure") -> str | None:
    """The figure as an `<img>` with its words; `None` if it has none.

    In a narrow column it shrinks as long as its text can be read, then it scrolls.
    """
    from fedlearn_edu.viz.style import said

    if not said(figure):
        return None
    data, size = png(figure)
    picture = img(figure, data, size["width"], round(_LEAST_SHARE * size["width"]))
    return f'<div style="overflow-x:auto">{picture}</div>'


def fast_png(figure: "Figure") -> bytes:
    """The figure as PNG at 100 dots per inch, for pictures that move."""
    from fedlearn_edu.viz.artists import QuickCanvas

    if not isinstance(figure.canvas, QuickCanvas):
        QuickCanvas(figure)
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=FAST_DPI, pil_kwargs={"compress_level": 1})
    return buffer.getvalue()


# Pictures are drawn on white. Under a dark theme black and white change places, and the
# half turn of the hues undoes what that does to colors: orange stays orange. A digit
# would become its negative: a figure with an image stays on its white paper.
IN_THE_DARK = (
    '<style>:is(body[data-jp-theme-light="false"], .vscode-dark) .fl-picture'
    "{filter:invert(.93) hue-rotate(180deg)}</style>"
)


def img(
    figure: "Figure", data: bytes, width_px: int | None = None, least_px: int = 0
) -> str:
    """A figure's PNG and words as an `<img>` that fits its column, or is `least_px`.

    It follows the theme of JupyterLab, Notebook and VS Code, unless an image is in it.
    """
    from fedlearn_edu.viz.style import has_image, said

    width = f' width="{width_px}"' if width_px else ""
    least = f"min-width:{least_px}px;" if least_px else ""
    source = b64encode(data).decode()
    look = "fl-as-drawn" if has_image(figure) else "fl-picture"
    return (
        f'{IN_THE_DARK}<img class="{look}" alt="{escape(said(figure))}"{width} '
        f'src="data:image/png;base64,{source}" '
        f'style="max-width:100%;{least}height:auto;background:white">'
    )
