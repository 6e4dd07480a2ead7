# SPDX-License-Identifier: Apache-2.0
"""Secure sums: the server learns the sum, and what each client sends looks random.

Simulated honestly: every two neighboring clients share a random mask that one adds and
the other subtracts, so all masks cancel in the sum, exactly, over the integers. The
primitive `federated_pairwise_masks` gives each client the total of its masks; the rest
is written in the language below. A real deployment adds what a simulation cannot show:
key agreement between clients, secret shares to survive drop-outs, and a server that may
not be trusted to route honestly (Bonawitz et al., CCS 2017; neighbors instead of all
pairs: Bell et al., CCS 2020).
"""

from typing import Any

import numpy as np

from fedlearn_edu.errors import InputRangeError, TypeMismatchError, describe
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.operations import cast, operation
from fedlearn_edu.language.aggregation import federated_sum
from fedlearn_edu.language.application import apply, record, to_federated
from fedlearn_edu.language.arithmetic import (
    call,
    cast_scalar,
    dtypes_in,
    leafwise,
    zeros,
)
from fedlearn_edu.language.eager import intrinsic
from fedlearn_edu.language.intrinsic import define
from fedlearn_edu.language.mapping import federated_zip, map_members
from fedlearn_edu.language.value import Value, fieldwise, structure_like, to_value
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    AbstractType,
    FederatedType,
    StructType,
    TensorType,
    Type,
    check_sum_compatible,
    is_structure_of_integers,
    type_at_clients,
)
from fedlearn_edu.types.python_fields import fields_of, rebuild
from fedlearn_edu.types.relations import by_element

MAX_BITWIDTH = 62

define("federated_pairwise_masks", "(V -> {V}@CLIENTS)")


@intrinsic
def federated_secure_sum(value: Any, max_input: Any) -> Value:
    """Adds up integers between 0 and `max_input` without showing any of them.

    `(<{V}@CLIENTS,M> -> V@SERVER)`: `V` made of integers, `M` one integer for all
    leaves or one per leaf. Client i sends `v_i + mask_i` (wrapping around); the masks
    sum to zero.

    Raises:
        TypeMismatchError: if the values are not integers.
        InputRangeError: if `max_input` is negative, or a client's value out of range.

    Source: `tff.federated_secure_sum`.
    """
    value, limit = _operands("federated_secure_sum", value, max_input)
    return apply(_SECURE_SUM, [value, _checked(limit, "check_limit")])


@intrinsic
def federated_secure_sum_bitwidth(value: Any, bitwidth: Any) -> Value:
    """`federated_secure_sum` of values below `2**bitwidth`; at most 62 bits.

    `(<{V}@CLIENTS,B> -> V@SERVER)`. Source: `tff.federated_secure_sum_bitwidth`.
    """
    return federated_secure_sum(value, _limits_of_bits(bitwidth))


@intrinsic
def federated_secure_modular_sum(value: Any, modulus: Any) -> Value:
    """Adds up integers modulo `modulus` without showing any of them.

    `(<{V}@CLIENTS,M> -> V@SERVER)`: `(Σ v_i) mod m`, in `[0, m)`. Sums are formed in 64
    bits: m times the number of clients must stay below 2**63.

    Raises:
        TypeMismatchError: if the values are not integers.
        InputRangeError: if the modulus is below 1, or too large for the values' dtype.

    Source: `tff.federated_secure_modular_sum`.
    """
    value, bound = _operands("federated_secure_modular_sum", value, modulus)
    member = value.type_signature.member
    return apply(_MODULAR_SUM, [value, _checked(bound, "check_modulus", member)])


def _secure_sum(value: Value, limit: Value) -> Value:
    checked = map_members(
        lambda v: _with_parameter("at_most", v, limit), value, name="check_range"
    )
    return federated_sum(_masked(checked))


def _modular_sum(value: Value, modulus: Value) -> Value:
    assert isinstance(value.type_signature, FederatedType)
    member = value.type_signature.member

    def residue(v: Value) -> Value:
        # The sum of residues may need more bits than a residue has.
        return _in_dtype(_with_parameter("modulo", v, modulus), _like(member, np.int64))

    def reduced(total: Value) -> Value:
        return _in_dtype(_with_parameter("modulo", total, modulus), member)

    total = federated_sum(_masked(map_members(residue, value, name="residue")))
    return map_members(reduced, total, name="modulo")


def _like(type_: Type, dtype: Any) -> Type:
    """The same structure with every leaf in another dtype."""
    if isinstance(type_, StructType):
        fields = [(name, _like(element, dtype)) for name, element in type_.items()]
        return StructType(fields, type_.python_container)
    assert isinstance(type_, TensorType)
    return TensorType(dtype, type_.shape)


