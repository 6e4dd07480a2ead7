# SPDX-License-Identifier: Apache-2.0
"""One process on one federation, round by round; it can be stopped and resumed.

learner.train(30)        the rounds up to the 30th, one by one
learner.snapshots[7]     the weights after round 7, and their evaluation
learner.run              a `Run`: what `fl.learning.run` would have returned
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu import learning
from fedlearn_edu.learning import Evaluation, LearningProcess, Run
from fedlearn_edu.learning.config import RunConfig, make_config
from fedlearn_edu.learning.training_loop import first, next_round
from fedlearn_edu.simulation import ClientData, ClientSampling
from fedlearn_edu.viz.curves import Curve
from fedlearn_edu.viz.explorers.frames import Frame, Frames

BATCH_SIZE = 20


@final
@dataclass(frozen=True, eq=False)
class Snapshot:
    """The server's model at the end of a round, and how it does.

    Attributes:
        weights: of the model.
        evaluation: of these weights on the test data.
    """

    weights: Any
    evaluation: Evaluation


@final
class Learner:
    """A process, its data, and all rounds so far.

    Attributes:
        name: what it is called in pictures.
        run: the rounds so far; `None` before the first.
        snapshots: one per round, the state before training first.
        diverged: the round in which weights became NaN or infinite; `None` without one.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], LearningProcess],
        data: ClientData,
        test: ClientData,
        batch_size: int = BATCH_SIZE,
        client_sampling: ClientSampling | None = None,
    ) -> None:
        """Keeps what is needed to start.

        Args:
            name: What it is called.
            make: Builds the process; called when training starts.
            data: What the clients learn from.
            test: What every round is judged on, client by client.
            batch_size: Examples in a batch.
            client_sampling: Who takes part in a round; `None` for everybody.
        """
        self.name, self._make, self._batch_size = name, make, batch_size
        self._data, self._test, self._client_sampling = data, test, client_sampling
        self.run: Run | None = None
        self.snapshots: list[Snapshot] = []
        self.diverged: int | None = None
        self._process: LearningProcess | None = None
        self._evaluate: Callable[[Any], Evaluation] | None = None
        self._latest: Evaluation | None = None

    @property
    def rounds(self) -> int:
        """How many rounds are done, each with its snapshot."""
        return max(0, len(self.snapshots) - 1)

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """`[rounds+1]`: shares 0..1 of all test examples; empty before the start."""
        return np.array([s.evaluation.accuracy_per_example for s in self.snapshots])

    @property
    def spread(self) -> NDArray[np.float64]:
        """`[rounds+1,2]`: the lowest and the highest client's accuracy."""
        return np.array([_extremes(snapshot.evaluation) for snapshot in self.snapshots])

    def curve(
        self,
        rounds: int,
        name: str = "",
        color: str | None = None,
        *,
        has_band: bool = False,
    ) -> Curve:
        """The accuracy up to this round, as a curve of this name or its own."""
        held, band = self.accuracy[: rounds + 1], self.spread if has_band else None
        return Curve(name or self.name, held, self.diverged, color=color, band=band)

    def train(self, rounds: int) -> Iterator[str]:
        """Learns up to this round, or until it is closed; says how far it is.

        Round 0 evaluates the model it begins with.

        Weights that are no longer finite end it, too: then `diverged` has the round,
        and the rounds before stay.

        Args:
            rounds: The last round.
        """
        if self.snapshots and (self.rounds >= rounds or self.diverged):
            return
        config = self._config((yield from self._begin()), rounds)
        run = replace(self.run or first(config), stopped=None)
        while run.rounds < rounds:
            try:
                run = next_round(config, run)
            except learning.DivergenceError as error:
                self.diverged = error.run.rounds + 1
                self.run = replace(error.run, stopped=error.summary)
                return
            self._remember(run)
            share = self.snapshots[-1].evaluation.accuracy_per_example
            state = f"round {self.rounds} of {rounds}, accuracy {share:.1%}"
            try:
                yield f"{self.name}: {state}"
            except GeneratorExit:
                self.run = replace(run, stopped="by hand")
                raise

    def _begin(self) -> Generator[str, None, LearningProcess]:
        """The process; its initial model is evaluated as round 0."""
        if self._process is None:
            yield f"{self.name}: getting ready"
            self._process = self._make()
            evaluation = learning.build_federated_evaluation(self._process.model)
            placed = self._test.place(1000, batch_type=self._process.model.batch_type)
            self._evaluate = lambda weights: evaluation(weights, placed)
            run = first(self._config(self._process, 0))
            self._latest = self._evaluate(run.weights)
            self._remember(run)
            yield f"{self.name}: not trained yet"
        return self._process

    def _config(self, process: LearningProcess, rounds: int) -> RunConfig:
        return make_config(
            process,
            self._data,
            rounds,
            batch_size=self._batch_size,
            client_sampling=self._client_sampling,
            # The name in the history, as in `test.accuracy_per_example`.
            evaluate={"test": self._metrics},
            options=None,
        )

    def _metrics(self, weights: Any) -> dict[str, float]:
        """All averages, and the range of the clients' accuracies."""
        assert self._evaluate is not None
        self._latest = latest = self._evaluate(weights)
        lowest, highest = _extremes(latest)
        spread = {"accuracy_lowest": lowest, "accuracy_highest": highest}
        return {**latest.metrics, **spread}

    def _remember(self, run: Run) -> None:
        if run.rounds == len(self.snapshots) and self._latest is not None:
            self.snapshots.append(Snapshot(run.weights, self._latest))
        # Pictures look from another thread: a run is there once its snapshot is.
        self.run = run


def train_all(
    learners: Iterable[Learner], rounds: int, draw: Callable[[str], Frame]
) -> Frames:
    """Trains one after the other up to this round, drawn once it has begun to learn."""
    for learner in learners:
        for so_far in learner.train(rounds):
            yield draw(so_far) if learner.snapshots else None


def _extremes(evaluation: Evaluation) -> tuple[float, float]:
    """The lowest and the highest accuracy of a client."""
    each = evaluation.client_accuracies
    return float(np.nanmin(each)), float(np.nanmax(each))
