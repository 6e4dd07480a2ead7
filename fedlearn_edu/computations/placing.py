# SPDX-License-Identifier: Apache-2.0
"""`place`: data come to the participants, outside of any program.

Users hand in Python data; intrinsics and computations receive the `FederatedValue`.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from fedlearn_edu.computations.federated_value import FederatedValue
from fedlearn_edu.errors import TypeMismatchError, describe, short_traceback
from fedlearn_edu.types import (
    CLIENTS,
    FederatedType,
    Placement,
    Type,
    infer_member,
    to_type,
)
from fedlearn_edu.types.joining import infer_common


@short_traceback
def place(values: Any, placement: Placement, member_type: Any = None) -> FederatedValue:
    """Puts one value per client at CLIENTS, or one value at SERVER.

    The data are checked and converted now, and never again. Without a `member_type` it
    is inferred: a list is a sequence, a tuple or dict a structure, and sizes that
    differ from client to client become `?`.

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
    """
    check_placement(placement)
    declared = to_type(member_type)
    if isinstance(declared, FederatedType):
        declared = declared.member
    if placement is not CLIENTS:
        type_ = declared or infer_member(values)
        return FederatedValue(values, FederatedType(_known(type_), placement, True))
    entries = _entries(values)
    type_ = declared or infer_common(entries, infer_member, "client")
    return FederatedValue(entries, FederatedType(type_, CLIENTS, False))


def check_placement(placement: Any) -> None:
    """Refuses whatever is not CLIENTS or SERVER."""
    if not isinstance(placement, Placement):
        raise TypeMismatchError(
            "this is not a placement",
            expected="CLIENTS or SERVER",
            found=describe(placement),
            where="the second argument",
            do="write fl.CLIENTS or fl.SERVER, without quotes",
        )


def _known(type_: Type | None) -> Type:
    assert type_ is not None
    return type_


def _entries(values: Any) -> list[Any]:
    if isinstance(values, list | tuple | range | Iterator):
        return list(values)
    if isinstance(values, np.ndarray) and values.ndim:
        return list(values)
    raise TypeMismatchError(
        "place puts one entry at each client",
        expected="a list with one entry per client",
        found=describe(values),
        where="place",
        do="put what each client holds into a list; one value for all of them is "
        "federated_value(x, CLIENTS)",
    )
