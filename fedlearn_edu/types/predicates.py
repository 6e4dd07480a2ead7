# SPDX-License-Identifier: Apache-2.0
"""Questions intrinsics ask about types: can it be added up, averaged, run by a leaf?

Each function receives a type and answers yes or no; `check_sum_compatible` raises. How
two types relate is in `relations.py`.
"""

from collections.abc import Callable

from fedlearn_edu.errors import SumIncompatibleError
from fedlearn_edu.types import dtypes
from fedlearn_edu.types.base import Type, parts_of
from fedlearn_edu.types.definitions import FederatedType, StructType, TensorType
from fedlearn_edu.types.differences import MEMBER, ROOT, clip, inside

Leaf = tuple[str, Type]


def first_leaf(
    type_: Type, refuses: Callable[[TensorType], bool], path: str = ROOT
) -> Leaf | None:
    """The first part, with its path, that is no tensor or that `refuses` is true of."""
    if isinstance(type_, TensorType):
        return (path, type_) if refuses(type_) else None
    if not isinstance(type_, StructType | FederatedType):
        return (path, type_)
    found = (first_leaf(t, refuses, path + step) for step, t in parts_of(type_))
    return next((leaf for leaf in found if leaf is not None), None)


def is_sum_compatible(type_: Type) -> bool:
    """Numbers of static shape, in any structure, placed or not."""
    return first_leaf(type_, _no_summand) is None


def check_sum_compatible(type_: Type) -> None:
    """Raises `SumIncompatibleError`, which names the part that cannot be added up."""
    leaf = first_leaf(type_, _no_summand)
    if leaf is None:
        return
    path, part = leaf
    numeric = isinstance(part, TensorType) and dtypes.is_numeric(part.dtype)
    raise SumIncompatibleError(
        f"values of type {clip(type_)} cannot be added up",
        expected="numbers of static shape, or structures of them",
        found=part,
        where=inside(path.replace(MEMBER, "", 1)),
        do="declare every size; `?` may differ between summands"
        if numeric
        else "leave this part out, or turn it into numbers first",
    )


def is_average_compatible(type_: Type) -> bool:
    """Floating or complex numbers of any shape, in any structure, placed or not."""
    return first_leaf(type_, lambda t: not _divides(t)) is None


def is_structure_of_integers(type_: Type) -> bool:
    """Integers only, in any structure, placed or not; true of `<>`."""
    return first_leaf(type_, lambda t: not dtypes.is_integer(t.dtype)) is None


def is_structure_of_floats(type_: Type) -> bool:
    """Floating numbers only, in any structure, placed or not; true of `<>`."""
    return first_leaf(type_, lambda t: not dtypes.is_floating(t.dtype)) is None


def is_numeric_scalar(type_: Type) -> bool:
    """One number; `bool` is none."""
    if not isinstance(type_, TensorType):
        return False
    return type_.is_scalar and dtypes.is_numeric(type_.dtype)


def is_tensorflow_compatible(type_: Type) -> bool:
    """Tensors, structs and sequences only: what leaf code can receive and return."""
    return not type_.contains(_foreign_to_leaves)


def _no_summand(t: TensorType) -> bool:
    return not (dtypes.is_numeric(t.dtype) and t.has_static_shape)


def _divides(t: TensorType) -> bool:
    return dtypes.is_floating(t.dtype) or dtypes.is_complex(t.dtype)


def _foreign_to_leaves(t: Type) -> bool:
    return not (t.is_tensor() or t.is_struct() or t.is_sequence())
