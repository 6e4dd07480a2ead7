# SPDX-License-Identifier: Apache-2.0
"""`run`: a learning process, round after round, watched, saved and resumed.

What goes on in one round is in `rounds`; what `Options` there are is said in `plan`.
"""

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.learning.callbacks import reason_to_stop
from fedlearn_edu.learning.checkpoints import Store
from fedlearn_edu.learning.plan import Judges, Options, Plan, RunError, make_plan
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.learning.progress import advance, progress_bar
from fedlearn_edu.learning.result import Run
from fedlearn_edu.learning.rounds import first, next_round
from fedlearn_edu.simulation import Participation


@short_traceback
def run(
    process: LearningProcess,
    data: Any,
    rounds: int,
    *,
    batch_size: int | None = None,
    participation: Participation | None = None,
    evaluate: Judges | None = None,
    options: Options | None = None,
) -> Run:
    """Learns for `rounds` rounds.

    Rounds are numbered from 1, in the history as in what is drawn and shuffled; a round
    in which nobody finishes changes nothing and is a row with 0 clients. Where
    `Options(checkpoints=…)` names a folder with a checkpoint, the run goes on from the
    newest one: killed at any time and called again, it ends as if it had not been.
    Ctrl-C ends it after the last complete round.

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
        participation: Who takes part in each round; `None` for everybody.
        evaluate: `{"test": function}`, where the function takes the model's weights and
            returns numbers with names; `{"loss": 0.5}` becomes the column `test.loss`.
            `evaluation.on(test_data)` is such a function.
        options: What most runs do without.

    Raises:
        RunError: if something does not make sense, before anything is run.
        DataError: if the data do not fit the process, or there are none.
        DivergenceError: if a round ends in NaN; its `run` is what there was before.
        CheckpointError: if the newest checkpoint is damaged, or of another run; or if
            another run goes on in its folder.

    Source: `tff.learning.programs.train_model`, as one call for a notebook.
    """
    plan = make_plan(
        process,
        data,
        rounds,
        batch_size=batch_size,
        participation=participation,
        evaluate=evaluate,
        options=options,
    )
    beginning = first(plan)
    saved = plan.options.checkpoints
    store = Store(saved, plan.identity(), beginning) if saved else None
    with store.in_use() if store else nullcontext():
        done = (store.newest() if store else None) or plan.options.start or beginning
        _check_beginning(plan, beginning, done)
        return _go_on(plan, replace(done, stopped=None), store)


def _go_on(plan: Plan, done: Run, store: Store | None) -> Run:
    """Round after round. However it ends, the last good round has been saved."""
    try:
        with progress_bar(plan.rounds, done.rounds, plan.options.progress) as bar:
            stopped = _asked(plan, done) if done.rounds else None
            while stopped is None and done.rounds < plan.rounds:
                done = next_round(plan, done)
                if store:
                    store.save_if_due(done)
                advance(bar, done)
                stopped = _asked(plan, done)
    except KeyboardInterrupt:
        stopped = "interrupted"
    finally:
        if store:
            store.save(done)
    return replace(done, stopped=stopped)


def _asked(plan: Plan, done: Run) -> str | None:
    return reason_to_stop(tuple(plan.options.callbacks), done)


def _check_beginning(plan: Plan, first: Run, done: Run) -> None:
    """What a run goes on from is a shorter run of the same clients."""
    if done.rounds > plan.rounds:
        raise RunError(
            "there are more rounds already than the run is to have",
            expected=f"at most {plan.rounds} rounds",
            found=f"{done.rounds} rounds",
            where="rounds",
            do=f"ask for more than {done.rounds}, or begin a run of its own",
        )
    ours, theirs = (len(run.client_states or ()) for run in (first, done))
    if ours != theirs:
        raise RunError(
            "a run goes on with the clients it had",
            expected=f"states of {ours} clients",
            found=f"states of {theirs} clients",
            where="start",
        )
