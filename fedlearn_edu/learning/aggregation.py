# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The aggregator's place in a round: what it makes, keeps and measures.

Without an aggregator a round takes the weighted mean, which keeps and measures nothing.
"""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.former_names import answers
from fedlearn_edu.learning.aggregators import (
    Aggregator,
    AggregatorOutput,
    GaussianMechanism,
    mean,
)
from fedlearn_edu.learning.aggregators.base import (
    Factory,
    at_server,
    join_metrics,
    make,
    metrics_type,
    state_type,
)
from fedlearn_edu.learning.aggregators.checks import check_factory
from fedlearn_edu.learning.arrays import leaf_computation, tf
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.history import COLUMNS, COSTS
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.pytree import flatten, rebuild

ROUND_METRICS = ("loss_per_example", "examples", "clients", "update_norm")
"""What every averaging round reports of itself."""

_TAKEN = frozenset({*ROUND_METRICS, *COLUMNS, *COSTS, "epsilon"})


@final
@answers("state")
@dataclass(frozen=True, eq=False)
class AggregatingState:
    """What the server keeps from round to round if its aggregator keeps something.

    Attributes:
        weights: of the model, in the structure of `Model.weights_type`.
        optimizer: the moments of the server's optimizer.
        round_number: `int32`, rounds finished: 0 before the first.
        aggregator: the state of the aggregator.
    """

    weights: Any
    optimizer: Any
    round_number: Any
    aggregator: Any


@final
@dataclass(frozen=True, eq=False)
class Aggregation:
    """How a round makes one update of the clients' updates.

    Attributes:
        aggregator: `None` for the mean.
    """

    aggregator: Aggregator | None = None

    @staticmethod
    def of(factory: Factory | None, model: Model) -> "Aggregation":
        """The aggregation of this model's updates.

        Raises:
            ProcessError: if it is no factory of aggregators, or measures something by
                a name that the round itself uses.
        """
        if factory is None or factory == mean():
            return Aggregation()
        check_factory(factory, "aggregator")
        aggregator = make(factory, model.weights_type)
        _check_names(aggregator)
        return Aggregation(aggregator)

    @property
    def in_words(self) -> str:
        """What a process adds to its settings: nothing for the mean."""
        return f", aggregator {self.aggregator.name}" if self.aggregator else ""

    @property
    def mechanism(self) -> GaussianMechanism | None:
        """The noise that is added, if any."""
        return None if self.aggregator is None else self.aggregator.mechanism

    @property
    def initialize_client(self) -> fl.Computation | None:
        """`( -> CLIENT_STATE)`; `None` where clients keep nothing."""
        return None if self.aggregator is None else self.aggregator.initialize_client

    @property
    def keeps_state(self) -> bool:
        """Whether the aggregator keeps something."""
        made = self.aggregator
        return made is not None and state_type(made) != fl.to_type(())

    def initialize(self, begin: fl.Computation) -> fl.Computation:
        """`( -> STATE@SERVER)`, from `( -> STATE)` of all but the aggregator's."""
        aggregator = self.aggregator
        if aggregator is None or not self.keeps_state:
            return at_server(begin)

        @leaf_computation(begin.type_signature.result, state_type(aggregator))
        def extend(state: Any, kept: Any) -> Any:
            return AggregatingState(
                state.weights, state.optimizer, state.round_number, kept
            )

        @fl.federated_computation
        def initialize() -> Any:
            state = fl.federated_eval(begin, fl.SERVER)
            return fl.federated_map(extend, [state, aggregator.initialize()])

        return initialize

    def combine(
        self, state: Any, updates: Any, weights: Any, client_states: Any = None
    ) -> Any:
        """What `Aggregator.next` makes of them, in the body of a round."""
        aggregator = self.aggregator
        if aggregator is None:
            return AggregatorOutput((), fl.federated_mean(updates, weights), ())
        kept = state.aggregator if self.keeps_state else aggregator.initialize()
        memories = () if self.initialize_client is None else (client_states,)
        return aggregator.next(kept, updates, weights, *memories)

    def step_size(self, examples: Any) -> Any:
        """How many examples a step counts, in the body of a round; 0 is no step.

        Noise is added in any case: a round without a step would say that nobody came.
        """
        if self.mechanism is None:
            return examples

        @leaf_computation(np.int32)
        def at_least_one(examples: Any) -> Any:
            return tf.maximum(examples, 1)

        return fl.federated_map(at_least_one, examples)

    def finish_state(self, state: Any, output: AggregatorOutput, size: Any) -> Any:
        """The server's state with the aggregator's, new if there was a step."""
        if not self.keeps_state:
            return state
        member = state.type_signature.member

        @leaf_computation(member, member.aggregator, np.int32)
        def accept(state: Any, new: Any, size: Any) -> Any:
            before, after = flatten(state.aggregator), flatten(new)
            chosen = {
                path: tf.where(size > 0, after[path], old)
                for path, old in before.items()
            }
            return replace(state, aggregator=rebuild(new, chosen))

        return fl.federated_map(accept, [state, output.state, size])

    def finish_metrics(self, metrics: Any, output: AggregatorOutput) -> Any:
        """The round's metrics, and after them the aggregator's."""
        if self.aggregator is None or metrics_type(self.aggregator) == fl.to_type(()):
            return metrics
        return join_metrics(metrics, output.metrics)


THE_MEAN = Aggregation()
"""What a round does without an aggregator."""


def _check_names(aggregator: Aggregator) -> None:
    for name in metrics_type(aggregator).names():
        if name in _TAKEN:
            raise ProcessError(
                "a metric of an aggregator needs a name of its own",
                expected=f"none of {', '.join(sorted(_TAKEN))}",
                found=name,
                where=f"the metrics of {aggregator.name}",
            )
