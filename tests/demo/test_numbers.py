# SPDX-License-Identifier: Apache-2.0
"""The demo finds what the benchmark's NumPy finds, which shares no code with it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.in_numpy import loop
from benchmarks.models import initial
from benchmarks.workloads import Source
from fedlearn_edu.demo.setting import LONE_CLIENT, Options, prepare

WORKLOAD = Source("digits").w1()
DATA = prepare(Options(data="digits28"))


def test_demo_deals_out_what_the_benchmark_does() -> None:
    dealt = DATA.train.batches(DATA.batch_size)
    for ours, theirs in zip(dealt, WORKLOAD.batches, strict=True):
        for batch, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(batch["x"], other["x"], strict=True)
            np.testing.assert_array_equal(batch["y"], other["y"], strict=True)


@pytest.mark.tensorflow
@pytest.mark.slow
def test_demo_finds_the_numbers_of_numpy_on_digits28() -> None:
    from fedlearn_edu.demo.run import run_program

    outcome = run_program(DATA, num_rounds=3, say=lambda line: None)
    test: Any = DATA.test.batches(DATA.batch_size)
    train, evaluate = loop(WORKLOAD)
    alone = [loop(replace(WORKLOAD, clients=(c,))) for c in WORKLOAD.clients]
    model = tuple(initial().values())
    lone = alone[LONE_CLIENT].train(model, 0.1)
    losses = [each.evaluate(lone) for each in alone]
    assert outcome.baselines.lone.client_losses == pytest.approx(losses, rel=1e-5)
    of_nothing = np.log(10) * np.mean([len(client) for client in test])
    assert outcome.baselines.zero_test.loss == pytest.approx(of_nothing, rel=1e-5)
    for ours, rate in zip(outcome.rounds, WORKLOAD.rates, strict=False):
        model = train(model, rate)
        np.testing.assert_allclose(ours.weights, model[0], atol=1e-6)
        assert ours.train.loss == pytest.approx(evaluate(model), rel=1e-5)
        right = [
            [(b["x"] @ model[0] + model[1]).argmax(axis=1) == b["y"] for b in client]
            for client in test
        ]
        shares = [float(np.concatenate(each).mean()) for each in right]
        assert ours.test.client_accuracies == pytest.approx(shares)
