# SPDX-License-Identifier: Apache-2.0
"""`to_type`: whatever denotes a type becomes that type.

Constructors of types and every public function with a `type_spec` hand objects in; they
receive a `Type`. Which objects denote which types is registered in `conversion.py`,
above the types that it builds; this file only holds the name that both need.
"""

from collections.abc import Iterator
from functools import singledispatch
from typing import overload

from fedlearn_edu.errors import TypeMismatchError, short_traceback
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.differences import TypeKind, clip

_ALLOWED = {
    TypeKind.SEQUENCE: "tensors, or structs of tensors",
    TypeKind.FEDERATED: "tensors, sequences, or structs of them",
}
_CURES = {
    (TypeKind.FEDERATED, TypeKind.FEDERATED): "place the member: x.member, not x",
    (TypeKind.SEQUENCE, TypeKind.SEQUENCE): "declare rows as tensors: float32[?]*",
    (TypeKind.SEQUENCE, TypeKind.FEDERATED): "turn it around: {T*}@CLIENTS",
}


@singledispatch
def convert(x: object) -> Type:
    """Converts `x`; `conversion.py` registers one case per class."""
    raise TypeMismatchError("this does not denote a type", found=repr(x))


@overload
def to_type(x: None) -> None: ...
@overload
def to_type(x: object) -> Type: ...
@short_traceback
def to_type(x: object) -> Type | None:
    """The type that `x` denotes; `None` (no parameter) stays `None`.

    >>> import numpy as np
    >>> print(to_type([("a", np.int32), ("b", (np.float32, [2, None]))]))
    <a=int32,b=float32[2,?]>
    """
    return None if x is None else convert(x)


def required_type(x: object, role: str) -> Type:
    """The type that `x` denotes, where "no type" makes no sense."""
    if x is None:
        raise TypeMismatchError(f"{role} is missing", expected="a type", found="None")
    try:
        return convert(x)
    except TypeMismatchError as error:
        error.where = error.where or role
        raise


def forbid_inside(outer: Type, *kinds: TypeKind) -> None:
    """Refuses a type that contains a type of one of the kinds, at any depth."""
    for inner in _inside(outer):
        if inner._kind in kinds:
            problem = f"a {inner._kind.value} type cannot be inside a"
            raise TypeMismatchError(
                f"{problem} {outer._kind.value} type",
                expected=f"a {outer._kind.value} type of {_ALLOWED[outer._kind]}",
                found=f"{clip(inner)} inside {clip(outer)}",
                do=_CURES.get((outer._kind, inner._kind)),
            )


def _inside(type_: Type) -> Iterator[Type]:
    for child in type_.children():
        yield child
        yield from _inside(child)
