# SPDX-License-Identifier: Apache-2.0
"""Look at it: plain data in, a figure out. The only room that knows matplotlib."""

from fedlearn_edu.viz.notebook import running_shell, show_figures
from fedlearn_edu.viz.rounds import (
    draw_client_accuracy,
    draw_digit_templates,
    draw_learning_curves,
)
from fedlearn_edu.viz.style import NARROW_IN, WIDE_IN, FigureDataError, save_png

if (_shell := running_shell()) is not None:
    show_figures(_shell)

__all__ = [
    "NARROW_IN",
    "WIDE_IN",
    "FigureDataError",
    "draw_client_accuracy",
    "draw_digit_templates",
    "draw_learning_curves",
    "save_png",
]
