# SPDX-License-Identifier: Apache-2.0
"""The configuration of a run, checked before the first round."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

import fedlearn_edu as fl
from fedlearn_edu.errors import bad_argument, counted, is_whole_number
from fedlearn_edu.learning.budget import Budget, Spending, cost_of, spending
from fedlearn_edu.learning.callbacks import Callback
from fedlearn_edu.learning.checkpoints import Checkpoints
from fedlearn_edu.learning.client_source import ClientSource, client_source
from fedlearn_edu.learning.errors import RunError
from fedlearn_edu.learning.evaluation import FederatedEvaluation
from fedlearn_edu.learning.fingerprint import fingerprint
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.learning.pytree import flatten
from fedlearn_edu.learning.run_state import Run, entries_of
from fedlearn_edu.simulation import ClientSampling

Evaluators = Mapping[str, Callable[[Any], Mapping[str, float]]]
"""For each name a function of the model's weights that returns numbers with names."""


@final
@dataclass(frozen=True)
class Options:
    """Settings that most runs leave at their defaults.

    Attributes:
        shuffle_seed: with a seed, a client reads its examples in another order in each
            round, which depends on (seed, round, client); `None` keeps them as dealt.
        evaluate_every: evaluations come after the first round, after each round whose
            number this divides, and after the last.
        callbacks: functions of the `Run` so far, which they can read only; see
            `callbacks`.
        checkpoints: where to save the run, and to resume it from; `None` for nowhere.
        progress: whether to show a progress bar in a notebook or on a terminal.
        start: a `Run` to continue, such as one that was interrupted. Where clients keep
            something, they have to be the same, in the same order.
        budget: `(epsilon, delta)` that a process with a `mechanism` may spend. The run
            ends before the round that would exceed it, and the history has a column
            `epsilon`. All rounds count, those of a checkpoint or `start` included, with
            the noise and the sampling that each of them had. For a cohort of fixed size
            say `(epsilon, delta, "replace_one")`; see `accounting`.
    """

    shuffle_seed: int | None = None
    evaluate_every: int = 1
    callbacks: Sequence[Callback] = ()
    checkpoints: Checkpoints | None = None
    progress: bool = True
    start: Run | None = None
    budget: Budget | None = None


@final
@dataclass(frozen=True, eq=False)
class RunConfig:
    """The checked arguments of one `run`; made by `make_config`."""

    process: LearningProcess
    source: ClientSource
    rounds: int
    batch_size: int | None
    client_sampling: ClientSampling | None
    evaluators: Evaluators
    options: Options
    spending: Spending | None = None
    cost: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def num_examples(self) -> NDArray[np.int64]:
        """How many examples each client holds, counted once."""
        return self.source.num_examples()

    def call_next(self, run: Run, positions: tuple[int, ...]) -> Any:
        """What `process.next` returns after `run` for clients at these positions.

        For none of them, it is that of one client without any data.
        """
        if positions:
            data = self.source.place(positions, run.rounds + 1)
        else:
            parameter: Any = self.process.next.type_signature.parameter
            data = fl.place([[]], fl.CLIENTS, parameter[1].member)
        kept = entries_of(run.client_states or ())
        more = self.process.beside(positions, [kept[k] for k in positions if kept])
        with fl.framework.value_references():  # what clients keep stays with them
            return self.process.next(run.state, data, *more)

    def identity(self) -> dict[str, str]:
        """What a checkpoint must share with this run to be resumed by it."""
        process, options = self.process, self.options
        clients, model = process.initialize_client, process.model
        functions = model.predict, model.training, model.loss, model.gradient
        found = {
            "process": process.name,
            "settings": process.settings,
            "model": f"{model.name} {fingerprint([*filter(_is_own, functions)])}",
            "state": str(process.initialize.type_signature.result),
            "client state": str(clients.type_signature.result) if clients else "none",
            "data": self.source.digest(),
            "batch_size": str(self.batch_size),
            "shuffle_seed": str(options.shuffle_seed),
            "client_sampling": repr(self.client_sampling),
        }
        # An address in a repr differs from program to program.
        return {k: re.sub(r" at 0x[0-9a-f]+", "", text) for k, text in found.items()}


def _is_own(function: Any) -> bool:
    """Whether it is yours; models of the package are known by their names."""
    return not str(getattr(function, "__module__", "")).startswith("fedlearn_edu.")


