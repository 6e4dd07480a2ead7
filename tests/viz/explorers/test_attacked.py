# SPDX-License-Identifier: Apache-2.0
"""Explorers of attacks and defences: each control changes what is seen and said."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu import viz
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.inversion import attempt
from tests.viz.drawn_text import check_figure

pytestmark = pytest.mark.tensorflow


# ------------------------------------------------------------------ inversion


def test_an_attempt_is_exact_for_one_digit_and_noise_hides_it() -> None:
    one = attempt(batch=1, steps=1, noise=0.0, seed=3)
    assert np.abs(one.found - one.x).max() <= 1e-6
    assert one.labels == {int(one.y[0])}
    means = [attempt(1, 1, noise, 3).alike.mean() for noise in (0.001, 0.01, 1.0)]
    assert means[0] > 0.99 > means[1] > 0.3 > means[2]
    sizes = [attempt(batch, 1, 0.0, 3).alike.mean() for batch in (2, 4, 8)]
    assert 1 > sizes[0] > sizes[1] > sizes[2] > 0.7
    assert attempt(2, 4, 0.0, 3).y.tolist() == attempt(8, 1, 0.0, 3).y.tolist()


@pytest.mark.parametrize(
    ("options", "width"),
    [
        ({}, 4.5),
        ({"batch_size": 8, "local_steps": 4, "noise_multiplier": 0.01}, 4.5),
        ({"batch_size": 8, "seed": 4}, 3.0),
        ({"batch_size": 3, "local_steps": 2}, 10.0),
    ],
)
def test_pictures_of_an_inversion_are_whole(options: Any, width: float) -> None:
    figure = viz.draw_inversion(**options, width_in=width)
    texts = check_figure(figure)
    digits = options.get("batch_size", 1) * options.get("local_steps", 1)
    assert (
        sum(text.replace("\N{MINUS SIGN}", "")[1:2] == "." for text in texts) == digits
    )
    assert "From its update" in style.said(figure)


def test_every_control_of_an_inversion_changes_what_it_says() -> None:
    explorer = viz.explore_inversion()
    said = {explorer.sentence}
    for name, value in {"batch": 3, "steps": 2, "noise": 0.03, "seed": 1}.items():
        explorer.set(**{name: value})
        said.add(explorer.sentence)
        check_figure(explorer.figure)
    assert len(said) == 5
    assert explorer.figure is explorer.picture.figure
    explorer.set(batch=1, steps=1, noise=0.0, seed=0)
    assert explorer.sentence == style.said(viz.draw_inversion())
