# SPDX-License-Identifier: Apache-2.0
"""How values come to a placement: as constants, from the server, or made there.

From the server comes the whole of a value, or by key what each client asks for.
"""

from typing import Any

import numpy as np

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.language.application import apply, define, intrinsic
from fedlearn_edu.language.implied import argument, check_plain, placed
from fedlearn_edu.language.place import check_placement
from fedlearn_edu.language.value import Value
from fedlearn_edu.types import CLIENTS, FederatedType, Placement, TensorType, Type

_BROADCAST = define("federated_broadcast", "(T@SERVER -> T@CLIENTS)")
_EVAL = define("federated_eval", "(( -> T) -> {T}@CLIENTS)", "(( -> T) -> T@SERVER)")
define("federated_value", "(T -> T@CLIENTS)", "(T -> T@SERVER)", require=check_plain)


@intrinsic
def federated_broadcast(value: Any) -> Value:
    """Sends the server's value to every client.

    `(T@SERVER -> T@CLIENTS)`. The result is all-equal. A structure of server values is
    zipped first. Costs one T per client, downwards.

    >>> import numpy as np
    >>> from fedlearn_edu import federated_computation, type_at_server
    >>> print(federated_computation(federated_broadcast, type_at_server(np.float32)))
    federated_broadcast: (float32@SERVER -> float32@CLIENTS)

    Raises:
        TypeMismatchError: if the value is not at the server.

    Source: `tff.federated_broadcast`.
    """
    return apply(_BROADCAST, [value])


@intrinsic
def federated_value(value: Any, placement: Placement) -> Value:
    """Puts the same value at every participant of a placement.

    `(T -> T@CLIENTS)` or `(T -> T@SERVER)`. A list is a structure here, not one entry
    per client; `place` takes it for a sequence. The value is computed once; see
    `federated_eval` for once per client.

    Raises:
        TypeMismatchError: if the value is federated already, or a function.

    Source: `tff.federated_value`.
    """
    check_placement(placement)
    return placed(argument(value, "federated_value"), placement)


@intrinsic
def federated_eval(fn: Any, placement: Placement) -> Value:
    """Runs a computation without parameter once at every participant.

    `(( -> T) -> {T}@CLIENTS)` or `(( -> T) -> T@SERVER)`. Random results differ from
    client to client, whereas `federated_value(fn(), CLIENTS)` draws once and copies.

    Raises:
        TypeMismatchError: if `fn` is not a computation without parameter.

    Source: `tff.federated_eval`.
    """
    check_placement(placement)
    return apply(_EVAL, [fn], variant=0 if placement is CLIENTS else 1)


@intrinsic
def federated_compute(fn: Any, placement: Placement) -> Value:
    """`federated_eval` under the name some texts use."""
    # NB(TFF): the ancestor never had this name.
    return federated_eval(fn, placement)


_DECLARE_IT = "check the order; or declare or convert it: place(…, type) does both"


def _check_keys(keys: Type, *_: Type) -> None:
    match keys:
        case FederatedType(TensorType(dtype, (size,))) if dtype == np.int32:
            is_vector = size is not None
        case _:
            is_vector = False
    if not is_vector:
        raise TypeMismatchError(
            "the argument 'client_keys' of federated_select has the wrong type",
            expected="{int32[N]}@CLIENTS",
            found=keys,
            do=_DECLARE_IT,
        )


_SELECT = define(
    "federated_select",
    "(<{K}@CLIENTS,int32@SERVER,T@SERVER,(<T,int32> -> U)> -> {U*}@CLIENTS)",
    require=_check_keys,
    do=_DECLARE_IT,
)


@intrinsic
def federated_select(
    client_keys: Any, max_key: Any, server_val: Any, select_fn: Any
) -> Value:
    """Sends each client the slices of a server value it asks for.

    `(<{int32[N]}@CLIENTS,int32@SERVER,T@SERVER,(<T,int32> -> U)> -> {U*}@CLIENTS)`

    `select_fn` runs at the server once per client and key; the client receives one
    element per key, in the order of its keys. `max_key` bounds the keys (exclusive) and
    is not checked: a key out of range is whatever `select_fn` makes of it.

    Raises:
        TypeMismatchError: if keys are not `int32[N]` with known N, or types do not fit.

    Source: `tff.federated_select`; Charles et al., Federated Select, 2022.
    """
    return apply(_SELECT, [client_keys, max_key, server_val, select_fn])
