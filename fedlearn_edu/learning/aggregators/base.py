# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""What an aggregator is: two computations, from the clients' updates to one update.

An algorithm knows the type of its updates, the caller knows how to combine them. So a
builder takes an *aggregator factory*: any function from the type of an update to an
`Aggregator`. `mean()` returns one, and so does `clipping(mean(), norm=1.0)`.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.atomic import numbered
from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.former_names import answers
from fedlearn_edu.learning.arrays import leaf_computation, tf, zeros
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.pytree import flatten


class AggregatorOutput(NamedTuple):
    """What `Aggregator.next` returns."""

    state: Any
    update: Any
    metrics: Any


class AggregatorOutputWithClients(NamedTuple):
    """What `Aggregator.next` returns where clients keep something."""

    state: Any
    update: Any
    metrics: Any
    client_states: Any


@final
@dataclass(frozen=True)
class GaussianMechanism:
    """What an accountant has to know of the noise in a sum.

    Attributes:
        noise_multiplier: z, the noise's standard deviation in units of `clip`.
        clip: the largest L2 norm that one client adds to the sum; where it adapts, in
            the first round.
        expected_clients: what the noisy sum is divided by.
    """

    noise_multiplier: float
    clip: float
    expected_clients: float


@final
@dataclass(frozen=True, eq=False, repr=False)
class Aggregator:
    """Two computations that make one update of the clients' updates.

    `UPDATE` is a structure of float tensors. `STATE` is kept from round to round, the
    empty structure `<>` if there is nothing to keep. `METRICS` are scalars by name, and
    become columns of the history.

    Attributes:
        name: with all settings, `"clipping(mean(), norm=1.0)"`.
        initialize: `( -> STATE@SERVER)`.
        next: `(<STATE@SERVER,{UPDATE}@CLIENTS,{float32}@CLIENTS> ->
            <STATE@SERVER,UPDATE@SERVER,METRICS@SERVER>)`, where the number is the
            client's weight, 0 for a client without examples. Where clients keep
            something, it is a fourth argument and a fourth result,
            `{CLIENT_STATE}@CLIENTS`.
        mechanism: the Gaussian noise that is added, if any.
        sees_single_updates: whether the server needs each client's update, and not
            only their sum.
        initialize_client: `( -> CLIENT_STATE)`, what a client keeps before its first
            round; `None` where clients keep nothing.

    Source: `tff.templates.AggregationProcess`.
    """

    name: str
    initialize: fl.Computation
    next: fl.Computation
    mechanism: GaussianMechanism | None = None
    sees_single_updates: bool = False
    initialize_client: fl.Computation | None = None

    def __repr__(self) -> str:
        return f"Aggregator({self.name})"


Factory = Callable[[fl.Type], Aggregator]
"""From the type of an update to the aggregator of such updates."""


@final
@answers("aggregator", others=False)
@dataclass(frozen=True, repr=False)
class AggregatorFactory:
    """A function from the type of an update to an aggregator, with a name.

    Attributes:
        name: the call that makes it; two with the same name do the same.
        build: from the type to the aggregator.
    """

    name: str
    build: Factory = field(compare=False)

    @short_traceback
    def __call__(self, update: Any) -> Aggregator:
        """The aggregator of updates of this type, or what `fl.to_type` takes.

        Raises:
            ProcessError: if not all of it are floats.
        """
        type_ = fl.to_type(update)
        if type_.contains(_has_no_fractions):
            raise ProcessError(
                "an update is made of floats: what is made of many has fractions",
                expected="float16, float32 or float64, or structures of them",
                found=str(type_),
                where=self.name,
                do="cast it at the clients",
            )
        return self.build(type_)

    def __repr__(self) -> str:
        return self.name


def _has_no_fractions(type_: fl.Type) -> bool:
    return isinstance(type_, fl.TensorType) and type_.dtype.kind in "biuOSU"


def make(
    factory: Factory, update: fl.Type, combined: fl.Type | None = None
) -> Aggregator:
    """The aggregator of updates of this type, to one of the same, or of another type.

    Raises:
        ProcessError: if that is not what the factory returns, or of another type.
    """
    made = factory(update)
    if not isinstance(made, Aggregator):
        raise ProcessError(
            "an aggregator factory returns an Aggregator",
            expected="a function from the type of an update to an Aggregator",
            found=describe(made),
            where=describe(factory),
        )
    _check_type(made, update, combined or update)
    return made


