# SPDX-License-Identifier: Apache-2.0
"""The twins in plain loops run, stay short, know no framework, and are all listed."""

import ast
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from examples import softmax
from tests.architecture.repository import ROOT

FOLDER = ROOT / "examples"
FILES = sorted(FOLDER.glob("*.py"))
TWINS = [file for file in FILES if file.stem != "softmax"]
TRAINING = [file for file in TWINS if file.stem != "federated_evaluation"]
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")


def _name(file: Path) -> str:
    return file.stem


@pytest.mark.parametrize("file", TRAINING, ids=_name)
def test_loss_falls_in_every_round(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(file), run_name="__main__")
    losses = [
        float(loss) for loss in re.findall(r"[\d.]+$", capsys.readouterr().out, re.M)
    ]
    assert len(losses) == 5
    assert losses == sorted(losses, reverse=True)
    assert losses[0] < np.log(3)


def test_evaluation_shows_averages_that_differ(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runpy.run_path(str(FOLDER / "federated_evaluation.py"), run_name="__main__")
    shown = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    losses = [value for name, value in shown.items() if "loss" in name]
    assert len(losses) == len(set(losses)) == 3


@pytest.mark.parametrize("file", FILES, ids=_name)
def test_twin_knows_nothing_but_numpy(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imported = {
        node.module.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
    } | {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    assert imported <= {"collections", "examples", "numpy", "typing"}


@pytest.mark.parametrize("file", TWINS, ids=_name)
def test_twin_fits_on_a_screen(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 60


@pytest.mark.parametrize("file", TWINS, ids=_name)
def test_page_has_a_row_with_the_line_that_differs(file: Path) -> None:
    [row] = [
        line for line in PAGE.splitlines() if f"[`{file.name}`]({file.name})" in line
    ]
    library = re.search(r"\(\.\./(\S+)\)", row)
    source = file.read_text(encoding="utf-8")
    assert library
    assert f"`{library[1]}`" in source
    assert f"python -m examples.{file.stem}" in source
    if file in TRAINING:
        [line] = re.findall(r"`([^`]+ = [^`]+)`", row)
        assert f" {line}\n" in source


def test_gradient_by_hand_is_the_slope_of_the_loss() -> None:
    """Central differences, weight by weight."""
    [batch, *_] = softmax.make_clients()[0]
    w = np.random.default_rng(1).normal(size=softmax.first_weights().shape)
    slope = np.empty_like(w)
    for place in np.ndindex(w.shape):
        step = np.zeros_like(w)
        step[place] = 1e-6
        up, down = softmax.losses(w + step, batch), softmax.losses(w - step, batch)
        slope[place] = (up.mean() - down.mean()) / 2e-6
    np.testing.assert_allclose(softmax.gradient(w, batch), slope, atol=1e-8)


def test_clients_are_unequal_and_the_same_every_time() -> None:
    clients = softmax.make_clients([9, 0, 5], seed=3)
    assert [[len(y) for _, y in client] for client in clients] == [
        [4, 4, 1],
        [],
        [4, 1],
    ]
    assert [softmax.count_examples(client) for client in clients] == [9, 0, 5]
    assert [softmax.count_once(client) for client in clients] == [1, 0, 1]
    np.testing.assert_array_equal(
        clients[0][0][0], softmax.make_clients([9], seed=3)[0][0][0]
    )
