# SPDX-License-Identifier: Apache-2.0
"""`compare`: several learning processes under one protocol.

What a process is told is the same for all: the clients, the batches and their order,
who takes part in which round. What it reached and what it sent is measured here, and
not by the process.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import fedlearn_edu as fl
from fedlearn_edu.errors import bad_argument, is_whole_number, short_traceback
from fedlearn_edu.learning.client_source import ClientSource, client_source
from fedlearn_edu.learning.comparison import (
    METRICS,
    Comparison,
    Entry,
    Protocol,
    is_share,
)
from fedlearn_edu.learning.config import Options
from fedlearn_edu.learning.errors import RunError
from fedlearn_edu.learning.evaluation import build_federated_evaluation
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.learning.training_loop import run
from fedlearn_edu.signals import add_place
from fedlearn_edu.simulation import ClientData, ClientSampling

Entrant = LearningProcess | Callable[[int], LearningProcess]
"""A process, or a function of the seed that builds one."""

_EDGES = ("server → clients", "clients → server")


@short_traceback
def compare(  # noqa: PLR0913 (a line of the protocol each)
    processes: Mapping[str, Entrant],
    data: Any,
    test: Any,
    rounds: int,
    *,
    max_bytes: int | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    metric: str = "accuracy_per_example",
    batch_size: int | None = None,
    client_sampling: ClientSampling | None = None,
) -> Comparison:
    """Runs each process once under each seed, and measures all alike.

    A seed decides the order in which clients read their examples, who is sampled, and,
    if `data` or a process is a function of the seed, that too. Under one seed all
    processes meet the same data and the same cohorts in the same order, so that they
    are compared in pairs. Bytes are counted on a recording of two rounds with all
    clients, and times the clients that finish a round.

    >>> import fedlearn_edu as fl
    >>> model = fl.learning.models.softmax_regression(features=2, classes=2)
    >>> batch = {"x": [[0.0, 1.0], [1.0, 0.0]], "y": [0, 1]}
    >>> clients = [[batch], [batch]]
    >>> slow, fast = (fl.learning.build_fed_avg(model, rate) for rate in (0.1, 1.0))
    >>> compare(
    ...     {"slow": slow, "fast": fast},
    ...     clients,
    ...     clients,
    ...     2,
    ...     seeds=[0],
    ...     metric="loss_per_example",
    ... )
    Comparison: test loss_per_example of 2 processes; seeds 0; at most 2 rounds
    process    mean  lowest  highest  rounds  MB down  MB up
    slow      0.645   0.645    0.645       2     0.00   0.00
    fast     0.3477  0.3477   0.3477       2     0.00   0.00

    Args:
        processes: By name: what a builder returned, or a function of the seed that
            returns it, where initial weights should differ.
        data: As for `run`; or a function of the seed that returns such data.
        test: What the metric is measured on, a `ClientData` or a list of batches for
            each client.
        rounds: How many, for each process.
        max_bytes: Ends each run before the round that would exceed it, up and down
            together: "the same bytes" in place of "the same rounds".
        seeds: One run for each; three at least, before a difference is believed.
        metric: One of the averages of an `Evaluation`.
        batch_size: Examples per batch of a `ClientData`; `None` for all in one.
        client_sampling: Who takes part; its seed is replaced by that of the run.

    Raises:
        RunError: if there is nothing to compare, no seed, or no such metric; if a
            process is none, or no round of it fits into `max_bytes`.
        DivergenceError: if a process ends in NaN; it says which one.
    """
    _check(processes, seeds, rounds, max_bytes, metric)
    seeds = tuple(map(int, seeds))
    built = {
        name: _built(name, each, seeds, metric) for name, each in processes.items()
    }
    dealt = {seed: data(seed) if callable(data) else data for seed in seeds}
    setting = _Setting(dealt, rounds, max_bytes, metric, batch_size, client_sampling)
    entries = {
        name: _entry(name, of_seeds, setting, test) for name, of_seeds in built.items()
    }
    some = next(iter(built.values()))[seeds[0]]
    return Comparison(entries, setting.protocol(some, test))


@final
@dataclass(frozen=True, eq=False)
class _Setting:
    """What all processes meet."""

    data: Mapping[int, Any]
    rounds: int
    max_bytes: int | None
    metric: str
    batch_size: int | None
    sampling: ClientSampling | None

    def shuffle_seed(self, seed: int) -> int | None:
        """The run's own; a list of batches is read in its order under all seeds."""
        return seed if isinstance(self.data[seed], ClientData) else None

    def sampling_of(self, seed: int) -> ClientSampling | None:
        """Who takes part in the rounds of the run of this seed."""
        return None if self.sampling is None else replace(self.sampling, seed=seed)

    def source(self, process: LearningProcess, seed: int) -> ClientSource:
        """The clients of a seed."""
        return client_source(
            process, self.data[seed], self.batch_size, self.shuffle_seed(seed)
        )

    def run(
        self, process: LearningProcess, seed: int, rounds: int, *, test: Any
    ) -> Run:
        """The run of one process under one seed, measured after each round."""
        return run(
            process,
            self.data[seed],
            rounds,
            batch_size=self.batch_size,
            client_sampling=self.sampling_of(seed),
            evaluate={"test": test},
            options=self.options(seed),
        )

    def options(self, seed: int, *callbacks: Callable[[Run], Any]) -> Options:
        """Of a run under this seed."""
        shuffle = self.shuffle_seed(seed)
        return Options(shuffle_seed=shuffle, callbacks=callbacks, progress=False)

    def protocol(self, process: LearningProcess, test: Any) -> Protocol:
        """In words and digests."""
        digests = "".join(self.source(process, seed).digest() for seed in self.data)
        return Protocol(
            self.metric,
            tuple(self.data),
            self.rounds,
            self.max_bytes,
            self.batch_size,
            str(self.sampling_of(next(iter(self.data)))),
            hashlib.sha256(digests.encode()).hexdigest(),
            client_source(process, test, None, None).digest(),
        )


