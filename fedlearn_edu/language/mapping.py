# SPDX-License-Identifier: Apache-2.0
"""`federated_map` and `federated_zip`: work at the participants, member by member.

Nothing moves here: the result stays where the arguments are.
"""

from typing import Any

from fedlearn_edu.language.application import apply, define, intrinsic
from fedlearn_edu.language.federated_computation import traced
from fedlearn_edu.language.implied import (
    argument,
    common_placement,
    zip_if_needed,
    zipped,
)
from fedlearn_edu.language.value import Value
from fedlearn_edu.types import SERVER, FederatedType

_MAP = define(
    "federated_map",
    "(<(T -> U),{T}@CLIENTS> -> {U}@CLIENTS)",
    "(<(T -> U),T@SERVER> -> U@SERVER)",
    "(<(T -> U),T@CLIENTS> -> U@CLIENTS)",
)
_AT_CLIENTS, _AT_SERVER = 0, 1


@intrinsic
def federated_map(fn: Any, arg: Any) -> Value:
    """Applies a computation to every member of a federated value, where it is.

    `(<(T -> U),{T}@CLIENTS> -> {U}@CLIENTS)`, and at the server
    `(<(T -> U),T@SERVER> -> U@SERVER)`. The result at CLIENTS is not all-equal, even if
    the argument is: `fn` may draw random numbers. A structure of federated values is
    zipped first.

    >>> import numpy as np
    >>> from fedlearn_edu import federated_computation, np_computation, type_at_clients
    >>> half = np_computation(lambda x: x / np.float32(2), np.float32)
    >>> @federated_computation(type_at_clients(np.float32))
    ... def halves(value):
    ...     return federated_map(half, value)
    >>> [float(x) for x in halves([1.0, 2.0])]
    [0.5, 1.0]

    Raises:
        TypeMismatchError: if `fn` does not take a member, or `arg` is not federated.

    Source: `tff.federated_map`.
    """
    value = zip_if_needed(argument(arg, "federated_map"))
    type_ = value.type_signature
    at_server = isinstance(type_, FederatedType) and type_.placement is SERVER
    variant = _AT_SERVER if at_server else _AT_CLIENTS
    return apply(_MAP, [fn, value], variant=variant)


@intrinsic
def federated_apply(fn: Any, arg: Any) -> Value:
    """`federated_map` under the name it once had at the server.

    `(<(T -> U),T@SERVER> -> U@SERVER)`. Source: `tff.federated_apply` up to 0.18.
    """
    return apply(_MAP, [fn, arg], variant=_AT_SERVER)


# Recorded as the map it is; an executor may be asked for it by its own name.
define("federated_apply", _MAP.signatures[_AT_SERVER], expand=federated_apply)


@intrinsic
def federated_zip(value: Any) -> Value:
    """Makes one federated structure of a structure of federated values.

    `(<{T}@CLIENTS,{U}@CLIENTS> -> {<T,U>}@CLIENTS)`, likewise at SERVER, for structures
    of any size, names and nesting. The result at CLIENTS is not all-equal.

    >>> import numpy as np
    >>> from fedlearn_edu import federated_computation, type_at_clients
    >>> T = type_at_clients(np.int32)
    >>> print(federated_computation(lambda a, b: federated_zip([a, b]), T, T))
    lambda: (<a={int32}@CLIENTS,b={int32}@CLIENTS> -> {<int32,int32>}@CLIENTS)

    Raises:
        TypeMismatchError: if a part is unplaced, or the parts are at several
        placements.

    Source: `tff.federated_zip`.
    """
    return zipped(argument(value, "federated_zip"))


# T is a structure of federated values; U is the same structure without the placements.
define(
    "federated_zip", "(T -> {U}@CLIENTS)", "(T -> U@SERVER)", require=common_placement
)


def map_members(fn: Any, value: Value, name: str) -> Value:
    """`federated_map` of Python code on Values; for expansions."""
    type_ = value.type_signature
    assert isinstance(type_, FederatedType)
    return federated_map(traced(fn, type_.member, name=name), value)
