# SPDX-License-Identifier: Apache-2.0
"""What notebooks show: figures as pictures, and objects of the package as drawings.

Figures are asked for by `style`, when it is imported; objects by the package itself.
Elsewhere than under a running IPython nothing happens; no magic command and no window
is needed, and no global state of matplotlib is touched.
"""

import sys
from functools import partial
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN_DPI = 90

# From a class to the function that draws its objects as HTML. Both are only named: for
# what nobody shows, nothing is loaded.
DISPLAYS = {
    "fedlearn_edu.computations.federated_value.FederatedValue": "placed.draw_placed",
    "fedlearn_edu.simulation.environments.Environment": "stack.draw_environment",
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
    """Teaches an IPython shell to show a `Figure` as a picture."""
    formatter = shell.display_formatter.formatters["image/png"]
    formatter.for_type_by_name("matplotlib.figure", "Figure", png)


def running_shell() -> Any:
    """The IPython this code runs in, `None` in plain Python."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    return get_ipython()


def png(figure: "Figure") -> tuple[bytes, dict[str, int]]:
    """The figure as PNG at 150 dots per inch, and the size it is shown in, in pixels.

    The same figure gives the same bytes: no date and no version is kept.
    """
    from fedlearn_edu.viz.style import DPI

    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    width, height = (round(_SHOWN_DPI * inches) for inches in figure.get_size_inches())
    return buffer.getvalue(), {"width": width, "height": height}