def _in_dtype(value: Value, wanted: Type) -> Value:
    """The value with its leaves cast to those of `wanted`."""
    if isinstance(wanted, StructType):
        fields = (_in_dtype(value[i], element) for i, element in enumerate(wanted))
        return structure_like(wanted, fields)
    found = value.type_signature
    assert isinstance(found, TensorType)
    assert isinstance(wanted, TensorType)
    return value if found == wanted else call(cast(found, wanted), value)


def _masked(value: Value) -> Value:
    assert isinstance(value.type_signature, FederatedType)
    member = value.type_signature.member
    prototype = zeros(member)
    masks = record("federated_pairwise_masks", type_at_clients(member), [prototype])
    return map_members(
        lambda pair: leafwise("add", pair[0], pair[1]),
        federated_zip([value, masks]),
        name="mask",
    )


def _with_parameter(name: str, value: Value, parameter: Value) -> Value:
    type_ = value.type_signature
    if isinstance(type_, StructType):
        return fieldwise(lambda a, b: _with_parameter(name, a, b), value, parameter)
    assert isinstance(type_, TensorType)
    if name == "at_most":  # the limit may lie outside the values' own dtype: no cast
        check = operation(name, (type_, parameter.type_signature), type_)
        return call(check, value, parameter)
    return leafwise(name, value, cast_scalar(parameter, type_))


_SECURE_SUM = define(
    "federated_secure_sum", "(<{V}@CLIENTS,M> -> V@SERVER)", expand=_secure_sum
)
_MODULAR_SUM = define(
    "federated_secure_modular_sum", "(<{V}@CLIENTS,M> -> V@SERVER)", expand=_modular_sum
)


def _checked(parameter: Value, check: str, member: Type | None = None) -> Value:
    """The parameter, checked at once if it is a constant, else when it is known."""
    type_ = parameter.type_signature
    if isinstance(type_, StructType):
        members = member or [None] * len(type_)
        parts = zip(parameter, members, strict=True)  # type: ignore[arg-type]
        return structure_like(type_, [_checked(p, check, m) for p, m in parts])
    assert isinstance(type_, TensorType)
    # A modulus has to fit into every value that it meets, and sums have 64 bits.
    met = {type_.dtype} if member is None else {np.dtype(np.int64), *dtypes_in(member)}
    narrowest = min(met, key=lambda dtype: np.iinfo(dtype).max)
    leaf = operation(check, (type_,), type_, narrowest.name)
    if not isinstance(parameter.node, ir.Literal):
        return call(leaf, parameter)
    leaf.code(parameter.node.value)
    return parameter


def _limits_of_bits(bits: Any) -> Any:
    """The greatest numbers of so many bits, in the same structure."""
    fields = fields_of(bits)
    if fields is not None:
        pairs = [(name, _limits_of_bits(part)) for name, part in fields.pairs]
        return rebuild(fields.container, Struct(pairs))
    is_integer = isinstance(bits, int | np.integer) and not isinstance(bits, bool)
    if is_integer and 1 <= bits <= MAX_BITWIDTH:
        return 2 ** int(bits) - 1
    raise (InputRangeError if is_integer else TypeMismatchError)(
        "a bitwidth is a Python integer in a range",
        expected=f"1 to {MAX_BITWIDTH}, for example 8, or a structure of such",
        found=describe(bits),
        where="federated_secure_sum_bitwidth",
        do="pass the number of bits, not the greatest value: 8 bits hold 0 to 255",
    )


def _operands(uri: str, value: Any, parameter: Any) -> tuple[Value, Value]:
    values = to_federated(value, uri, type_at_clients(AbstractType("V")))
    assert isinstance(values.type_signature, FederatedType)
    member = values.type_signature.member
    if not is_structure_of_integers(member):
        raise TypeMismatchError(
            f"{uri} adds integers",
            expected="integers, or structures of them",
            found=str(member),
            where=str(values),
            do=by_element(member)
            or "quantize the values to integers with federated_map first",
        )
    check_sum_compatible(member)
    second = to_value(parameter)
    if not _matches(member, second.type_signature):
        raise TypeMismatchError(
            f"the second argument of {uri} does not match the values",
            expected=f"one integer, or one for each leaf of {member}",
            found=second.type_signature,
            where=str(second),
            do="pass one integer without a placement for all of them, "
            "or a structure of integers with the fields of the values",
        )
    return values, second


def _matches(member: Type, parameter: Type) -> bool:
    if isinstance(parameter, TensorType):
        return parameter.is_scalar and is_structure_of_integers(parameter)
    if not (isinstance(member, StructType) and isinstance(parameter, StructType)):
        return False
    same_names = member.names() == parameter.names()
    return same_names and all(map(_matches, member, parameter))
