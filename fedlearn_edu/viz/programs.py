# SPDX-License-Identifier: Apache-2.0
"""Draws a computation: its signature, who computes what, and its tree, in HTML.

Also a computation that has no type yet; `processes.py` shows two of them at once.
"""

from base64 import b64encode
from html import escape
from io import BytesIO

from matplotlib.figure import Figure
from PIL import Image

from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.decorator import PolymorphicComputation
from fedlearn_edu.viz import notebook
from fedlearn_edu.viz.dataflow.drawing import graph
from fedlearn_edu.viz.failures import draw_error
from fedlearn_edu.viz.style import NARROW_IN, WIDE_IN, said
from fedlearn_edu.viz.types import notation

_FIGURE = "margin:.5em 0;line-height:1.5"
_NARROW_PX = 640
_MAX_COLORS = 64
_TREE = (
    "overflow-x:auto;max-height:24em;margin:4px 0;padding:0 0 0 8px;background:none;"
    "color:inherit"
)


def draw_computation(computation: Computation) -> str:
    """The signature, the data flow, and the tree, as a `<figure>`.

    >>> import fedlearn_edu as fl
    >>> html = draw_computation(fl.federated_computation(lambda: 10))
    >>> "<img alt=" in html, "<details" in html
    (True, True)
    """
    caption = signature(computation.__name__, computation)
    return figure("a computation", caption, picture(computation), tree(computation))


def draw_polymorphic(computation: PolymorphicComputation) -> str:
    """What can be said of a computation before it is called: its parameters' names.

    >>> import fedlearn_edu as fl
    >>> "no type yet" in draw_polymorphic(fl.federated_computation(lambda x: x))
    True
    """
    text = escape(
        repr(computation).strip("<>").removeprefix("polymorphic computation ")
    )
    return figure(
        "a computation without types",
        f"<strong><code>{text}</code></strong> has no type yet",
        "<div>It is traced when it is called, once for each type it is called with. "
        "Decorated with types, it has a signature and a picture.</div>",
    )


def picture(computation: Computation) -> str:
    """The data flow as an `<img>`, for pages and for phones, or why there is none."""
    try:
        wide, narrow = (graph(computation, width_in=w) for w in (WIDE_IN, NARROW_IN))
    except FedLearnError as error:
        return draw_error(error)
    source = b64encode(_small_png(narrow)[0]).decode()
    data, width_px = _small_png(wide)
    return (
        f'<picture><source media="(max-width:{_NARROW_PX}px)" '
        f'srcset="data:image/png;base64,{source}">'
        f"{notebook.img(data, said(wide), width_px)}</picture>"
    )


def _small_png(drawing: Figure) -> tuple[bytes, int]:
    """A drawing as PNG, of few colors to be small, and the width it is shown in."""
    data, size = notebook.png(drawing)
    buffer = BytesIO()
    with Image.open(BytesIO(data)) as image:
        few = image.convert("RGB").quantize(
            _MAX_COLORS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
        )
        few.save(buffer, format="png")
    return buffer.getvalue(), size["width"]


def tree(computation: Computation) -> str:
    """The tree as text, folded."""
    return (
        '<details style="margin:0"><summary style="cursor:pointer">what tracing '
        f'made of it, as text</summary><pre style="{_TREE}">'
        f"{escape(computation.to_text())}</pre></details>"
    )


def signature(name: str, computation: Computation) -> str:
    """Name and type, the placements in their colors."""
    return f"<strong>{escape(name)}</strong>: {notation(computation.type_signature)}"


def figure(label: str, caption: str, *parts: str) -> str:
    """Parts below a caption."""
    return (
        f'<figure role="group" aria-label="{label}" style="{_FIGURE}">'
        '<figcaption style="margin-bottom:6px;overflow-wrap:anywhere">'
        f"{caption}</figcaption>{''.join(parts)}</figure>"
    )
