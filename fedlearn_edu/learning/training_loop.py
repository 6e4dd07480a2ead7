# SPDX-License-Identifier: Apache-2.0
"""`run`: a learning process, round after round, with history and checkpoints.

A round samples clients, trains, evaluates, and adds a row to the history. `config` has
the `Options`.
"""

import math
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from inspect import iscoroutine
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import FedLearnError, counted, describe, short_traceback
from fedlearn_edu.learning.callbacks import reason_to_stop
from fedlearn_edu.learning.checkpoints import Store
from fedlearn_edu.learning.client_source import check_same_clients
from fedlearn_edu.learning.config import Evaluators, Options, RunConfig, make_config
from fedlearn_edu.learning.divergence import diverged, is_sound
from fedlearn_edu.learning.errors import RunError
from fedlearn_edu.learning.evaluation import Evaluation
from fedlearn_edu.learning.history import COLUMNS
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.learning.progress import advance, progress_bar
from fedlearn_edu.learning.pytree import flatten, read_only
from fedlearn_edu.learning.run_state import Run, client_states, entries_of
from fedlearn_edu.signals import add_place
from fedlearn_edu.simulation import ClientSampling, Cohort

Numbers = dict[str, float]


@short_traceback
def run(
    process: LearningProcess,
    data: Any,
    rounds: int,
    *,
    batch_size: int | None = None,
    client_sampling: ClientSampling | None = None,
    evaluate: Evaluators | None = None,
    options: Options | None = None,
) -> Run:
    """Trains for `rounds` rounds.

    Rounds count from 1, in the history as in what is sampled and shuffled. A round that
    no client finishes is a row with 0 clients, and changes nothing; where the process
    has a `mechanism` it is a step of noise alone, as no step would say that nobody came
    and an accountant counts all rounds. Where
    `Options(checkpoints=…)` names a folder with a checkpoint, the run resumes from the
    newest one: killed at any time and called again, it ends as if it had never been
    killed. Ctrl-C ends it after the last complete round.

    >>> import fedlearn_edu as fl
    >>> model = fl.learning.models.softmax_regression(features=2, classes=2)
    >>> process = fl.learning.build_fed_avg(model, client_learning_rate=0.5)
    >>> batch = {"x": [[0.0, 1.0], [1.0, 0.0]], "y": [0, 1]}
    >>> learned = run(process, [[batch], [batch]], 3)
    >>> learned.history["loss_per_example"].round(3)
    array([0.693, 0.576, 0.486])

    Args:
        process: What learns, made by one of the builders.
        data: A `ClientData`, or a list with one sequence of batches per client.
        rounds: How many in total, those of a checkpoint included.
        batch_size: Examples per batch of a `ClientData`; `None` for all in one.
        client_sampling: Who takes part in each round; `None` for everybody.
        evaluate: `{"test": function}`, where the function takes the model's weights and
            returns numbers with names; `{"loss": 0.5}` becomes the column `test.loss`.
            It can read the weights, and not write into them.
            `evaluation.on(test_data)` is such a function.
        options: Settings that most runs leave at their defaults.

    Raises:
        RunError: if something does not make sense, before anything is run.
        RunError: if the data do not fit the process, or there are none.
        DivergenceError: if a model ends in NaN; its `run` is what there was before.
        CheckpointError: if the newest checkpoint is damaged, or of another run; or if
            another run is using its folder.

    Source: `tff.learning.programs.train_model`, as one call for a notebook.
    """
    config = make_config(
        process,
        data,
        rounds,
        batch_size=batch_size,
        client_sampling=client_sampling,
        evaluate=evaluate,
        options=options,
    )
    beginning = first(config)
    saved = config.options.checkpoints
    store = Store(saved, config.identity(), beginning) if saved else None
    with store.in_use() if store else nullcontext():
        done = (store.newest() if store else None) or config.options.start or beginning
        _check_beginning(config, beginning, done)
        if config.spending:
            config.spending.check(done)
            done = replace(done, history=config.spending.told(done.history))
        return _go_on(config, replace(done, stopped=None), store)


def _go_on(config: RunConfig, done: Run, store: Store | None) -> Run:
    """Round after round. However it ends, the last good round is saved.

    Unless what clients keep was lost with a worker: then the last checkpoint stands.
    """
    try:
        with progress_bar(config.rounds, done.rounds, config.options.progress) as bar:
            stopped = _asked(config, done)
            while stopped is None and done.rounds < config.rounds:
                done = next_round(config, done)
                if store:
                    store.save_if_due(done)
                advance(bar, done)
                stopped = _asked(config, done)
    except KeyboardInterrupt:
        stopped = "interrupted"
    except BaseException:
        with suppress(ConnectionError):  # what clients keep may be lost with a cluster
            _save(store, done)
        raise
    _save(store, done)
    states = done.client_states
    if states is not None:
        states = tuple(fl.framework.materialize(entries_of(states)))
    return replace(done, stopped=stopped, client_states=states)


def _save(store: Store | None, done: Run) -> None:
    if store:
        store.save(done)


def _asked(config: RunConfig, done: Run) -> str | None:
    """Why there is no further round, if callbacks or the budget say so."""
    if not done.rounds:
        return None
    why = reason_to_stop(tuple(config.options.callbacks), done)
    if why is None and config.spending and done.rounds < config.rounds:
        why = config.spending.reason_to_stop(done.history)
    return why


