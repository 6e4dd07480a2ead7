# SPDX-License-Identifier: Apache-2.0
"""`place`: how Python data come to the participants.

What a list is, here and elsewhere:

    place(list, CLIENTS)       one entry for each client; a list in it is a sequence
    place(list, SERVER)        a sequence, T*
    sequence_sum(list), …      a sequence, T* (`eager.py`)
    a parameter with a type    what its type says (`types/containers.py`)
    anywhere else              a structure, <T,T> (`types/type_join.py`)
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from fedlearn_edu.errors import (
    ContextError,
    TypeMismatchError,
    describe,
    short_traceback,
)
from fedlearn_edu.language.context_stack import current_tracing_context
from fedlearn_edu.language.federated_value import FederatedValue
from fedlearn_edu.types import CLIENTS, FederatedType, Placement, to_type
from fedlearn_edu.types.containers import Placed
from fedlearn_edu.types.dtypes import is_dataset
from fedlearn_edu.types.sequences import check_unshared
from fedlearn_edu.types.type_join import infer_member, infer_members, infer_sequence


@short_traceback
def place(values: Any, placement: Placement, member_type: Any = None) -> FederatedValue:
    """Puts one value per client at CLIENTS, or one value at SERVER.

    The data are checked and converted now, and never again. Without a `member_type` it
    is inferred: a list is a sequence (`federated_value` takes it for a structure), a
    tuple or dict a structure, and sizes that differ from client to client become `?`.

    >>> from fedlearn_edu import CLIENTS, federated_mean
    >>> salaries = place([1.0, 2.0, 4.5], CLIENTS)
    >>> print(salaries.type_signature)
    {float32}@CLIENTS
    >>> federated_mean(salaries)
    <placed float32@SERVER>
      server  2.5

    Args:
        values: at CLIENTS a list with one entry per client, at SERVER the value.
        placement: CLIENTS or SERVER.
        member_type: what denotes the type of one entry, for example `np.float32`.

    Raises:
        TypeMismatchError: if an entry does not have the type, or none can be inferred.
        ExhaustedError: if one iterator stands for several entries.
    """
    check_placement(placement)
    if current_tracing_context() is not None:
        raise ContextError(
            "place was used in the body of a computation",
            expected="data that are placed outside of any body",
            found="a body, which gets its data with each call",
            do="make the data a parameter; federated_value(x, CLIENTS) is a constant",
        )
    declared = to_type(member_type)
    if isinstance(declared, FederatedType):
        if declared.placement is not placement:
            raise TypeMismatchError(
                "the type speaks of another placement than the call",
                expected=f"a type of members, or of a value at {placement}",
                found=declared,
                where="place",
                do=f"pass the type of one entry: {declared.member}",
            )
        declared = declared.member
    if placement is not CLIENTS:
        (value,) = _read([values])
        type_ = infer_member(_elements(value)) if declared is None else declared
        return FederatedValue(value, FederatedType(type_, placement, True))
    entries = _entries(values)
    if declared is None and isinstance(entries, np.ndarray):
        declared = infer_sequence(entries).element
    elif declared is None:
        declared = infer_members(list(map(_elements, entries)))
    return FederatedValue(entries, FederatedType(declared, placement, False))


def check_placement(placement: Any) -> None:
    """Refuses anything but CLIENTS and SERVER."""
    if not isinstance(placement, Placement):
        raise TypeMismatchError(
            "this is not a placement",
            expected="CLIENTS or SERVER",
            found=describe(placement),
            where="the second argument",
            do="write fl.CLIENTS or fl.SERVER, without quotes",
        )


def _entries(values: Any) -> Any:
    if hasattr(values, "__array__") and not isinstance(values, Placed):
        values = np.asarray(values)
    if isinstance(values, np.ndarray) and values.ndim:
        return values
    if isinstance(values, list | tuple | range | Iterator):
        return _read(values)
    raise _no_entries(values)


def _no_entries(values: object) -> TypeMismatchError:
    if isinstance(values, Placed):
        do = "this is placed already: use it as it is"
    elif isinstance(values, Mapping):
        do = "clients have an order and no names: place(list(values.values()), …)"
    elif is_dataset(values):
        do = "put the datasets into a list: [dataset, …], one for each client"
    else:
        do = (
            "put what each client holds into a list; one value for all of them is "
            "federated_value(x, CLIENTS)"
        )
    return TypeMismatchError(
        "place puts one entry at each client",
        expected="a list with one entry per client",
        found=describe(values),
        where="place",
        do=do,
    )


def _read(values: Iterable[Any]) -> list[Any]:
    """The same values, with a list for what can be read only once."""
    values = list(values)
    check_unshared(values, "the value")
    return [list(v) if isinstance(v, Iterator) else v for v in values]


def _elements(value: Any) -> Any:
    """What tells the type: a list for a generator function."""
    return list(value()) if inspect.isgeneratorfunction(value) else value