def make_config(process: Any, data: Any, rounds: Any, **how: Any) -> RunConfig:
    """Checks what `run` was given.

    Raises:
        RunError: if a number or a function is not what is needed.
        RunError: if the data do not fit, or the budget.
        SamplingError: if more clients are invited than there are.
    """
    options = Options() if how["options"] is None else how["options"]
    _check(
        isinstance(process, LearningProcess), "process", "a LearningProcess", process
    )
    _check(isinstance(options, Options), "options", "Options(…)", options)
    _check_numbers(rounds, how["batch_size"], options)
    evaluators: Any = how["evaluate"] or {}
    _check_functions(evaluators, options)
    source = client_source(process, data, how["batch_size"], options.shuffle_seed)
    _check_clients(process, source.clients)
    config = RunConfig(
        process,
        source,
        int(rounds),
        how["batch_size"],
        how["client_sampling"],
        evaluators,
        options,
    )
    _check_sampling(config)
    who = process, config.client_sampling, source.clients
    spends = spending(options.budget, *who, config.rounds)
    return replace(config, spending=spends, cost=cost_of(*who))


def _check_numbers(rounds: Any, batch_size: Any, options: Options) -> None:
    for name, number, least, instead in (
        ("rounds", rounds, 0, None),
        ("batch_size", batch_size, 1, ", or None for all"),
        ("shuffle_seed", options.shuffle_seed, 0, ", or None"),
        ("evaluate_every", options.evaluate_every, 1, None),
    ):
        fits = is_whole_number(number, least) or (number is None and bool(instead))
        _check(fits, name, f"a whole number from {least} on{instead or ''}", number)


def _check_functions(evaluators: Any, options: Options) -> None:
    fits = isinstance(evaluators, Mapping) and all(map(_can_judge, evaluators.values()))
    expected = "{'test': function of weights}, such as evaluation.on(test_data)"
    _check(fits, "evaluate", expected, evaluators)
    called: Any = options.callbacks
    fits = isinstance(called, Sequence) and all(map(callable, called))
    _check(fits, "callbacks", "a list of functions of a Run", called)
    saved: Any = options.checkpoints
    fits = isinstance(saved, Checkpoints | None)
    _check(fits, "checkpoints", "Checkpoints(folder), or None", saved)
    start: Any = options.start
    if not isinstance(start, Run | None):
        _check(False, "start", "a Run", start, _cure_of_start(start))


def _can_judge(judge: Any) -> bool:
    """Whether it is a function of weights; an evaluation needs its data first."""
    return callable(judge) and not isinstance(judge, FederatedEvaluation)


def _check_clients(process: LearningProcess, clients: int) -> None:
    if process.num_clients not in (None, clients):
        raise RunError(
            f"{process.name} was built for another number of clients",
            expected=f"data of {counted(process.num_clients, 'client')}",
            found=counted(clients, "client"),
            where="data",
            do=f"build it with num_clients={clients}; who waits counts, too",
        )
    if process.poison is not None and process.poison.clients[-1] >= clients:
        raise RunError(
            "an attacker is none of the clients",
            expected=f"clients from 0 to {clients - 1}",
            found=f"client {process.poison.clients[-1]}",
            where="data",
            do="positions count from 0, in the order of the data",
        )


def _check_sampling(config: RunConfig) -> None:
    how = config.client_sampling
    if how is None:
        return
    _check(isinstance(how, ClientSampling), "client_sampling", "ClientSampling(…)", how)
    how.draw(1, config.num_examples)  # refuses more clients than there are
    if how.replace and config.process.keeps_client_states:
        raise RunError(
            "a client that is drawn twice in a round would have two states after it",
            expected=f"no replacement: clients of {config.process.name} keep states",
            found="replace=True",
            where="client_sampling",
        )


def _cure_of_start(start: Any) -> str:
    """What to do about a folder, a server's state, or the weights of a model."""
    if isinstance(start, str | PathLike):
        return "checkpoints=Checkpoints(folder) goes on from the newest in a folder"
    if hasattr(start, "weights"):
        return "start=learning.Run(start) begins with this state"
    if not all(hasattr(leaf, "dtype") for leaf in flatten(start).values()):
        return "learning.run(…) returns one"
    state = "dataclasses.replace(process.initialize(), weights=start)"
    return f"start=learning.Run({state}) begins with these weights"


def _check(
    fits: bool, name: str, expected: str, found: Any, do: str | None = None
) -> None:
    if not fits:
        lines = {"summary": f"a run needs another {name}", "expected": expected}
        raise bad_argument(found, name, RunError, do=do, **lines)
