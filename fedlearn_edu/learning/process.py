# SPDX-License-Identifier: Apache-2.0
"""A learning process: two computations, `initialize` and `next`.

The builders beside this file (`fed_sgd`, `fed_avg`, …) make processes; `run` calls them
round after round. Both computations are programs of the language: print them to read
them, call them to take one step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import fedlearn_edu as fl
from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.former_names import answers
from fedlearn_edu.learning.aggregators import GaussianMechanism
from fedlearn_edu.learning.arrays import HAS_TENSORFLOW
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.models import LinearRegression, Model
from fedlearn_edu.learning.rounds import Poison, Round


@final
@answers("process")
@dataclass(frozen=True, eq=False)
class LearningProcess:
    """Two computations that learn together.

    Attributes:
        name: of the algorithm, `"FedAvg"`.
        settings: what it was built with, in words; a checkpoint holds them.
        model: what is trained.
        initialize: `( -> STATE@SERVER)`.
        next: `(<STATE@SERVER,{BATCH*}@CLIENTS> -> <STATE@SERVER,METRICS@SERVER>)`, one
            round. Where clients keep something, it is a third argument and a third
            result, `{CLIENT_STATE}@CLIENTS`.
        initialize_client: `( -> CLIENT_STATE)`, what a client keeps before its first
            round; `None` where clients keep nothing.
        num_clients: how many clients it was built for, those that wait included; `None`
            where that makes no difference.
        mechanism: the Gaussian noise that its aggregator adds, if any.
        round: the parts of `next`, to be put together with attackers in them; `None`
            where it was made otherwise. With attackers, `next` has a third argument,
            `{int32}@CLIENTS`, see `Poison.numbers`.

    Metrics of a round are about what clients saw *while* they trained: each batch by
    the weights it met. `evaluation` judges one model on all of it.

    Source: `tff.templates.IterativeProcess`, `tff.learning.templates.LearningProcess`.
    """

    name: str
    settings: str
    model: Model
    initialize: fl.Computation
    next: fl.Computation
    initialize_client: fl.Computation | None = None
    num_clients: int | None = None
    mechanism: GaussianMechanism | None = None
    round: Round | None = None

    @property
    def keeps_client_states(self) -> bool:
        """Whether `next` takes and returns what clients keep."""
        return self.initialize_client is not None

    @property
    def poison(self) -> Poison | None:
        """Who attacks, and how, if there are attackers."""
        return self.round.poison if self.round else None

    @short_traceback
    def __call__(self, data: Any) -> Any:
        """One round from the beginning: the weights after it.

        `( {BATCH*}@CLIENTS -> WEIGHTS)`; `run` takes more rounds.
        """
        more = self.beside(range(len(data)))
        state, *_ = self.next(self.initialize(), data, *more)
        return state.weights

    def beside(
        self, clients: Sequence[int], states: Sequence[Any] | None = None
    ) -> list[Any]:
        """What `next` takes beside state and data: who attacks, and what clients keep.

        Args:
            clients: The positions of those in the round; of none, it is the one client
                without data that stands for them.
            states: What these keep; `None` before their first round.
        """
        found: list[Any] = []
        if self.poison is not None:
            found.append(self.poison.numbers(clients) or [0])
        if self.initialize_client is not None:
            if states is None:
                states = [self.initialize_client()] * len(clients)
            found.append(states)
        return found

    def __str__(self) -> str:
        return (
            f"{self.name} of a {self.model.name} ({self.settings})\n"
            f"  initialize: {self.initialize.type_signature}\n"
            f"  next: {self.next.type_signature}"
        )

    def __repr__(self) -> str:
        return f"LearningProcess({self.name!r}, {self.model!r}, {self.settings!r})"


def check_model(model: object) -> None:
    """Raises `ProcessError` unless this is a `Model`, and says how to come by one."""
    if not isinstance(model, Model):
        cure = "fl.learning.models has some, and makes one of a model of Keras"
        if hasattr(model, "trainable_variables"):
            cure = "fl.learning.models.from_keras_model(…) makes one of it"
        elif isinstance(model, LinearRegression):
            cure = "fl.learning.models.linear_regression(feature_dim) is the pure one"
        elif callable(model):
            cure = "call the function that makes it: softmax_regression()"
        raise ProcessError(
            "a learning process trains a Model, made of pure functions",
            expected="a Model of fl.learning.models",
            found=describe(model),
            where="model",
            do=cure,
        )
    if model.gradient is None and not HAS_TENSORFLOW:
        raise ProcessError(
            "this model has no gradient of its own: TensorFlow would find it",
            expected="softmax_regression() or linear_regression(), which have one",
            found=model.name,
            where="model",
            do="take one of these, or learn where TensorFlow is installed",
        )
