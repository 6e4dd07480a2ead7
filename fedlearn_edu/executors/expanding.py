# SPDX-License-Identifier: Apache-2.0
"""Derived intrinsics on the fly: asked for one, an executor runs its expansion.

Contexts have trees expanded before they run. Here an expansion is run by hand: a
reference-resolving executor opens it, and gives the intrinsics inside it back to the
very executor that was asked, until only primitives are left.
"""

from fedlearn_edu.errors import UnsupportedIntrinsicError, add_place
from fedlearn_edu.executors.base import ExecutorValue
from fedlearn_edu.executors.layer import Handle, Layer
from fedlearn_edu.executors.reference_resolving import ReferenceResolvingExecutor
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.language.expansion import expansion
from fedlearn_edu.language.intrinsic import intrinsic_named
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import FunctionType


async def call_expansion(
    executor: Layer, uri: str, type_: FunctionType, arg: Handle | None
) -> ExecutorValue:
    """A value of `executor`: the derived intrinsic `uri` applied to `arg`.

    Raises:
        UnsupportedIntrinsicError: if `executor` lacks a primitive that it comes to.
    """
    names = ReferenceResolvingExecutor(executor)
    fn = await names.create_value(expansion(intrinsic_named(uri), type_))
    lifted = None if arg is None else await _lift(arg, names)
    try:
        return await names.lower(await names.create_call(fn, lifted), executor)
    except UnsupportedIntrinsicError as error:
        add_place(error, f"in the expansion of {uri}")
        raise


async def _lift(handle: Handle, names: ReferenceResolvingExecutor) -> Handle:
    """The same value above: its functions opened, its data left where they are."""
    match handle.representation:
        case Struct() as fields:
            lifted = [await _lift(field, names) for field in fields]
            return await names.create_struct(fields.with_values(lifted))
        case ir.Lambda() | ir.Leaf() | ir.Intrinsic() as function:
            return await names.create_value(function)
        case _:
            return names.wrap(handle)
