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
from fedlearn_edu.learning.aggregators.base import nothing, stateless
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

    @fl.federated_computation(fl.type_at_server(()), fl.type_at_clients(observed))
    def stay(state: Any, value: Any) -> Any:
        return state

    @fl.federated_computation(fl.type_at_server(()))
    def report(state: Any) -> Any:
        return fl.federated_eval(made, fl.SERVER)

    return EstimationProcess(stateless(), stay, report)


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

        @fl.federated_computation(fl.type_at_server(()), fl.type_at_clients(value_type))
        def add(state: Any, value: Any) -> Any:
            return MeasuredProcessOutput(state, fl.federated_sum(value), nothing())

        return AggregationProcess(stateless(), add)


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
        names = ("value_sum_process", "weight_sum_process", "mean_weight")
        sums = self._sums, names, self._divide
        initialize, quotient = _quotient(value_type, weight_type, *sums)
        scale = fl.tf_computation(_each(lambda x, w: x * w), value_type, weight_type)

        @fl.federated_computation(
            initialize.type_signature.result,
            fl.type_at_clients(value_type),
            fl.type_at_clients(weight_type),
        )
        def average(state: Any, value: Any, weight: Any) -> Any:
            return quotient(state, fl.federated_map(scale, [value, weight]), weight)

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
        names = ("value_sum_process", "count_sum_process", "mean_count")
        sums = self._sums, names, _division(False)
        initialize, quotient = _quotient(value_type, count_type, *sums)

        @fl.federated_computation(
            initialize.type_signature.result, fl.type_at_clients(value_type)
        )
        def average(state: Any, value: Any) -> Any:
            return quotient(state, value, fl.federated_value(np.int32(1), fl.CLIENTS))

        return AggregationProcess(initialize, average)


def _quotient(
    value_type: Any, whole_type: Any, sums: Any, names: tuple[str, str, str], over: Any
) -> Any:
    """The state of two sums, and in a body their quotient, `over`."""
    check_floats(value_type, "a mean")
    of_values, of_whole = sums[0].create(value_type), sums[1].create(whole_type)
    divide = fl.tf_computation(_each(over), value_type, whole_type)

    def both(of_value: Any, of_whole: Any, name: str, other: str) -> Any:
        return fl.federated_zip(OrderedDict([(name, of_value), (other, of_whole)]))

    @fl.federated_computation
    def initialize() -> Any:
        return both(of_values.initialize(), of_whole.initialize(), *names[:2])

    def quotient(state: Any, value: Any, whole: Any) -> Any:
        total = of_values.next(state[names[0]], value)
        count = of_whole.next(state[names[1]], whole)
        return MeasuredProcessOutput(
            both(total.state, count.state, *names[:2]),
            fl.federated_map(divide, [total.result, count.result]),
            both(total.measurements, count.measurements, "mean_value", names[2]),
        )

    return initialize, quotient


def _each(operation: Any) -> Any:
    """The operation on each tensor of a value, and a number in its data type."""

    def apply(value: Any, number: Any) -> Any:
        return tf.nest.map_structure(
            lambda x: operation(x, tf.cast(number, x.dtype)), value
        )

    return apply


def _division(no_nan: bool) -> Any:
    return tf.math.divide_no_nan if no_nan else lambda x, w: x / w
