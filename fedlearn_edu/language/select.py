# SPDX-License-Identifier: Apache-2.0
"""`federated_select`: each client asks for slices of a server value by key."""

from typing import Any

import numpy as np

from fedlearn_edu.language.application import apply, define, intrinsic
from fedlearn_edu.language.messages import intrinsics as messages
from fedlearn_edu.language.value import Value
from fedlearn_edu.types import FederatedType, TensorType, Type


def _check_keys(keys: Type, *_: Type) -> None:
    match keys:
        case FederatedType(TensorType(dtype, (size,))) if dtype == np.int32:
            is_vector = size is not None
        case _:
            is_vector = False
    if not is_vector:
        raise messages.no_keys(keys)


_SELECT = define(
    "federated_select",
    "(<{K}@CLIENTS,int32@SERVER,T@SERVER,(<T,int32> -> U)> -> {U*}@CLIENTS)",
    require=_check_keys,
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
