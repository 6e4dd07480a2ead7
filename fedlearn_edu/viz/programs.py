# SPDX-License-Identifier: Apache-2.0
"""What notebooks show of computations: signature, who computes what, and the tree.

Also of a computation that has no type yet, of a learning process, which is two, and of
what the server sees.
"""

from collections.abc import Callable
from html import escape

from matplotlib.figure import Figure

from fedlearn_edu.dataflow.server_view import ServerView
from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.language.computation import Computation, PolymorphicComputation
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.viz import html, pictures
from fedlearn_edu.viz.dataflow.drawing import draw_graph
from fedlearn_edu.viz.dataflow.server_view import draw_server_view
from fedlearn_edu.viz.displays import draw_error, notation
from fedlearn_edu.viz.html import strong, tag

_SPACED = "margin:.5em 0;line-height:1.5"
_TEXT = (
    "overflow-x:auto;max-height:24em;margin:4px 0;padding:0 0 0 8px;background:none;"
    "color:inherit"
)


def draw_computation(computation: Computation) -> str:
    """The signature, the data flow, and the tree, as a `<figure>`.

    >>> import fedlearn_edu as fl
    >>> html = draw_computation(fl.federated_computation(lambda: 10))
    >>> " alt=" in html, "<details" in html
    (True, True)
    """
    caption = _signature(computation.__name__, computation)
    return _figure(
        "a computation", caption, _picture(draw_graph, computation), _tree(computation)
    )


def draw_polymorphic(computation: PolymorphicComputation) -> str:
    """What can be said of a computation before it is called: its parameters' names.

    >>> import fedlearn_edu as fl
    >>> "no type yet" in draw_polymorphic(fl.federated_computation(lambda x: x))
    True
    """
    text = repr(computation).strip("<>").removeprefix("polymorphic computation ")
    return _figure(
        "a computation without types",
        f"{tag('strong', html.code(text))} has no type yet",
        "<div>It is traced when it is called, once for each type it is called with. "
        "Decorated with types, it has a signature and a picture.</div>",
    )


def draw_process(process: LearningProcess) -> str:
    """The two computations of a learning process, and the picture of one round."""
    about = f"{process.name} of a {process.model.name} ({process.settings})"
    return _figure(
        "a learning process",
        f"{strong(process.name)}{escape(about.removeprefix(process.name))}",
        tag("div", _signature("initialize", process.initialize)),
        tag("div", _signature("next", process.next)),
        _picture(draw_graph, process.next),
        _tree(process.next),
    )


def draw_view(view: ServerView) -> str:
    """What the server sees: a picture of it, and its table, folded."""
    text = html.details("the same as text", tag("pre", escape(repr(view)), style=_TEXT))
    return html.figure(
        "what the server sees", _picture(draw_server_view, view), text, style=_SPACED
    )


def _picture(draw: Callable[..., Figure], thing: object) -> str:
    """A drawing, or why there is none."""
    try:
        return pictures.html(draw(thing)) or ""
    except FedLearnError as error:
        return draw_error(error)


def _tree(computation: Computation) -> str:
    """The tree as text, folded."""
    text = tag("pre", escape(computation.to_text()), style=_TEXT)
    return html.details("what tracing made of it, as text", text)


def _signature(name: str, computation: Computation) -> str:
    """Name and type, the placements in their colors."""
    return f"{strong(name)}: {notation(computation.type_signature)}"


def _figure(label: str, caption: str, *parts: str) -> str:
    """Parts below a caption."""
    said_ = tag("figcaption", caption, style="margin-bottom:6px;overflow-wrap:anywhere")
    return html.figure(label, said_, *parts, style=_SPACED)
