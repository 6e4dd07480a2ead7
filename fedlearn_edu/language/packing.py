# SPDX-License-Identifier: Apache-2.0
"""The arguments of a call, arranged as the one argument of a parameter.

`Computation.__call__` hands in what Python passed; contexts receive one argument.
Values are not converted here, only arranged.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fedlearn_edu.errors import ArgumentsError
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import FederatedType, StructType, Type

_SINGLE = (str, bytes, int, float, complex, np.generic)


def pack(
    type_: Type | None, args: tuple[Any, ...], kwargs: Mapping[str, Any], callee: str
) -> Any:
    """Arranges call arguments as the one argument of a parameter of type `type_`.

    A single positional argument is the whole argument. Several, or keywords, fill the
    fields of a structure, positional ones first.
    """
    count = len(args) + len(kwargs)
    if type_ is None:
        if count:
            raise ArgumentsError(
                f"{callee} takes no argument",
                expected=f"{callee}()",
                found=f"{count} argument(s)",
                do="leave the argument out",
            )
        return None
    if not count:
        raise ArgumentsError(
            f"{callee} was called without its argument",
            expected=str(type_),
            found=f"{callee}()",
            do=f"pass the data: {callee}(…)",
        )
    if len(args) == 1 and not kwargs:
        one_value = isinstance(args[0], _SINGLE)
        if isinstance(type_, StructType) and len(type_) > 1 and one_value:
            raise _bad_call(type_, callee, "was called with one value", repr(args[0]))
        return args[0]
    if not isinstance(type_, StructType):
        raise ArgumentsError(
            f"{callee} takes one argument",
            expected=str(type_),
            found=f"{len(args)} positional and {len(kwargs)} keyword argument(s)",
            do=f"put the values of all participants into one list: {callee}([…, …])"
            if isinstance(type_, FederatedType)
            else "pass exactly one argument, by position",
        )
    return _fill(type_, args, kwargs, callee)


def _fill(
    type_: StructType, args: tuple[Any, ...], kwargs: Mapping[str, Any], callee: str
) -> Struct:
    known = [name for name in type_.names() if name]
    extra = ", ".join(name for name in kwargs if name not in known)
    if extra:
        raise _bad_call(type_, callee, "has no such argument", extra)
    if len(args) > len(type_):
        found = f"{len(args)} arguments"
        raise _bad_call(type_, callee, "was called with too many arguments", found)
    values = []
    for index, (name, _) in enumerate(type_.items()):
        if index < len(args):
            if name in kwargs:
                found = f"{name} by position and by name"
                raise _bad_call(type_, callee, "got one argument twice", found)
            values.append((name, args[index]))
        elif name is not None and name in kwargs:
            values.append((name, kwargs[name]))
        else:
            missing = name or f"position {index}"
            found = ", ".join([*map(str, type_.names()[: len(args)]), *kwargs])
            raise _bad_call(type_, callee, f"misses the argument {missing}", found)
    return Struct(values)


def _bad_call(
    type_: StructType, callee: str, problem: str, found: str
) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} {problem}",
        expected=str(type_),
        found=found,
        where=f"the call of {callee}",
        do=f"pass {len(type_)} arguments, one for each field, in order or by name",
    )
