# SPDX-License-Identifier: Apache-2.0
"""A figure that ends a cell appears below it, without pyplot and without magic."""

import sys
from io import BytesIO
from types import SimpleNamespace

import pytest
from IPython.core.formatters import DisplayFormatter
from PIL import Image

from fedlearn_edu import viz
from fedlearn_edu.viz import notebook


def test_shell_learns_to_show_figures() -> None:
    shell = SimpleNamespace(display_formatter=DisplayFormatter())
    figure = viz.draw_client_accuracy({"before": [0.0, 0.5], "after": [1.0, 0.5]})
    data, _ = shell.display_formatter.format(figure)
    assert "image/png" not in data

    notebook.show_figures(shell)
    data, metadata = shell.display_formatter.format(figure)
    with Image.open(BytesIO(data["image/png"])) as image:
        assert image.size == (1500, 570)
    assert metadata["image/png"] == {"width": 900, "height": 342}
    assert data["text/plain"] == "<Figure size 1000x380 with 1 Axes>"


def test_same_figure_gives_the_same_bytes() -> None:
    figures = [viz.draw_client_accuracy({"only": [0.25, 0.5]}) for _ in range(2)]
    first, second = (notebook.png(figure)[0] for figure in figures)
    assert first == second


def test_plain_python_has_no_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    assert notebook.running_shell() is None
    monkeypatch.delitem(sys.modules, "IPython")
    assert notebook.running_shell() is None
