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

from fedlearn_edu.errors import StructureError, TypeMismatchError, short_traceback
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.language.value import Value
from fedlearn_edu.types import (
    FunctionType,
    SequenceType,
    StructType,
    Type,
    parse_type,
    substitute,
    unify,
)


@final
@dataclass(frozen=True)
class IntrinsicDef:
    """One intrinsic.

    Attributes:
        uri: its name.
        signatures: its generic types in the notation; letters stand for any type.
        expand: how it is written with other intrinsics; `None` for a primitive.
        require: called with the types of the arguments; raises if they will not do.
    """

    uri: str
    signatures: tuple[str, ...]
    expand: Callable[..., Value] | None = None
    require: Callable[..., object] | None = None

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

    def at(self, type_: Type | None) -> ir.Intrinsic:
        """The intrinsic at a concrete type.

        Raises:
            TypeMismatchError: if there is none, or the intrinsic cannot have it.
        """
        reasons = [_misuse(parse_type(text), type_) for text in self.signatures]
        if all(reasons):
            raise TypeMismatchError(
                f"{self.uri} cannot have this type: {reasons[0]}",
                expected=" or ".join(self.signatures),
                found=type_ or "no type",
                where=f"a use of {self.uri}",
                do="pass its signature, with a type in the place of each letter",
            )
        assert isinstance(type_, FunctionType)
        assert type_.parameter is not None
        if self.require is not None:
            whole, several = type_.parameter, self.takes_several_arguments
            self.require(*(whole.children() if several else [whole]))
        return ir.Intrinsic(self.uri, type_)


def _misuse(signature: Type, type_: Type | None) -> str:
    """Why a function of that signature cannot have this type, if so."""
    assert isinstance(signature, FunctionType)
    assert signature.parameter is not None
    if not isinstance(type_, FunctionType) or type_.parameter is None:
        return "it is no function with a parameter"
    # A letter stands for the same in what goes in and in what comes out ...
    template = StructType([(None, t) for t in signature.children()])
    try:
        letters = unify(template, StructType([(None, t) for t in type_.children()]))
        # ... and the result is promised to be no more than it is.
        type_.result.check_assignable_from(substitute(signature.result, letters))
    except TypeMismatchError as error:
        return error.summary
    return ""


_registry: dict[str, IntrinsicDef] = {}
_definitions: list[str] = []


def number_of_definitions() -> int:
    """Grows with every definition, also with one that replaces an earlier one."""
    return len(_definitions)


def define(
    uri: str,
    *signatures: str,
    expand: Callable[..., Value] | None = None,
    require: Callable[..., object] | None = None,
) -> IntrinsicDef:
    """Registers an intrinsic; defining one again (a notebook cell) replaces it."""
    for signature in signatures:
        if not isinstance(parse_type(signature), FunctionType):
            raise TypeMismatchError(
                f"the signature of {uri} is not a function type",
                expected="for example ({T}@CLIENTS -> T@SERVER)",
                found=signature,
            )
    _registry[uri] = IntrinsicDef(uri, signatures, expand, require)
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


def sequence_position(uri: str) -> int | None:
    """Which argument of an intrinsic on unplaced sequences is the sequence, if any."""
    definition = _registry.get(uri)
    if definition is None or "@" in definition.signatures[0]:
        return None
    signature = parse_type(definition.signatures[0])
    assert isinstance(signature, FunctionType)
    several = definition.takes_several_arguments
    parameters = signature.parameter if several else [signature.parameter]
    kinds = [isinstance(parameter, SequenceType) for parameter in parameters]  # type: ignore[union-attr]
    return kinds.index(True) if True in kinds else None


def all_intrinsics() -> tuple[IntrinsicDef, ...]:
    """All definitions, in the order they were made."""
    return tuple(_registry.values())
