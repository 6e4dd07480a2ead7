# SPDX-License-Identifier: Apache-2.0
"""Runs the program of `program` and reports what happens, step by step.

`__main__` calls `run_demo` with a function that shows a line; every number comes from
calling a computation, and only the folder for the pictures is written.
"""

import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from tqdm import tqdm

import fedlearn_edu as fl
from fedlearn_edu.demo import report
from fedlearn_edu.demo.pictures import save_pictures
from fedlearn_edu.demo.program import Program, build_program
from fedlearn_edu.demo.published import compare
from fedlearn_edu.demo.records import Baselines, Evaluation, Outcome, Round
from fedlearn_edu.demo.setting import (
    DECAY,
    LEARNING_RATE,
    LONE_CLIENT,
    FederatedData,
    Options,
    prepare,
)
from fedlearn_edu.errors import FedLearnError

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
    is_reproduced = True
    if data.name == "mnist" and options.seed is None:
        rows = compare(outcome)
        is_reproduced = all(row.is_reproduced for row in rows)
        say(f"\n4. The published numbers\n{report.comparison_table(rows)}")
    say("")
    for path in save_pictures(outcome, options.out):
        say(f"picture   {path}")
    say("")
    for sentence in report.conclusion(outcome):
        say(textwrap.fill(sentence, 80))
    return is_reproduced


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
    """Runs the parts of `program` on a stack that counts bytes."""
    factory = fl.framework.sizing_executor_factory(support_sequence_ops=True)
    with fl.framework.SyncExecutionContext(executor_fn=factory):
        program = build_program()
        train, test = (
            split.place(data.batch_size) for split in (data.train, data.test)
        )
        evaluator = _Evaluator(program, train, test)
        baselines = _baselines(program, data, evaluator)
        say(report.baseline_lines(baselines))
        say(report.table_head())
        say(report.zero_row(baselines))
        reporter = _RoundReporter(evaluator, factory, say)
        fl.learning.run(
            program.averaging,
            data.train,
            num_rounds,
            batch_size=data.batch_size,
            options=fl.learning.Options(callbacks=[reporter]),
        )
    return Outcome(baselines, tuple(reporter.rounds))


@final
@dataclass(frozen=True)
class _Evaluator:
    """Evaluates a model on the two splits, which were placed once."""

    program: Program
    train_batches: Any
    test_batches: Any

    def train(self, weights: Any) -> Evaluation:
        """On what the clients learn from."""
        return _read(self.program.evaluation(weights, self.train_batches))

    def test(self, weights: Any) -> Evaluation:
        """On the test images."""
        return _read(self.program.evaluation(weights, self.test_batches))


def _read(found: fl.learning.Evaluation) -> Evaluation:
    return Evaluation(
        loss=found.loss_summed_over_batches,
        accuracy=found.accuracy_per_example,
        client_losses=tuple(found.client_losses_summed_over_batches.tolist()),
        client_accuracies=tuple(found.client_accuracies.tolist()),
    )


def _baselines(
    program: Program, data: FederatedData, evaluator: _Evaluator
) -> Baselines:
    """What the zero model and the model of one lone client can do."""
    stepping, own = program.stepping, data.train[LONE_CLIENT].batches(data.batch_size)
    state = zero = stepping.initialize()
    losses = []
    for _ in range(6):
        losses.append(program.evaluation(state.weights, [own[-1:]]).loss_per_example)
        state, _ = stepping.next(state, [own[-1:]])
    lone, _ = stepping.next(zero, [own])
    return Baselines(
        batch_loss=losses[0],
        steps=tuple(losses[1:]),
        zero_train=evaluator.train(zero.weights),
        zero_test=evaluator.test(zero.weights),
        lone=evaluator.train(lone.weights),
    )


@final
class _RoundReporter:
    """Called after each round: evaluates, keeps the round, and says its line."""

    def __init__(self, evaluator: _Evaluator, factory: Any, say: Say) -> None:
        self.rounds: list[Round] = []
        self._evaluator, self._factory, self._say = evaluator, factory, say
        self._before = factory.get_size_info()

    def __call__(self, so_far: fl.learning.Run) -> None:
        """The callback of `learning.run`."""
        after, number = self._factory.get_size_info(), so_far.rounds
        step = Round(
            number=number,
            learning_rate=LEARNING_RATE * DECAY ** (number - 1),
            weights=np.asarray(so_far.weights["weights"]),
            train=self._evaluator.train(so_far.weights),
            test=self._evaluator.test(so_far.weights),
            bytes_down=after.bytes_down - self._before.bytes_down,
            bytes_up=after.bytes_up - self._before.bytes_up,
            seconds=so_far.history.last["seconds"],
        )
        self.rounds.append(step)
        with tqdm.external_write_mode(file=sys.stdout):
            self._say(report.table_row(step))
        self._before = self._factory.get_size_info()
