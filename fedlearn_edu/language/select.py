# SPDX-License-Identifier: Apache-2.0
"""`federated_select`: each client asks for slices of a server value by key."""

from typing import Any

import numpy as np

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.language.application import record, to_federated, to_function
from fedlearn_edu.language.eager import intrinsic
from fedlearn_edu.language.intrinsic import define
from fedlearn_edu.language.value import Value, to_value
from fedlearn_edu.types import (
    AbstractType,
    FederatedType,
    FunctionType,
    SequenceType,
    StructType,
    TensorType,
    Type,
    type_at_clients,
    type_at_server,
)

_URI = "federated_select"
_INT32 = TensorType(np.int32)

define(_URI, "(<{K}@CLIENTS,int32@SERVER,T@SERVER,(<T,int32> -> U)> -> {U*}@CLIENTS)")


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
    any_type = AbstractType("T")
    keys = to_federated(client_keys, _URI, type_at_clients(any_type))
    limit = to_federated(max_key, _URI, type_at_server(any_type))
    source = to_federated(server_val, _URI, type_at_server(any_type))
    _check("client_keys", _is_key_vector(_member(keys)), "{int32[N]}@CLIENTS", keys)
    _check("max_key", _member(limit) == _INT32, "int32@SERVER", limit)
    pair = StructType([(None, _member(source)), (None, _INT32)])
    fn = to_function(select_fn, _URI, pair)
    assert isinstance(fn.type_signature, FunctionType)
    parameter = fn.type_signature.parameter
    fits = parameter is not None and parameter.is_assignable_from(pair)
    _check("select_fn", fits, f"({pair} -> …)", fn)
    result = type_at_clients(SequenceType(fn.type_signature.result))
    return record(_URI, result, [keys, limit, source, fn])


def _member(value: Value) -> Type:
    assert isinstance(value.type_signature, FederatedType)
    return value.type_signature.member


def _is_key_vector(type_: Type) -> bool:
    if not isinstance(type_, TensorType) or type_.dtype != np.int32:
        return False
    shape = type_.shape
    return isinstance(shape, tuple) and len(shape) == 1 and shape[0] is not None


def _check(role: str, fits: bool, expected: str, value: Value) -> None:
    if not fits:
        raise TypeMismatchError(
            f"the argument {role!r} of federated_select has the wrong type",
            expected=expected,
            found=str(to_value(value).type_signature),
            where=str(value),
            do="declare it so, or convert it; place(values, placement, type) does both",
        )
