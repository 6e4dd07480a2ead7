# SPDX-License-Identifier: Apache-2.0
"""A figure as PNG and as HTML, with its words for those who cannot see it."""

from base64 import b64encode
from html import escape
from io import BytesIO

from matplotlib.figure import Figure

from fedlearn_edu.viz.artists import QuickCanvas
from fedlearn_edu.viz.style import DPI, has_image, said

_SHOWN_DPI = 90
FAST_DPI = 100
_LEAST_SHARE = 0.7  # of its width: 11 points are then as high as 7 to 8


def png(figure: Figure) -> tuple[bytes, dict[str, int]]:
    """The figure as PNG at 150 dots per inch, and the size it is shown in, in pixels.

    The same figure gives the same bytes: no date and no version is kept.
    """
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    width, height = (round(_SHOWN_DPI * inches) for inches in figure.get_size_inches())
    return buffer.getvalue(), {"width": width, "height": height}


def html(figure: Figure) -> str | None:
    """The figure as an `<img>` with its words; `None` if it has none.

    In a narrow column it shrinks as long as its text can be read, then it scrolls.
    """
    if not said(figure):
        return None
    data, size = png(figure)
    picture = img(figure, data, size["width"], round(_LEAST_SHARE * size["width"]))
    return f'<div style="overflow-x:auto">{picture}</div>'


def fast_png(figure: Figure) -> bytes:
    """The figure as PNG at 100 dots per inch, for pictures that move."""
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
    figure: Figure, data: bytes, width_px: int | None = None, least_px: int = 0
) -> str:
    """A figure's PNG and words as an `<img>` that fits its column, or is `least_px`.

    It follows the theme of JupyterLab, Notebook and VS Code, unless an image is in it.
    """
    width = f' width="{width_px}"' if width_px else ""
    least = f"min-width:{least_px}px;" if least_px else ""
    source = b64encode(data).decode()
    look = "fl-as-drawn" if has_image(figure) else "fl-picture"
    return (
        f'{IN_THE_DARK}<img class="{look}" alt="{escape(said(figure))}"{width} '
        f'src="data:image/png;base64,{source}" '
        f'style="max-width:100%;{least}height:auto;background:white">'
    )
