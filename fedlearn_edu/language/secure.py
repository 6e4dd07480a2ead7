# SPDX-License-Identifier: Apache-2.0
"""Secure sums: the server learns the sum, and what each client sends looks random.

Simulated honestly: every two neighboring clients share a random mask that one adds and
the other subtracts, so all masks cancel in the sum, exactly, over the integers. The
primitive `federated_pairwise_masks` gives each client the total of its masks; the rest
is written in the language below. A real deployment adds what a simulation cannot show:
key agreement between clients, secret shares to survive drop-outs, and a server that may
not be trusted to route honestly (Bonawitz et al., CCS 2017; neighbors instead of all
pairs: Bell et al., CCS 2020). `docs/privacy.md` builds the shares.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fedlearn_edu.errors import InputRangeError, TypeMismatchError, describe
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.operations import operation
from fedlearn_edu.language.aggregation import federated_sum
from fedlearn_edu.language.application import apply, define, intrinsic, to_federated
from fedlearn_edu.language.arithmetic import (
    call,
    dtype_of,
    dtypes_in,
    in_dtype,
    leafwise,
    scale,
    zeros,
)
from fedlearn_edu.language.mapping import federated_zip, map_members
from fedlearn_edu.language.value import Value, map_leaves, structure_like, to_value
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
from fedlearn_edu.types.fields import fields_of, rebuild
from fedlearn_edu.types.messages import by_element

MAX_BITWIDTH = 62

_MASKS = define("federated_pairwise_masks", "(V -> {V}@CLIENTS)")


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
    def check(leaf: Value, most: Value) -> Value:
        # The limit may lie outside the values' own dtype: it is not cast.
        type_ = leaf.type_signature
        at_most = operation("at_most", (type_, most.type_signature), type_)
        return call(at_most, leaf, most)

    return _masked_sum(value, lambda v: map_leaves(check, v, limit), "check_range")


def _modular_sum(value: Value, modulus: Value) -> Value:
    def residue(leaf: Value, modulus: Value) -> Value:
        # The sum of residues may need more bits than a residue has.
        return in_dtype(scale("modulo", leaf, modulus), np.int64)

    def reduced(leaf: Value, modulus: Value, like: Value) -> Value:
        return in_dtype(scale("modulo", leaf, modulus), dtype_of(like))

    like = zeros(value.type_signature.member)  # type: ignore[attr-defined]
    total = _masked_sum(value, lambda v: map_leaves(residue, v, modulus), "residue")
    return map_members(
        lambda v: map_leaves(reduced, v, modulus, like), total, name="modulo"
    )


def _masked_sum(value: Value, prepare: Callable[[Value], Value], name: str) -> Value:
    """The sum of what each client makes of its value and then masks."""
    prepared = map_members(prepare, value, name=name)
    assert isinstance(prepared.type_signature, FederatedType)
    masks = apply(_MASKS, [zeros(prepared.type_signature.member)])
    masked = map_members(
        lambda pair: leafwise("add", pair[0], pair[1]),
        federated_zip([prepared, masks]),
        name="mask",
    )
    return federated_sum(masked)


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
    """The greatest number of each width in bits, in the same structure."""
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
            found=member,
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