def _check_beginning(config: RunConfig, first: Run, done: Run) -> None:
    """A run continues a shorter run of the same clients."""
    if done.rounds > config.rounds:
        raise RunError(
            "there are more rounds already than the run is to have",
            expected=f"at most {counted(config.rounds, 'round')}",
            found=counted(done.rounds, "round"),
            where="rounds",
            do=f"ask for more than {done.rounds}, or begin a run of its own",
        )
    ours, theirs = (len(run.client_states or ()) for run in (first, done))
    if ours != theirs:
        raise RunError(
            "a run goes on with the clients it had",
            expected=f"states of {counted(ours, 'client')}",
            found=f"states of {counted(theirs, 'client')}",
            where="start",
        )
    if first.clients and done.clients:
        check_same_clients(first.clients, done.clients)


# ------------------------------------------------------------------ one round


def first(config: RunConfig) -> Run:
    """What there is before the first round."""
    process, source = config.process, config.source
    state = process.initialize()
    if iscoroutine(state):
        state.close()
        raise RunError(
            "a run waits for each round",
            expected="a context that returns results",
            found="one that returns coroutines",
            where="the default context",
            do="await process.next(…) yourself, or run in a SyncExecutionContext",
        )
    if process.initialize_client is None:
        return Run(state)
    kept = (process.initialize_client(),) * source.clients
    return Run(state, kept, clients=source.who())


def next_round(config: RunConfig, run: Run) -> Run:
    """The run after one more round.

    Raises:
        DivergenceError: if it ended in NaN or infinity.
    """
    started = time.perf_counter()
    cohort = _cohort(config, run.rounds + 1)
    learned, metrics = _learn(config, run, cohort.finished)
    row: Numbers = {
        "round": run.rounds + 1,
        "clients": len(cohort.finished),
        "dropped": len(cohort.dropped),
        "late": len(cohort.late),
        "seconds": time.perf_counter() - started,
    }
    own = (*COLUMNS, *(config.cost or ()), *["epsilon"] * bool(config.spending))
    row.update((k, v) for k, v in metrics.items() if k not in own)
    row.update(config.cost)
    if config.spending:
        row["epsilon"] = config.spending.spent(run.history, 1)
    row.update(_evaluated(config, learned.state.weights, run.rounds + 1))
    return replace(learned, history=run.history.with_row(row))


def _cohort(config: RunConfig, number: int) -> Cohort:
    if config.client_sampling is None:
        everybody = tuple(range(config.source.clients))
        return Cohort(invited=everybody, finished=everybody)
    return config.client_sampling.draw(number, config.num_examples)


def _learn(
    config: RunConfig, run: Run, finished: tuple[int, ...]
) -> tuple[Run, Numbers]:
    """The run with its next state, and the metrics of the round."""
    adds_noise = config.process.mechanism is not None
    if not finished and not adds_noise:
        return run, dict.fromkeys(_metric_names(config), math.nan)
    try:
        result = config.call_next(run, finished)
    except Exception as error:
        _say_whose(error, config, run, finished)
        raise
    if not is_sound(result):
        raise diverged(config, run, finished)
    metrics = _numbers(result[1], f"metrics of {config.process.name}")
    if metrics.get("examples") == 0 and not adds_noise:  # nothing to average
        return run, metrics
    return _with_states(run, finished, result), metrics


def _say_whose(
    error: Exception, config: RunConfig, run: Run, finished: tuple[int, ...]
) -> None:
    """Renumbers clients in an error: those of a round are numbered from 0 anew."""

    def name(found: re.Match[str]) -> str:
        number = int(found[1])
        return (
            config.source.name(finished[number]) if number < len(finished) else found[0]
        )

    if isinstance(error, FedLearnError) and error.where is not None:
        place = re.sub(r"^the value\[", "data[", str(error.where))
        error.where = re.sub(r"\bclient (\d+)", name, place)
    add_place(error, f"round {run.rounds + 1}")


def _with_states(run: Run, finished: tuple[int, ...], result: Any) -> Run:
    state, _, *changed = result
    if run.client_states is None:
        return replace(run, state=state)
    entries = list(entries_of(run.client_states))
    for position, entry in zip(finished, *changed, strict=True):
        entries[position] = entry
    return replace(run, state=state, client_states=client_states(entries))


def _evaluated(config: RunConfig, weights: Any, number: int) -> Numbers:
    """The columns of all evaluations, in rounds that evaluate."""
    if number not in (1, config.rounds) and number % config.options.evaluate_every:
        return {}
    found: Numbers = {}
    for name, judge in config.evaluators.items():
        place = f"evaluate[{name!r}], after round {number}"
        try:
            judged = judge(read_only(weights))
        except Exception as error:
            add_place(error, place)
            raise
        for column, number_found in _numbers(judged, place).items():
            found[f"{name}.{column}"] = number_found
    return found


def _numbers(named: Any, place: str) -> Numbers:
    """Named numbers as plain Python numbers, for files and tables."""
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


def _metric_names(config: RunConfig) -> Iterator[str]:
    result: Any = config.process.next.type_signature.result
    return _names(result[1].member, "")


def _names(type_: Any, path: str) -> Iterator[str]:
    if not isinstance(type_, fl.StructType):
        yield path
        return
    for position, (name, inner) in enumerate(type_.items()):
        step = str(position) if name is None else name
        yield from _names(inner, f"{path}.{step}" if path else step)
