# SPDX-License-Identifier: Apache-2.0
"""Shows figures in notebooks: a figure that ends a cell appears below it.

`viz` asks for it once, when it is imported. Elsewhere than under a running IPython
nothing happens; no magic command and no window is needed, and no global state of
matplotlib is touched.
"""

import sys
from io import BytesIO
from typing import Any

from matplotlib.figure import Figure

from fedlearn_edu.viz.style import DPI

_SHOWN_DPI = 90


def show_figures(shell: Any) -> None:
    """Teaches an IPython shell to show a `Figure` as a picture."""
    shell.display_formatter.formatters["image/png"].for_type(Figure, png)


def running_shell() -> Any:
    """The IPython this code runs in, `None` in plain Python."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    return get_ipython()


def png(figure: Figure) -> tuple[bytes, dict[str, int]]:
    """The figure as PNG at 150 dots per inch, and the size it is shown in, in pixels.

    The same figure gives the same bytes: no date and no version is kept.
    """
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    width, height = (round(_SHOWN_DPI * inches) for inches in figure.get_size_inches())
    return buffer.getvalue(), {"width": width, "height": height}
