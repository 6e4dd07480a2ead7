# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Learning processes and data so small that a round takes milliseconds.

`mean_process` needs no TensorFlow: clients move a vector towards their examples, batch
by batch, so that the order of batches, the clients of a round and what clients keep all
leave traces in the state.
"""

from collections import OrderedDict
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fedlearn_edu as fl
from fedlearn_edu.learning.aggregators import GaussianMechanism
from fedlearn_edu.learning.averaging import ServerState
from fedlearn_edu.learning.config import Options
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.learning.pytree import flatten
from fedlearn_edu.learning.rounds import Output, OutputWithClients
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.learning.training_loop import run
from fedlearn_edu.simulation import ClientData, ClientSampling

FEATURES = 3
BATCH = fl.to_type(OrderedDict(x=(np.float32, [None, FEATURES]), y=(np.int32, [None])))
WEIGHTS = fl.to_type(OrderedDict(mean=(np.float32, [FEATURES])))


def small_arrays(
    examples: int = 60, seed: int = 7
) -> tuple[NDArray[Any], NDArray[Any]]:
    chance = np.random.default_rng(seed)
    x = chance.standard_normal([examples, FEATURES]).astype(np.float32)
    return x, chance.integers(0, 2, examples).astype(np.int32)


def small_data(clients: int = 6, examples: int = 60, seed: int = 7) -> ClientData:
    x, y = small_arrays(examples, seed)
    ends = np.sort(
        np.random.default_rng(1).permutation(examples - 1)[: clients - 1] + 1
    )
    return ClientData(x, y, np.split(np.arange(examples), ends))


def small_lists(clients: int = 4, bad: int | None = None) -> list[list[Any]]:
    """Two batches for each client; one client's data may hold NaN."""
    lists: list[list[Any]] = [
        client.batches(batch_size=5)[:2] for client in small_data(clients)
    ]
    if bad is not None:
        lists[bad][0]["x"] = np.full_like(lists[bad][0]["x"], np.nan)
    return lists


@cache
def small_model() -> Model:
    return Model("mean", lambda seed: None, lambda w, x: None, lambda o, y: None, 3, 2)


@fl.np_computation
def _begin() -> Any:
    weights = OrderedDict(mean=np.zeros(FEATURES, np.float32))
    return ServerState(weights, (np.ones(2, np.float32),), np.int32(0))


_STATE = _begin.type_signature.result


@fl.np_computation(WEIGHTS, fl.SequenceType(BATCH), np.float32)
def _learn(weights: Any, batches: Any, rate: Any) -> Any:
    mean, loss, examples = weights["mean"], np.float32(0), 0
    for batch in batches:
        away = batch["x"] - mean
        loss = loss + np.float32((away**2).sum())
        examples += len(batch["y"])
        mean = mean + rate * away.mean(axis=0, dtype=np.float32)
    change = np.asarray(mean - weights["mean"], np.float32)
    return OrderedDict(
        change=change, loss=np.float32(loss), examples=np.int32(examples)
    )


@fl.np_computation(_STATE, (np.float32, [FEATURES]))
def _step(state: Any, change: Any) -> Any:
    weights = OrderedDict(mean=state.weights["mean"] + change)
    moments = (np.float32(0.5) * state.optimizer[0] + change[:2],)
    return ServerState(weights, moments, np.int32(state.round_number + 1))


@fl.np_computation(np.float32, np.int32, np.int32, (np.float32, [FEATURES]))
def _report(loss: Any, examples: Any, clients: Any, change: Any) -> Any:
    return OrderedDict(
        loss_per_example=np.float32(loss / np.float32(max(examples, 1))),
        examples=np.int32(examples),
        clients=np.int32(clients),
        update_norm=np.float32(np.sqrt((change**2).sum())),
    )


@fl.np_computation(np.int32)
def _one(examples: Any) -> Any:
    return np.int32(1)


@fl.np_computation
def _no_rounds() -> Any:
    return OrderedDict(rounds=np.int32(0), drift=np.zeros(FEATURES, np.float32))


@fl.np_computation(_no_rounds.type_signature.result, (np.float32, [FEATURES]))
def _remember(kept: Any, change: Any) -> Any:
    return OrderedDict(
        rounds=np.int32(kept["rounds"] + 1),
        drift=np.float32(0.5) * kept["drift"] + change,
    )


@fl.np_computation((np.float32, [FEATURES]), (np.float32, [FEATURES]))
def _less(change: Any, drift: Any) -> Any:
    return change - np.float32(0.1) * drift


def mean_process(rate: float = 0.1, *, keeps: bool = False) -> LearningProcess:
    """`keeps`: whether clients keep something, as in SCAFFOLD."""

    @fl.federated_computation
    def initialize() -> Any:
        return fl.federated_eval(_begin, fl.SERVER)

    def work_on(state: Any, data: Any) -> Any:
        speed = fl.federated_value(np.float32(rate), fl.CLIENTS)
        weights = fl.federated_broadcast(state.weights)
        return fl.federated_map(_learn, [weights, data, speed])

    def finish(state: Any, work: Any, change: Any) -> Any:
        sums = [work.loss, work.examples, fl.federated_map(_one, work.examples)]
        sums = [*map(fl.federated_sum, sums), change]
        return fl.federated_map(_step, [state, change]), fl.federated_map(_report, sums)

    server, data = fl.type_at_server(_STATE), fl.type_at_clients(fl.SequenceType(BATCH))

    @fl.federated_computation(server, data)
    def plain(state: Any, data: Any) -> Any:
        work = work_on(state, data)
        return Output(*finish(state, work, fl.federated_mean(work.change)))

    @fl.federated_computation(
        server, data, fl.type_at_clients(_no_rounds.type_signature.result)
    )
    def keeping(state: Any, data: Any, kept: Any) -> Any:
        work = work_on(state, data)
        less = fl.federated_map(_less, [work.change, kept.drift])
        state, metrics = finish(state, work, fl.federated_mean(less))
        kept = fl.federated_map(_remember, [kept, less])
        return OutputWithClients(state, metrics, kept)

    return LearningProcess(
        name="mean",
        settings=f"rate {rate}",
        model=small_model(),
        initialize=initialize,
        next=keeping if keeps else plain,
        initialize_client=_no_rounds if keeps else None,
    )


NOISY = replace(mean_process(), mechanism=GaussianMechanism(2.0, 1.0, 3.0))
POISSON = ClientSampling(probability=0.5, seed=1)


def spend(
    budget: Any,
    rounds: int = 6,
    how: Any = POISSON,
    process: LearningProcess = NOISY,
    **options: Any,
) -> Run:
    """A run with a budget, on a sampling of six clients."""
    asked = Options(budget=budget, **options)
    data = small_data(6)
    return run(process, data, rounds, batch_size=5, client_sampling=how, options=asked)


def same(left: Any, right: Any) -> bool:
    """Whether all bits of two trees are the same."""
    ours, theirs = flatten(left), flatten(right)
    return ours.keys() == theirs.keys() and all(
        np.asarray(ours[path]).tobytes() == np.asarray(theirs[path]).tobytes()
        and np.asarray(ours[path]).dtype == np.asarray(theirs[path]).dtype
        for path in ours
    )


def numbers(made: Run) -> list[dict[str, float]]:
    """The history without what a clock says."""
    return [
        {name: value for name, value in row.items() if name != "seconds"}
        for row in made.history
    ]
