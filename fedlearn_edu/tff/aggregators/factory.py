# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Factories of aggregations: sums, and means around them.

A factory makes an `AggregationProcess` for values of a type. A mean is a sum of what
clients send, divided by the sum of their weights: what a factory does to a sum, such as
to round or to mask it, a mean around it does, too.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.structure import leaves
from fedlearn_edu.tff.templates import (
    AggregationProcess,
    EstimationProcess,
    MeasuredProcessOutput,
)


class UnweightedAggregationFactory(ABC):
    """Makes an `AggregationProcess` for values of a type."""

    @abstractmethod
    def create(self, value_type: Any) -> AggregationProcess:
        """`next` is `(<STATE@SERVER,{VALUE}@CLIENTS> -> …)`."""


class WeightedAggregationFactory(ABC):
    """Makes an `AggregationProcess` for values of a type, with weights of a type."""

    @abstractmethod
    def create(self, value_type: Any, weight_type: Any) -> AggregationProcess:
        """`next` is `(<STATE@SERVER,{VALUE}@CLIENTS,{WEIGHT}@CLIENTS> -> …)`."""


def with_containers(type_: Any) -> Any:
    """The type, with a list or an `OrderedDict` where it says no container.

    So `tf.nest` knows what a body is given.
    """
    type_ = fl.to_type(type_)
    if not isinstance(type_, fl.StructType):
        return type_
    names, parts = type_.names(), [with_containers(part) for part in type_]
    container = type_.python_container
    if container is None:
        container = OrderedDict if names and all(names) else list
    return fl.StructWithPythonType(list(zip(names, parts, strict=True)), container)


def unchanging(estimate: Any, observed: Any) -> EstimationProcess:
    """A process that reports what `estimate()` is, whatever it observes at the clients.

    Args:
        estimate: a function of tensors, without arguments.
        observed: the type of what it is told.
    """
    made = fl.tf_computation(estimate)

    @fl.federated_computation
    def initialize() -> Any:
        return fl.federated_value((), fl.SERVER)

    @fl.federated_computation(fl.type_at_server(()), fl.type_at_clients(observed))
    def stay(state: Any, value: Any) -> Any:
        return state

    @fl.federated_computation(fl.type_at_server(()))
    def report(state: Any) -> Any:
        return fl.federated_eval(made, fl.SERVER)

    return EstimationProcess(initialize, stay, report)


def check_floats(type_: Any, what: str) -> None:
    """Refuses values that cannot be scaled.

    Raises:
        ProcessError: if they are not all floats.
    """
    if any(leaf.dtype.kind != "f" for leaf in leaves(type_)):
        raise ProcessError(
            f"{what} is of floats",
            expected="tensors of float32 or float64",
            found=str(type_),
            do="cast them before: tf.cast(x, tf.float32)",
        )


def with_weights(
    factory: Any, value_type: Any, weight_type: Any = np.float32
) -> AggregationProcess:
    """A process that is given weights in any case, as learning processes do."""
    if isinstance(factory, WeightedAggregationFactory):
        return factory.create(value_type, weight_type)
    made = factory.create(value_type)

    @fl.federated_computation(
        made.state_type, fl.type_at_clients(value_type), fl.type_at_clients(weight_type)
    )
    def leave_weights_out(state: Any, value: Any, weight: Any) -> Any:
        return made.next(state, value)

    return AggregationProcess(made.initialize, leave_weights_out)


@final
class SumFactory(UnweightedAggregationFactory):
    """The sum, which keeps and measures nothing."""

    def create(self, value_type: Any) -> AggregationProcess:
        """`({VALUE}@CLIENTS -> VALUE@SERVER)`, with `<>` for the state."""

        @fl.federated_computation
        def initialize() -> Any:
            return fl.federated_value((), fl.SERVER)

        @fl.federated_computation(fl.type_at_server(()), fl.type_at_clients(value_type))
        def add(state: Any, value: Any) -> Any:
            none = fl.federated_value((), fl.SERVER)
            return MeasuredProcessOutput(state, fl.federated_sum(value), none)

        return AggregationProcess(initialize, add)


