# SPDX-License-Identifier: Apache-2.0
"""Explorers of attacks and defences: each control changes what is seen and said."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu import attacks, learning, viz
from fedlearn_edu.learning import accounting
from fedlearn_edu.simulation import ClientData, datasets, partitions
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.drift import model
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.inversion import attempt
from tests.patience import PATIENCE_S
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


def test_each_digit_of_an_inversion_has_its_number() -> None:
    figure = viz.explore_inversion(8, local_steps=4, noise_multiplier=0.01).figure
    texts = [text.replace("\N{MINUS SIGN}", "") for text in check_figure(figure)]
    assert sum(text[1:2] == "." for text in texts) == 8 * 4
    assert "From its update" in style.said(figure)


# ------------------------------------------------------------------ their controls


def finish(explorer: Explorer) -> str:
    """What it says when all is computed."""
    explorer.wait(PATIENCE_S)
    return explorer.sentence


MOVES: dict[str, tuple[Any, dict[str, Any]]] = {
    "inversion": (
        lambda: viz.explore_inversion(),
        {"batch_size": 3, "local_steps": 2, "noise_multiplier": 0.03, "seed": 1},
    ),
    "poisoning": (
        lambda: viz.explore_poisoning(attackers=3, rounds=1),
        {"attack": "model_replacement", "rule": "krum", "data": "one_shard"}
        | {"attackers": 0, "rounds": 2},
    ),
    "budget": (
        lambda: viz.explore_budget(50, 0.3, 1.0, 2),
        {"clients": 100, "probability": 0.1, "noise_multiplier": 5.0, "rounds": 3},
    ),
}


# They compute rounds; the third one moves with each change.
DEAR = ("poisoning", "budget")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.thorough] * (name in DEAR))
        for name in MOVES
    ],
)
def test_every_control_changes_what_is_said_and_goes_back(name: str) -> None:
    make, moves = MOVES[name]
    explorer = make()
    assert explorer.sentence
    before = dict(explorer.values)
    said = [finish(explorer)]
    for control, value in moves.items():
        explorer.set(**{control: value})
        said.append(finish(explorer))
        check_figure(explorer.figure)
    assert len(set(said)) == len(moves) + 1
    explorer.set(**before)
    assert finish(explorer) == said[0]
    check_figure(explorer.figure)


# ------------------------------------------------------------------ poisoning


@pytest.mark.slow
def test_poisoning_is_what_run_does_under_that_attack() -> None:
    figure = viz.explore_poisoning("sign_flip", "median", attackers=4, rounds=2).figure
    (x, y), test = datasets.load_digits28()
    clients = ClientData(x, y, partitions.iid(y, 20))
    judge = learning.build_federated_evaluation(model())
    everybody = ClientData(*test, [np.arange(len(test[1]))])
    rule, bad = learning.aggregators.median(), range(4)
    for name, aggregator, attackers in (
        ("mean, no attack", None, ()),
        ("mean, attacked by 4 of 20", None, bad),
        ("median, attacked by 4 of 20", rule, bad),
    ):
        process = learning.build_fed_avg(model(), 0.1, aggregator=aggregator)
        if attackers:
            attack = attacks.sign_flip(times=5).on(attackers)
            process = attacks.poison(process, attack)
        run = learning.run(
            process, clients, 2, batch_size=10, evaluate={"test": judge.on(everybody)}
        )
        share = run.history["test.accuracy_per_example"][-1]
        assert f"{share:.1%} ({name})" in style.said(figure)
    check_figure(figure)


# ------------------------------------------------------------------ budget


@pytest.mark.slow
def test_budget_is_that_of_the_accountant() -> None:
    explorer = viz.explore_budget(50, 0.3, 1.0, 2)
    finish(explorer)
    delta = 50**-1.1
    spent = accounting.epsilon(1.0, 0.3, 2, delta)
    assert f"epsilon is {spent:.3g} at delta {delta:.2g}" in explorer.sentence


@pytest.mark.slow
def test_without_the_library_the_rest_of_a_budget_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gone(*_: Any) -> float:
        raise accounting.MissingAccountantError("no library", do="install it")

    monkeypatch.setattr(accounting, "epsilon", gone)
    figure = viz.explore_budget(50, 0.3, 1.0, 2).figure
    said = style.said(figure)
    assert "the accuracy is" in said
    assert said.endswith("; no library (install it).")
    texts = check_figure(figure)
    assert any("no number" in text for text in texts)
