# SPDX-License-Identifier: Apache-2.0
"""References to values that stay with the clients."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.types.base import Type

wanted: ContextVar[bool] = ContextVar("references_are_wanted", default=False)


@final
@dataclass(frozen=True, eq=False)
class ValueReference:
    """A reference to what one client holds, in place of an entry of an argument.

    Attributes:
        name: of the value, where it is kept.
        type_signature: the type of the value.
        home: where the value is kept.
        bring: fetches the values of several references, in plain form.

    Source: `tff.program.MaterializableValueReference`.
    """

    name: str
    type_signature: Type
    home: Any
    bring: Callable[[Sequence["ValueReference"]], list[Any]]

    def __repr__(self) -> str:
        return f"<reference to {self.type_signature}>"


@contextmanager
def value_references() -> Iterator[None]:
    """What clients hold after a call stays with them: the call returns references.

    In place of each entry of a result `{T}@CLIENTS`, a `ValueReference` is returned by
    calls in this block that run on a cluster. It can be an entry of an argument as its
    value could, and `materialize` brings the value here. A context in this process has
    the values at hand, and returns them.

    >>> import numpy as np
    >>> import fedlearn_edu as fl
    >>> each = fl.FederatedType(np.int32, fl.CLIENTS)
    >>> @fl.federated_computation(each)
    ... def square(x):
    ...     return fl.federated_map(fl.np_computation(lambda x: x * x, np.int32), x)
    >>> with fl.framework.value_references():
    ...     squares = square(square([1, 2]))
    >>> [int(x) for x in fl.framework.materialize(squares)]
    [1, 16]

    Source: the contexts of `tff.program`, whose calls return references.
    """
    token = wanted.set(True)
    try:
        yield
    finally:
        wanted.reset(token)


def held(entry: Any) -> Any:
    """The plain form of an entry that may be a reference."""
    return entry.bring([entry])[0] if isinstance(entry, ValueReference) else entry