@final
class MeanFactory(WeightedAggregationFactory):
    r"""$\sum_k w_k x_k / \sum_k w_k$.

    Args:
        value_sum_factory: of what clients send, their weighted values.
        weight_sum_factory: of the weights.
        no_nan_division: whether the mean is 0 if all weights are.

    >>> mean = MeanFactory().create(np.float32, np.float32)
    >>> mean.next(mean.initialize(), [1.0, 4.0], [1.0, 2.0]).result
    np.float32(3.0)
    """

    def __init__(
        self,
        value_sum_factory: Any = None,
        weight_sum_factory: Any = None,
        no_nan_division: bool = False,
    ) -> None:
        self._sums = (
            value_sum_factory or SumFactory(),
            weight_sum_factory or SumFactory(),
        )
        self._divide = _division(no_nan_division)

    def create(self, value_type: Any, weight_type: Any) -> AggregationProcess:
        """Its state and measurements are those of both sums."""
        value_type, weight_type = with_containers(value_type), fl.to_type(weight_type)
        check_floats(value_type, "a mean")
        values, weights = self._sums
        of_values, of_weights = values.create(value_type), weights.create(weight_type)
        scale = fl.tf_computation(_each(lambda x, w: x * w), value_type, weight_type)
        divide = fl.tf_computation(_each(self._divide), value_type, weight_type)

        @fl.federated_computation
        def initialize() -> Any:
            both = of_values.initialize(), of_weights.initialize()
            return fl.federated_zip(OrderedDict(zip(_WEIGHTED, both, strict=True)))

        @fl.federated_computation(
            initialize.type_signature.result,
            fl.type_at_clients(value_type),
            fl.type_at_clients(weight_type),
        )
        def average(state: Any, value: Any, weight: Any) -> Any:
            sent = fl.federated_map(scale, [value, weight])
            total = of_values.next(state[_WEIGHTED[0]], sent)
            whole = of_weights.next(state[_WEIGHTED[1]], weight)
            return _quotient(divide, total, whole, _WEIGHTED, "mean_weight")

        return AggregationProcess(initialize, average)


@final
class UnweightedMeanFactory(UnweightedAggregationFactory):
    r"""$\frac{1}{n} \sum_k x_k$.

    Args:
        value_sum_factory: of the values.
        count_sum_factory: of a 1 for each client.
    """

    def __init__(
        self, value_sum_factory: Any = None, count_sum_factory: Any = None
    ) -> None:
        self._sums = (
            value_sum_factory or SumFactory(),
            count_sum_factory or SumFactory(),
        )

    def create(self, value_type: Any) -> AggregationProcess:
        """Its state and measurements are those of both sums."""
        value_type, count_type = with_containers(value_type), fl.to_type(np.int32)
        check_floats(value_type, "a mean")
        values, counts = self._sums
        of_values, of_counts = values.create(value_type), counts.create(count_type)
        divide = fl.tf_computation(_each(_division(False)), value_type, count_type)

        @fl.federated_computation
        def initialize() -> Any:
            both = of_values.initialize(), of_counts.initialize()
            return fl.federated_zip(OrderedDict(zip(_COUNTED, both, strict=True)))

        @fl.federated_computation(
            initialize.type_signature.result, fl.type_at_clients(value_type)
        )
        def average(state: Any, value: Any) -> Any:
            one = fl.federated_value(np.int32(1), fl.CLIENTS)
            total = of_values.next(state[_COUNTED[0]], value)
            whole = of_counts.next(state[_COUNTED[1]], one)
            return _quotient(divide, total, whole, _COUNTED, "mean_count")

        return AggregationProcess(initialize, average)


_WEIGHTED = ("value_sum_process", "weight_sum_process")
_COUNTED = ("value_sum_process", "count_sum_process")


def _quotient(
    divide: Any, total: Any, whole: Any, names: tuple[str, str], of_whole: str
) -> MeasuredProcessOutput:
    states = OrderedDict(zip(names, (total.state, whole.state), strict=True))
    measured = OrderedDict(mean_value=total.measurements)
    measured[of_whole] = whole.measurements
    return MeasuredProcessOutput(
        fl.federated_zip(states),
        fl.federated_map(divide, [total.result, whole.result]),
        fl.federated_zip(measured),
    )


def _each(operation: Any) -> Any:
    """The operation on each tensor of a value, and a number in its data type."""

    def apply(value: Any, number: Any) -> Any:
        return tf.nest.map_structure(
            lambda x: operation(x, tf.cast(number, x.dtype)), value
        )

    return apply


def _division(no_nan: bool) -> Any:
    return tf.math.divide_no_nan if no_nan else lambda x, w: x / w