def check_keeps_nothing(inner: Aggregator, where: str) -> None:
    """Raises `ProcessError` if clients keep something for this aggregator."""
    if inner.initialize_client is not None:
        raise ProcessError(
            "clients keep what they have not sent, and what they keep has no limit",
            expected="an inner aggregator whose clients keep nothing",
            found=inner.name,
            where=where,
            do="leave out error_feedback, or the limit",
        )


def _check_type(made: Aggregator, update: fl.Type, one: fl.Type) -> None:
    state: Any = made.initialize.type_signature.result
    found: Any = made.next.type_signature
    weights, combined = fl.type_at_clients(np.float32), fl.type_at_server(one)
    client = made.initialize_client
    kept = [fl.type_at_clients(client.type_signature.result)] if client else []
    takes: Any = fl.to_type([state, fl.type_at_clients(update), weights, *kept])
    metrics = found.result[2] if _has_parts(found.result, 3 + len(kept)) else None
    measured = metrics if _is_named(metrics) else fl.type_at_server(())
    output = AggregatorOutputWithClients if kept else AggregatorOutput
    returns: Any = fl.to_type(output(state, combined, measured, *kept))
    accepts = found.parameter is not None and found.parameter.is_assignable_from(takes)
    if accepts and returns.is_assignable_from(found.result):
        return
    parts = [state, combined, "METRICS@SERVER", *kept]
    cure = "METRICS are a structure: fl.federated_zip(OrderedDict(name=…))"
    raise ProcessError(
        "an aggregator's next takes and returns something else",
        expected=f"({takes} -> <{','.join(map(str, parts))}>)",
        found=str(found),
        where=made.name,
        do=None if metrics is None or _is_named(metrics) else cure,
    )


def _has_parts(result: Any, count: int) -> bool:
    return isinstance(result, fl.types.StructType) and len(result) == count


def _is_named(metrics: Any) -> bool:
    placed = isinstance(metrics, fl.types.FederatedType)
    return placed and isinstance(metrics.member, fl.types.StructType)


# ------------------------------------------------------------------ parts of a body


Body = Callable[[Callable[..., Any]], fl.Computation]
"""A decorator: from a function of federated values to a computation."""


def aggregation(
    initialize: fl.Computation, update: fl.Type, *client_state: fl.Type
) -> Body:
    """The decorator of an aggregator's `next`: `(state, updates, weights) -> output`.

    The output is an `AggregatorOutput` of three values at the server. With the type of
    what clients keep, there is a fourth argument, and a fourth part of the output.
    """
    decorate: Body = fl.federated_computation(
        initialize.type_signature.result,
        fl.type_at_clients(update),
        fl.type_at_clients(np.float32),
        *map(fl.type_at_clients, client_state),
    )
    return decorate


def state_type(aggregator: Aggregator) -> Any:
    """`STATE`."""
    placed: Any = aggregator.initialize.type_signature.result
    return placed.member


def metrics_type(aggregator: Aggregator) -> Any:
    """`METRICS`."""
    output: Any = aggregator.next.type_signature.result
    return output[2].member


def at_each(function: Callable[..., Any], *values: Any) -> Any:
    """`federated_map` of a function of tensors, whose types are those of the values."""
    members = [value.type_signature.member for value in values]
    argument = values[0] if len(values) == 1 else list(values)
    return fl.federated_map(leaf_computation(function, *members), argument)


def join_metrics(first: Any, second: Any) -> Any:
    """Metrics at the server of two sources; a name that is taken gets a number."""

    def join(first: Any, second: Any) -> Any:
        joined = OrderedDict(flatten(first))
        for name, number in flatten(second).items():
            joined[next(n for n in numbered(name) if n not in joined)] = number
        return joined

    return at_each(join, first, second)


def zero(type_: fl.Type) -> fl.Computation:
    """`( -> T)`: zeros."""

    @leaf_computation
    def zero() -> Any:
        return tf.nest.map_structure(tf.zeros_like, zeros(type_))

    return zero


def at_server(state: fl.Computation) -> fl.Computation:
    """`( -> STATE@SERVER)`, from `( -> STATE)`."""

    @fl.federated_computation
    def initialize() -> Any:
        return fl.federated_eval(state, fl.SERVER)

    return initialize


def stateless() -> fl.Computation:
    """`( -> <>@SERVER)`: the `initialize` of an aggregator that keeps nothing."""

    @fl.federated_computation
    def initialize() -> Any:
        return nothing()

    return initialize


def nothing() -> Any:
    """`<>@SERVER` in a body: no state, or no metrics."""
    return fl.federated_value((), fl.SERVER)
