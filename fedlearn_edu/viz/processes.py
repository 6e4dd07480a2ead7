# SPDX-License-Identifier: Apache-2.0
"""Draws a learning process: two signatures, and what travels in a round, in HTML."""

from html import escape

from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.viz.programs import figure, picture, signature, tree


def draw_process(process: LearningProcess) -> str:
    """The two computations of a learning process, and the picture of one round."""
    about = f"{process.name} of a {process.model.name} ({process.settings})"
    name, rest = escape(process.name), escape(about.removeprefix(process.name))
    return figure(
        "a learning process",
        f"<strong>{name}</strong>{rest}",
        f"<div>{signature('initialize', process.initialize)}</div>",
        f"<div>{signature('next', process.next)}</div>",
        picture(process.next),
        tree(process.next),
    )
