# SPDX-License-Identifier: Apache-2.0
"""Runs the program of `program` and tells what happens, step by step.

`__main__` calls `tell` with a function that shows a line; every number comes from
calling a computation, and only the folder for the pictures is written.
"""

import sys
import textwrap
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, final

import numpy as np
from tqdm import tqdm

import fedlearn_edu as fl
from fedlearn_edu.demo import report
from fedlearn_edu.demo.pictures import save_pictures
from fedlearn_edu.demo.published import compare
from fedlearn_edu.demo.records import Evaluation, Opening, Outcome, Round
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


def tell(options: Options, say: Say) -> bool:
    """Runs the demo and says its lines; writes the pictures into `options.out`.

    Returns:
        Whether the published numbers came out, where they apply: `True` otherwise.
    """
    make_folder(options.out)
    data = prepare(options)
    say(report.heading(data, options))
    outcome = run(data, options.rounds, say)
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


def run(data: FederatedData, num_rounds: int, say: Say) -> Outcome:
    """Calls the computations of `program` on a stack that counts bytes."""
    factory = fl.framework.sizing_executor_factory(support_sequence_ops=True)
    with fl.framework.SyncExecutionContext(executor_fn=factory):
        opening = _opening(data)
        say(report.opening_lines(opening))
        say(report.table_head())
        say(report.zero_row(opening))
        steps = []
        for step in _rounds(data, num_rounds, factory):
            with tqdm.external_write_mode(file=sys.stdout):
                say(report.table_row(step))
            steps.append(step)
    return Outcome(opening, tuple(steps))


def _opening(data: FederatedData) -> Opening:
    """What the zero model and the model of one lone client can do."""
    program = _load_program()
    own = data.train[LONE_CLIENT]
    model, losses = zero_model(), []
    for _ in range(5):
        model = program.batch_train(model, own[-1], LEARNING_RATE)
        losses.append(float(program.batch_loss(model, own[-1])))
    lone = program.local_train(zero_model(), LEARNING_RATE, own)
    return Opening(
        batch_loss=float(program.batch_loss(zero_model(), own[-1])),
        steps=tuple(losses),
        zero_train=evaluate(zero_model(), data.train),
        zero_test=evaluate(zero_model(), data.test),
        lone=evaluate(lone, data.train),
    )


def _rounds(data: FederatedData, num_rounds: int, factory: Any) -> Iterator[Round]:
    """Federated averaging, with a progress bar where somebody watches."""
    program = _load_program()
    model, learning_rate = zero_model(), LEARNING_RATE
    numbers = range(1, num_rounds + 1)
    look = {"file": sys.stdout, "disable": not sys.stdout.isatty(), "leave": False}
    for number in tqdm(numbers, "rounds", **look):
        before, started = factory.get_size_info(), time.perf_counter()
        model = program.federated_train(model, learning_rate, data.train)
        seconds, after = time.perf_counter() - started, factory.get_size_info()
        yield Round(
            number=number,
            learning_rate=learning_rate,
            weights=np.asarray(model["weights"]),
            train=evaluate(model, data.train),
            test=evaluate(model, data.test),
            bytes_down=after.bytes_down - before.bytes_down,
            bytes_up=after.bytes_up - before.bytes_up,
            seconds=seconds,
        )
        learning_rate *= DECAY


def _load_program() -> ModuleType:
    """Imports the program late, because that takes seconds, and TensorFlow silently."""
    from fedlearn_edu.runtimes.tensorflow import library  # noqa: F401, I001
    from fedlearn_edu.demo import program

    return program


def zero_model() -> Any:
    """`<weights=float32[784,10],bias=float32[10]>` of zeros."""
    return OrderedDict(
        weights=np.zeros([784, 10], np.float32), bias=np.zeros([10], np.float32)
    )


def evaluate(model: Any, clients: Any) -> Evaluation:
    """Calls `program.federated_eval` and puts its results into a record."""
    result = _load_program().federated_eval(model, clients)
    own = result["clients"]
    return Evaluation(
        loss=float(result["loss"]),
        accuracy=float(result["correct"] / result["examples"]),
        client_losses=tuple(float(each["loss"]) for each in own),
        client_accuracies=tuple(
            float(each["correct"] / each["examples"]) for each in own
        ),
    )
