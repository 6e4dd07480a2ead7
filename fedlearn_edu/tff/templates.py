# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Processes: pairs of computations, `initialize` and `next`.

    initialize   ( -> STATE@SERVER)
    next         (<STATE@SERVER,…> -> …)

Source: `tff.templates`.
"""

from typing import Any, NamedTuple

import fedlearn_edu as fl
from fedlearn_edu.errors import TypeMismatchError, describe
from fedlearn_edu.former_names import answering


class MeasuredProcessOutput(NamedTuple):
    """What the `next` of a measured process returns.

    Attributes:
        state: for the next call.
        result: what the process is for.
        measurements: numbers to look at.
    """

    state: Any
    result: Any
    measurements: Any


class IterativeProcess:
    """Where to begin, and one step.

    Args:
        initialize_fn: `( -> STATE)`.
        next_fn: `(<STATE,…> -> …)`, or `(STATE -> …)`.

    Raises:
        TypeMismatchError: if they are no computations, or `next_fn` does not take what
            `initialize_fn` returns.

    >>> import numpy as np
    >>> zero = fl.np_computation(lambda: np.int32(0))
    >>> count = fl.np_computation(lambda state: state + np.int32(1), np.int32)
    >>> process = IterativeProcess(zero, count)
    >>> process.next(process.next(process.initialize()))
    np.int32(2)
    """

    def __init__(self, initialize_fn: Any, next_fn: Any) -> None:
        for name, given in (("initialize_fn", initialize_fn), ("next_fn", next_fn)):
            if not isinstance(given, fl.Computation):
                raise TypeMismatchError(
                    "a process is made of computations",
                    expected=f"a computation as {name}",
                    found=describe(given),
                    do="decorate it: @tff.federated_computation(…)",
                )
        self.initialize, self.next = initialize_fn, next_fn
        takes: Any = next_fn.type_signature.parameter
        if takes is None:
            raise TypeMismatchError(
                "the next of a process takes the state",
                expected=str(self.state_type),
                found=str(next_fn.type_signature),
            )
        if isinstance(takes, fl.StructType) and not takes.is_assignable_from(
            self.state_type
        ):
            takes = takes[0]
        takes.check_assignable_from(self.state_type, where="what initialize returns")

    @property
    def state_type(self) -> Any:
        """The type of the state."""
        return self.initialize.type_signature.result


class MeasuredProcess(IterativeProcess):
    """A process, the `next` of which returns a `MeasuredProcessOutput`.

    Raises:
        TypeMismatchError: if it returns something else.
    """

    def __init__(self, initialize_fn: Any, next_fn: Any) -> None:
        super().__init__(initialize_fn, next_fn)
        returns: Any = next_fn.type_signature.result
        names = returns.names() if isinstance(returns, fl.StructType) else ()
        if names != MeasuredProcessOutput._fields:
            raise TypeMismatchError(
                "the next of a measured process returns three things",
                expected="tff.templates.MeasuredProcessOutput",
                found=str(returns),
                do="return MeasuredProcessOutput(state, result, measurements)",
            )


class AggregationProcess(MeasuredProcess):
    """From values at the clients to one at the server: `next(state, value, …)`."""


class EstimationProcess(IterativeProcess):
    """A process that can `report` what it estimates, `(STATE -> ESTIMATE)`."""

    def __init__(self, initialize_fn: Any, next_fn: Any, report_fn: Any) -> None:
        super().__init__(initialize_fn, next_fn)
        self.report = report_fn

    def map(self, fn: Any) -> "EstimationProcess":
        """The same process, with `fn` of the estimate for a report."""
        report = self.report

        @fl.federated_computation(self.state_type)
        def mapped(state: Any) -> Any:
            return fn(report(state))

        return EstimationProcess(self.initialize, self.next, mapped)


__all__ = [
    "AggregationProcess",
    "EstimationProcess",
    "IterativeProcess",
    "MeasuredProcess",
    "MeasuredProcessOutput",
]


# As a package has one: then `from … import` asks for a submodule, and is answered.
__path__: list[str] = []

__getattr__ = answering("fedlearn_edu.tff.templates", __all__)
