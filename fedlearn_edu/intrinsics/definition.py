# SPDX-License-Identifier: Apache-2.0
"""What an intrinsic is: a name, a signature, a documentation, perhaps an expansion.

A *primitive* intrinsic must be implemented by whoever runs it. A *derived* one also
says how it is written with others, and so runs everywhere the day it is written. Its
use in a body is recorded in `application.py`; how anything is run is not known on this
floor.
"""

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import final

from fedlearn_edu.computations.value import Value
from fedlearn_edu.errors import StructureError, TypeMismatchError, short_traceback
from fedlearn_edu.types import FunctionType, StructType, parse_type


@final
@dataclass(frozen=True)
class IntrinsicDef:
    """One intrinsic.

    Attributes:
        uri: its name.
        signatures: its generic types in the notation; letters stand for any type.
        expand: how it is written with other intrinsics; `None` for a primitive.
    """

    uri: str
    signatures: tuple[str, ...]
    expand: Callable[..., Value] | None = None

    @property
    def is_primitive(self) -> bool:
        """Whether a stack must implement it, because it has no expansion."""
        return self.expand is None

    @cached_property
    def takes_several_arguments(self) -> bool:
        """Whether, by its signature, its one argument is a structure of several."""
        signature = parse_type(self.signatures[0])
        assert isinstance(signature, FunctionType)
        return isinstance(signature.parameter, StructType)


_registry: dict[str, IntrinsicDef] = {}
_definitions: list[str] = []


def number_of_definitions() -> int:
    """Grows with every definition, also with one that replaces an earlier one."""
    return len(_definitions)


def define(
    uri: str, *signatures: str, expand: Callable[..., Value] | None = None
) -> IntrinsicDef:
    """Registers an intrinsic; defining one again (a notebook cell) replaces it."""
    for signature in signatures:
        if not isinstance(parse_type(signature), FunctionType):
            raise TypeMismatchError(
                f"the signature of {uri} is not a function type",
                expected="for example ({T}@CLIENTS -> T@SERVER)",
                found=signature,
            )
    _registry[uri] = IntrinsicDef(uri, signatures, expand)
    _definitions.append(uri)
    return _registry[uri]


@short_traceback
def intrinsic_named(uri: str) -> IntrinsicDef:
    """The definition of `uri`.

    Raises:
        StructureError: if there is none.
    """
    if uri not in _registry:
        near = difflib.get_close_matches(uri, _registry, n=1)
        raise StructureError(
            f"there is no intrinsic {uri!r}",
            expected="one of " + ", ".join(sorted(_registry)),
            found=uri,
            do=f"did you mean {near[0]}?" if near else "define it first, see `derived`",
        )
    return _registry[uri]


def all_intrinsics() -> tuple[IntrinsicDef, ...]:
    """All definitions, in the order they were made."""
    return tuple(_registry.values())
