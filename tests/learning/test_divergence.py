# SPDX-License-Identifier: Apache-2.0
"""When a round ends in NaN, the error names the client and holds what was before."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.learning.checkpoints import Checkpoints
from fedlearn_edu.learning.config import Options
from fedlearn_edu.learning.divergence import DivergenceError
from fedlearn_edu.learning.training_loop import run
from fedlearn_edu.simulation import ClientData, ClientSampling
from tests.learning.small import mean_process, numbers, same, small_arrays, small_lists

PROCESS = mean_process()


def spoilt(client: int, clients: int = 6) -> ClientData:
    """Clients of ten examples each; one of them holds NaN."""
    x, y = small_arrays()
    shares = np.split(np.arange(60), clients)
    x[shares[client][3]] = np.nan
    return ClientData(x, y, shares)


@pytest.mark.parametrize("keeps", [False, True])
def test_what_there_was_before_the_bad_round_is_kept(keeps: bool) -> None:
    process, data = mean_process(keeps=keeps), spoilt(client=4)
    how: Any = {"batch_size": 5, "client_sampling": ClientSampling(count=2, seed=7)}
    draws = [how["client_sampling"].draw(n, data.num_examples) for n in range(1, 30)]
    bad = next(n for n, draw in enumerate(draws, 1) if 4 in draw.finished)
    assert bad > 2
    with pytest.raises(DivergenceError, match=f"after round {bad}") as error:
        run(process, data, 30, **how)
    good = run(process, data, bad - 1, **how)
    assert same(error.value.run.state, good.state)
    assert same(error.value.run.client_states, good.client_states)
    assert numbers(error.value.run) == numbers(good)


def test_the_last_good_round_is_saved(tmp_path: Path) -> None:
    data = spoilt(client=4)
    how: Any = {"batch_size": 5, "client_sampling": ClientSampling(count=2, seed=7)}
    options = Options(checkpoints=Checkpoints(tmp_path, every=100))
    with pytest.raises(DivergenceError) as error:
        run(PROCESS, data, 30, **how, options=options)
    good = error.value.run
    resumed = run(PROCESS, data, good.rounds, **how, options=options)
    assert same(resumed.state, good.state)


def test_a_loss_that_is_infinite_is_said_while_weights_are_finite() -> None:
    data: Any = small_lists()
    data[1][0]["x"] = np.full_like(data[1][0]["x"], 1e25)  # its square is too large
    with np.errstate(all="ignore"):
        learned = run(mean_process(rate=0.0), data, 2)
    assert learned.history["loss_per_example"].tolist() == [math.inf, math.inf]


A = fl.learning.aggregators
MODEL = fl.learning.models.softmax_regression(features=3, classes=2)
BEARING = [
    A.zeroing(A.mean()),
    A.zeroing(A.clipping(A.mean(), norm=1.0), norm=10.0),
    A.median(),
    A.krum(1),
    A.multi_krum(1),
    A.gaussian(1.0, 0.01, 6),
    A.gaussian_adaptive(0.01, 6),
]


@pytest.mark.tensorflow
@pytest.mark.parametrize("rule", BEARING, ids=repr)
def test_a_rule_that_bears_a_bad_client_is_a_run_that_goes_on(rule: Any) -> None:
    process = fl.learning.build_fed_avg(MODEL, aggregator=rule)
    learned = run(process, spoilt(client=3), 2, batch_size=5)
    assert learned.rounds == 2
    assert all(np.isfinite(leaf).all() for leaf in learned.weights.values())
    assert np.isnan(learned.history["loss_per_example"]).all()


@pytest.mark.tensorflow
@pytest.mark.parametrize("rule", [A.krum(1), A.multi_krum(0, 6)], ids=repr)
def test_culprits_of_a_rule_that_needs_several_are_found(rule: Any) -> None:
    """Updates are finite, and the server's step is not."""
    process = fl.learning.build_fed_avg(MODEL, 0.1, 3e38, aggregator=rule)
    x, y = small_arrays()
    far = ClientData(1e3 * x, y, np.split(np.arange(60), 6))
    with pytest.raises(DivergenceError, match=r"client 4 with loss [^n].*; 6 clients"):
        run(process, far, 1, batch_size=5)
