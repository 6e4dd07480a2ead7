# SPDX-License-Identifier: Apache-2.0
"""What an intrinsic is: a name, a signature, perhaps an expansion.

A *primitive* intrinsic must be implemented by what runs it. A *derived* one is written
with others, and so runs everywhere the day it is written. Intrinsics are defined, and
their use in a body is recorded, in `application.py`; contexts decide how they are run.
"""

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import final

from fedlearn_edu.errors import (
    StructureError,
    TypeMismatchError,
    UnsupportedIntrinsicError,
    short_traceback,
)
from fedlearn_edu.ir import nodes as ir
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
        signatures: its generic types in the notation, with type variables.
        expand: makes the function that it stands for, written with other intrinsics,
            for a type of its argument; `None` for a primitive.
        require: called with the types of the arguments; raises if they will not do.
        do: what to do about arguments that do not fit each other.
    """

    uri: str
    signatures: tuple[str, ...]
    expand: Callable[[Type | None], ir.Node] | None = None
    require: Callable[..., object] | None = None
    do: str = ""

    @property
    def is_primitive(self) -> bool:
        """Whether a stack must implement it, because it has no expansion."""
        return self.expand is None

    @cached_property
    def types(self) -> tuple[FunctionType, ...]:
        """The signatures as types."""
        parsed = tuple(map(parse_type, self.signatures))
        for type_, text in zip(parsed, self.signatures, strict=True):
            if not isinstance(type_, FunctionType):
                raise TypeMismatchError(
                    f"the signature of {self.uri} is not a function type",
                    expected="for example ({T}@CLIENTS -> T@SERVER)",
                    found=text,
                )
        return parsed  # type: ignore[return-value]

    @property
    def takes_several_arguments(self) -> bool:
        """Whether, by its signature, its one argument is a structure of several."""
        return isinstance(self.types[0].parameter, StructType)

    def at(self, type_: Type | None) -> ir.Intrinsic:
        """The intrinsic at a concrete type.

        Raises:
            TypeMismatchError: if there is none, or the intrinsic cannot have it.
        """
        reasons = [_misuse(signature, type_) for signature in self.types]
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


def _misuse(signature: FunctionType, type_: Type | None) -> str:
    """Why a function of that signature cannot have this type, if so."""
    if not isinstance(type_, FunctionType) or type_.parameter is None:
        return "it is no function with a parameter"
    # A variable stands for the same in what goes in and in what comes out ...
    template = StructType([(None, t) for t in signature.children()])
    try:
        bindings = unify(template, StructType([(None, t) for t in type_.children()]))
        # ... and the result is promised to be no more than it is.
        type_.result.check_assignable_from(substitute(signature.result, bindings))
    except TypeMismatchError as error:
        return error.summary
    return ""


_registry: dict[str, IntrinsicDef] = {}
_definitions: list[str] = []


def register(definition: IntrinsicDef) -> None:
    """Makes an intrinsic known, in the place of an earlier one of its name."""
    if not definition.types:  # which are refused now, if they are no signatures
        raise StructureError(
            f"{definition.uri} has no signature",
            expected="one type or several, in the notation",
            found="none",
            do='write for example @derived("({T}@CLIENTS -> T@SERVER)")',
        )
    _registry[definition.uri] = definition
    _definitions.append(definition.uri)


def number_of_definitions() -> int:
    """Grows with every definition, also with one that replaces an earlier one."""
    return len(_definitions)


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


def parameters_of(signature: FunctionType) -> tuple[Type, ...]:
    """The types of an intrinsic's arguments: one, or the fields of a structure."""
    parameter = signature.parameter
    if isinstance(parameter, StructType):
        return tuple(parameter)
    return () if parameter is None else (parameter,)


def sequence_position(uri: str) -> int | None:
    """Which argument of an intrinsic on unplaced sequences is the sequence, if any."""
    definition = _registry.get(uri)
    if definition is None or "@" in definition.signatures[0]:
        return None
    templates = parameters_of(definition.types[0])
    kinds = [isinstance(template, SequenceType) for template in templates]
    return kinds.index(True) if True in kinds else None


@lru_cache(maxsize=1024)
def expansion(definition: IntrinsicDef, type_: FunctionType) -> ir.Node:
    """The function that a derived intrinsic stands for; may hold intrinsics itself.

    The compiler puts it in the place of the intrinsic, before anything runs.
    """
    uri = definition.uri
    if definition.expand is None:
        raise UnsupportedIntrinsicError(
            f"{uri} is a primitive, and nobody here implements it",
            expected="an intrinsic of the language, or one with an expansion",
            found=f"{uri}: {type_}",
            do="run it on a stack whose strategy implements it, "
            "or give its definition an expand function",
        )
    tree = definition.expand(type_.parameter)
    found = ir.function_type_of(tree).result
    if not type_.result.is_assignable_from(found):
        raise TypeMismatchError(
            f"{uri} does not return what its signature promises",
            expected=f"{type_.result}, by {' or '.join(definition.signatures)}",
            found=found,
            where=f"the definition of {uri}",
            do="return a value of that type, or correct the signature in `derived`",
        )
    return tree
