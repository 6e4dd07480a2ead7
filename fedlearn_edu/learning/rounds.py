# SPDX-License-Identifier: Apache-2.0
"""One round of a run: draw clients, let them learn, evaluate, write a row."""

import math
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from inspect import iscoroutine
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import FedLearnError, add_place, describe
from fedlearn_edu.learning.divergence import diverged, is_sound
from fedlearn_edu.learning.history import COLUMNS
from fedlearn_edu.learning.judgement import Evaluation
from fedlearn_edu.learning.plan import Plan, RunError
from fedlearn_edu.learning.result import Run
from fedlearn_edu.learning.trees import flatten
from fedlearn_edu.simulation import Draw

Numbers = dict[str, float]


def first(plan: Plan) -> Run:
    """What there is before the first round."""
    process, clients = plan.process, plan.feed.clients
    state, states = process.initialize(), None
    if iscoroutine(state):
        state.close()
        raise RunError(
            "a run waits for each round",
            expected="a context that returns results",
            found="one that returns coroutines",
            where="the default context",
            do="await process.next(…) yourself, or run in a SyncExecutionContext",
        )
    if process.initialize_client is not None:
        states = (process.initialize_client(),) * clients
    return Run(state, states)


def next_round(plan: Plan, run: Run) -> Run:
    """The run after one more round.

    Raises:
        DivergenceError: if it ended in NaN or infinity.
    """
    started = time.perf_counter()
    draw = _draw(plan, run.rounds + 1)
    learned, metrics = _learn(plan, run, draw.finished)
    row = {
        "round": run.rounds + 1,
        "clients": len(draw.finished),
        "dropped": len(draw.dropped),
        "late": len(draw.late),
        "seconds": time.perf_counter() - started,
    }
    row.update((k, v) for k, v in metrics.items() if k not in COLUMNS)
    row.update(_judgement(plan, learned.state.weights, run.rounds + 1))
    return replace(learned, history=run.history.with_row(row))


def _draw(plan: Plan, number: int) -> Draw:
    if plan.participation is None:
        everybody = tuple(range(plan.feed.clients))
        return Draw(invited=everybody, finished=everybody)
    return plan.participation.draw(number, plan.num_examples)


def _learn(plan: Plan, run: Run, finished: tuple[int, ...]) -> tuple[Run, Numbers]:
    """The run with its next state, and the metrics of the round."""
    if not finished:
        return run, dict.fromkeys(_metric_names(plan), math.nan)
    try:
        result = _next(plan, run, finished)
    except Exception as error:
        _say_whose(error, plan, run, finished)
        raise
    if not is_sound(result):
        raise diverged(plan, run, finished)
    metrics = _numbers(result[1], f"metrics of {plan.process.name}")
    if metrics.get("examples") == 0:  # nobody had any, so there is nothing to average
        return run, metrics
    return _with_states(run, finished, result), metrics


def _next(plan: Plan, run: Run, finished: tuple[int, ...]) -> Any:
    data = plan.feed.place(finished, run.rounds + 1)
    if run.client_states is None:
        return plan.process.next(run.state, data)
    states = [run.client_states[position] for position in finished]
    return plan.process.next(run.state, data, states)


def _say_whose(
    error: Exception, plan: Plan, run: Run, finished: tuple[int, ...]
) -> None:
    """Calls clients by their names, where a computation numbers those of the round.

    Client 0 of a round is not client 0 of the data where not all take part.
    """

    def name(found: re.Match[str]) -> str:
        number = int(found[1])
        return plan.feed.name(finished[number]) if number < len(finished) else found[0]

    if isinstance(error, FedLearnError) and error.where is not None:
        place = re.sub(r"^the value\[", "data[", str(error.where))
        error.where = re.sub(r"\bclient (\d+)", name, place)
    add_place(error, f"round {run.rounds + 1}")


def _with_states(run: Run, finished: tuple[int, ...], result: Any) -> Run:
    state, _, *changed = result
    if run.client_states is None:
        return replace(run, state=state)
    client_states = list(run.client_states)
    for position, client_state in zip(finished, *changed, strict=True):
        client_states[position] = client_state
    return replace(run, state=state, client_states=tuple(client_states))


def _judgement(plan: Plan, weights: Any, number: int) -> Numbers:
    """The columns of all evaluations, if it is their turn."""
    if number not in (1, plan.rounds) and number % plan.options.evaluate_every:
        return {}
    found: Numbers = {}
    for name, judge in plan.judges.items():
        place = f"evaluate[{name!r}], after round {number}"
        try:
            judged = judge(weights)
        except Exception as error:
            add_place(error, place)
            raise
        for column, number_found in _numbers(judged, place).items():
            found[f"{name}.{column}"] = number_found
    return found


def _numbers(named: Any, place: str) -> Numbers:
    """Numbers with names as Python has them, which files and tables like better."""
    if isinstance(named, Evaluation):
        named = named.metrics
    if not isinstance(named, Mapping):
        raise _not_numbers(named, place)
    leaves = flatten(named).items()
    return {path.replace("/", "."): _number(leaf, place) for path, leaf in leaves}


def _number(leaf: Any, place: str) -> float:
    array = np.asarray(leaf)
    if array.size != 1 or not isinstance(array.item(), int | float):
        raise _not_numbers(leaf, place)
    return array.item() if array.dtype.kind in "iu" else float(array.item())


def _not_numbers(found: Any, place: str) -> RunError:
    return RunError(
        "a row of the history is made of single numbers",
        expected="a mapping of names to numbers",
        found=describe(found),
        where=place,
    )


def _metric_names(plan: Plan) -> Iterator[str]:
    result: Any = plan.process.next.type_signature.result
    return _names(result[1].member, "")


def _names(type_: Any, path: str) -> Iterator[str]:
    if not isinstance(type_, fl.StructType):
        yield path
        return
    for position, (name, inner) in enumerate(type_.items()):
        step = str(position) if name is None else name
        yield from _names(inner, f"{path}.{step}" if path else step)
