# SPDX-License-Identifier: Apache-2.0
"""Runs federated averaging and evaluation, and reports what happens, step by step.

The algorithms are those of `learning`; here they get the numbers of the tutorial
"Custom Federated Algorithms, Part 2" of TensorFlow Federated.

`__main__` calls `run_demo` with a function that shows a line; every number comes from
calling a computation, and only the folder for the pictures is written.
"""

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

from tqdm import tqdm

from fedlearn_edu import framework, learning
from fedlearn_edu.demo import report
from fedlearn_edu.demo.pictures import save_pictures
from fedlearn_edu.demo.published import compare
from fedlearn_edu.demo.records import Outcome, Round
from fedlearn_edu.demo.setting import (
    DECAY,
    LEARNING_RATE,
    LONE_CLIENT,
    FederatedData,
    Options,
    prepare,
)
from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import exponential_decay

Say = Callable[[str], None]


@final
class DemoError(FedLearnError, ValueError):
    """The demo was asked for something it cannot do."""


def run_demo(options: Options, say: Say) -> bool:
    """Runs the demo, reports it line by line, and writes pictures to `options.out`.

    Returns:
        Whether the published numbers came out, where they apply: `True` otherwise.
    """
    make_folder(options.out)
    data = prepare(options)
    say(report.heading(data, options))
    outcome = run_program(data, options.rounds, say)
    applies = data.name == "mnist" and options.seed is None
    rows = compare(outcome) if applies else ()
    if rows:
        say(f"\n4. The published numbers\n{report.comparison_table(rows)}")
    say("")
    for path in save_pictures(outcome, options.out):
        say(f"picture   {path}")
    say("")
    for sentence in report.conclusion(outcome):
        say(textwrap.fill(sentence, 80))
    return all(row.is_reproduced for row in rows)


def make_folder(folder: Path) -> None:
    """Makes the folder for the pictures, or raises `DemoError` before anything ran."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DemoError(
            f"no folder for the pictures can be made at {folder}",
            found=f"{error.strerror}: {error.filename}",
            do="choose another place with --out",
        ) from error


def run_program(data: FederatedData, num_rounds: int, say: Say) -> Outcome:
    """First a client learns alone, then all learn together."""
    model = learning.models.softmax_regression(log_of_softmax=True)
    rate = exponential_decay(LEARNING_RATE, DECAY)
    process = learning.build_fed_avg(model, rate, weighting="uniform")
    factory = framework.sizing_executor_factory(support_sequence_ops=True)
    with framework.SyncExecutionContext(executor_fn=factory):
        evaluator = _Evaluator(model, data, factory)
        outcome = _learn_alone(data, evaluator)
        outcome.rounds.append(evaluator.round(0, process.initialize().weights, 0.0))
        say(report.before_training(outcome))

        def after(run: learning.Run) -> None:
            seconds = run.history.last["seconds"]
            outcome.rounds.append(evaluator.round(run.rounds, run.weights, seconds))
            with tqdm.external_write_mode(file=sys.stdout):
                say(report.table_row(outcome.rounds[-1]))

        size, options = data.batch_size, learning.Options(callbacks=[after])
        learning.run(process, data.train, num_rounds, batch_size=size, options=options)
    return outcome


@final
class _Evaluator:
    """Evaluates models on the two splits, and counts what moved in between."""

    def __init__(self, model: Model, data: FederatedData, factory: Any) -> None:
        self.on = learning.build_federated_evaluation(model)
        self._train = data.train.place(data.batch_size)
        self._test = data.test.place(data.batch_size)
        self._factory, self._before = factory, factory.get_size_info()

    def train(self, weights: Any) -> learning.Evaluation:
        """On what the clients learn from."""
        return self.on(weights, self._train)

    def round(self, number: int, weights: Any, seconds: float) -> Round:
        """The round after which the model has these weights."""
        moved = self._factory.get_size_info()
        train, test = self.train(weights), self.on(weights, self._test)
        down = moved.bytes_down - self._before.bytes_down
        up = moved.bytes_up - self._before.bytes_up
        self._before = self._factory.get_size_info()
        return Round(number, weights, train, test, down, up, seconds)


def _learn_alone(data: FederatedData, evaluator: _Evaluator) -> Outcome:
    """Steps on one batch; and, from the zero model again, a pass over all batches."""
    process = learning.build_fed_avg(evaluator.on.model, LEARNING_RATE)
    own = data.train[LONE_CLIENT].batches(data.batch_size)
    state = zero = process.initialize()
    losses = []
    for _ in range(6):
        losses.append(evaluator.on(state.weights, [own[-1:]]).loss_per_example)
        state, _ = process.next(state, [own[-1:]])
    lone, _ = process.next(zero, [own])
    return Outcome(tuple(losses), evaluator.train(lone.weights))
