# SPDX-License-Identifier: Apache-2.0
"""What moves, as a page can show it. The kernel of a lesson runs this before its cells.

A cell that ends in an explorer or a player shows its picture, and its sentence. What a
button begins is done to its end first, and an error of it is an error of the cell. A
mean and an aggregation move on the page, too (explorers.js).
"""

import ast
import json
from collections.abc import Iterator
from html import escape
from itertools import product
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import HTML

from fedlearn_edu.viz.explorers.aggregation import AggregationPicture, run_aggregation
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.mean import MeanPicture
from fedlearn_edu.viz.html import tag
from fedlearn_edu.viz.pictures import html
from fedlearn_edu.viz.shortening import written

_LIMIT_S = 120.0
_NAME = "__still__"
_NOTE = "A still picture: in JupyterLab it has controls, and moves."
_ZEROS, _FAN_OUTS = (0, 1), (2, 3, 4)


def still(shown: Any) -> Any:
    """What moves as a picture with its sentence; anything else as it is."""
    if not (hasattr(shown, "controls") and hasattr(shown, "sentence")):
        return shown
    if isinstance(shown, Explorer):
        shown.wait(_LIMIT_S)
    make: Any = HTML
    picture, tables = getattr(shown, "picture", None), ""
    if isinstance(picture, AggregationPicture):
        tables = "".join(_tables(shown, picture))
    if isinstance(picture, MeanPicture | AggregationPicture):
        said = tag("figcaption", escape(shown.sentence), aria_live="polite")
        return make(f'<figure class="still moves">{said}{shown.html}{tables}</figure>')
    words = f"<p>{escape(shown.sentence)}</p><p>{_NOTE}</p>"
    return make(f'<figure class="still">{html(shown.figure)}{words}</figure>')


def _tables(shown: Explorer, picture: AggregationPicture) -> Iterator[str]:
    """The table of each zero and fan-out, that of now first, and all its sentences."""
    now, alone = shown.values, len(picture.values) + 1
    zeros = dict.fromkeys([now["zero"], *_ZEROS])
    few = [size for size in (*_FAN_OUTS, alone) if size <= alone]
    for zero, size in product(zeros, dict.fromkeys([now["fan_out"], *few])):
        last = run_aggregation(picture.values, zero, size).last
        states = [
            picture.show(zero=zero, fan_out=size, step=n) for n in range(last + 1)
        ]
        tables, said = zip(*states, strict=True)
        yield tag(
            "template",
            tables[-1],
            data_zero=written(zero),
            data_fan_out="one group" if size == alone else str(size),
            data_said=escape(json.dumps(said)),
        )


class _EndsStill(ast.NodeTransformer):
    """Shows what the last line of a cell makes, but still."""

    def visit_Module(self, cell: ast.Module) -> ast.Module:
        if cell.body and isinstance(last := cell.body[-1], ast.Expr):
            call = ast.Call(ast.Name(_NAME, ast.Load()), [last.value], [])
            last.value = ast.fix_missing_locations(ast.copy_location(call, last.value))
        return cell


if shell := get_ipython():
    shell.user_ns[_NAME] = still
    shell.ast_transformers.append(_EndsStill())