def _built(
    name: str, entrant: Entrant, seeds: Sequence[int], metric: str
) -> dict[int, LearningProcess]:
    """The process of each seed, the same object where it is no function of it."""
    given: Any = entrant
    makes = callable(given) and not isinstance(given, LearningProcess)
    place = f"processes[{name!r}]"
    try:
        found = {seed: given(seed) if makes else given for seed in seeds}
    except Exception as error:
        add_place(error, f"{place}, as a function of the seed")
        raise
    for process in found.values():
        if not isinstance(process, LearningProcess):
            lines = {"summary": "only learning processes can be compared"}
            expected = "a LearningProcess, or a function of the seed that builds one"
            raise bad_argument(process, place, RunError, expected=expected, **lines)
        if process.model.classes is None and is_share(metric):
            raise RunError(
                "a model that predicts a number has no accuracy",
                expected="a metric with loss in its name",
                found=metric,
                where=place,
                do='say metric="loss_per_example"',
            )
    return found


def _entry(
    name: str, built: Mapping[int, LearningProcess], setting: _Setting, test: Any
) -> Entry:
    """All runs of one process."""
    histories, sizes, measured = [], (0, 0), None
    for seed, process in built.items():
        try:
            if process is not measured:
                sizes, measured = _bytes_per_client(process, setting, seed), process
                judge = build_federated_evaluation(process.model).on(test)
            rounds = _affordable(process, setting, seed, sum(sizes))
            learned = setting.run(process, seed, rounds, test=judge)
        except Exception as error:
            add_place(error, f"processes[{name!r}], seed {seed}")
            raise
        rows = (_with_bytes(row, sizes) for row in learned.history)
        histories.append(History.of(rows))
    return Entry(name, process.settings, *sizes, tuple(histories))


def _with_bytes(row: Mapping[str, float], sizes: tuple[int, int]) -> dict[str, float]:
    down, up = (row["clients"] * size for size in sizes)
    return {**row, "bytes_down": down, "bytes_up": up}


def _bytes_per_client(
    process: LearningProcess, setting: _Setting, seed: int
) -> tuple[int, int]:
    """What crosses to a client and from it in a round, on a recording of two rounds.

    Types fix sizes; where one leaves them open, rounds may differ, and that is refused.
    """
    ends: list[int] = []
    data, size = setting.data[seed], setting.batch_size
    with fl.record(fuse=True) as tape:
        options = setting.options(seed, lambda _: ends.append(len(tape.events)))
        run(process, data, 2, batch_size=size, options=options)
    clients = setting.source(process, seed).clients
    one, two = (fl.framework.bytes_by_edge(tape.events[:end]) for end in ends)
    sizes = [one[edge] / clients for edge in _EDGES]
    if [two[edge] for edge in _EDGES] != [2 * one[edge] for edge in _EDGES]:
        raise RunError(
            "bytes can be counted only where each round sends equally many",
            expected=f"{sizes} bytes per client, as in round 1",
            found=f"{[two[edge] / clients - one[edge] / clients for edge in _EDGES]}",
            do="give what clients send a type with a fixed size, without ?",
        )
    down, up = map(round, sizes)
    return down, up


def _affordable(
    process: LearningProcess, setting: _Setting, seed: int, bytes_per_client: int
) -> int:
    """How many rounds a run may take before one would exceed the limit of bytes."""
    if setting.max_bytes is None:
        return setting.rounds
    source, sampling = setting.source(process, seed), setting.sampling_of(seed)
    spent, sizes = 0, source.num_examples()
    for done in range(setting.rounds):
        finished = (
            len(sampling.draw(done + 1, sizes).finished) if sampling else len(sizes)
        )
        spent += finished * bytes_per_client
        if spent > setting.max_bytes:
            if not done:
                raise RunError(
                    "not even the first round fits into the limit of bytes",
                    expected=f"max_bytes >= {spent:,}",
                    found=f"{setting.max_bytes:,}",
                    where="max_bytes",
                )
            return done
    return setting.rounds


def _check(
    processes: Any, seeds: Any, rounds: Any, max_bytes: Any, metric: Any
) -> None:
    is_named = isinstance(processes, Mapping) and all(
        isinstance(name, str) for name in processes
    )
    _expect(
        is_named and len(processes), "processes", "a process by each name", processes
    )
    is_list = isinstance(seeds, Sequence) and len(set(seeds)) == len(seeds) > 0
    fits = is_list and all(is_whole_number(seed, 0) for seed in seeds)
    _expect(fits, "seeds", "different whole numbers from 0 on, at least one", seeds)
    _expect(is_whole_number(rounds, 1), "rounds", "a whole number from 1 on", rounds)
    fits = max_bytes is None or is_whole_number(max_bytes, 1)
    _expect(fits, "max_bytes", "a number of bytes, or None", max_bytes)
    _expect(metric in METRICS, "metric", ", ".join(METRICS), metric)


def _expect(fits: Any, name: str, expected: str, found: Any) -> None:
    if not fits:
        lines = {"summary": f"a comparison needs other {name}", "expected": expected}
        raise bad_argument(found, name, RunError, **lines)
