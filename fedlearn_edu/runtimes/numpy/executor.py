# SPDX-License-Identifier: Apache-2.0
"""The smallest complete executor: read this one first.

It sits at the bottom of a stack. Plain data and NumPy leaf code come in from above; it
applies the one to the other. It knows no names, no placements and no operators.
"""

from typing import Any, final

from fedlearn_edu.errors import ExecutorError, TypeMismatchError
from fedlearn_edu.executors.base import (
    Executor,
    ExecutorValue,
    as_node,
    as_struct,
    check_owned,
    position,
    resolve_type,
    struct_type_of,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.runtimes.numpy import RUNTIME
from fedlearn_edu.types import FunctionType, Type, normalize


@final
class NumPyValue(ExecutorValue):
    """Data in plain form, or leaf code."""

    __slots__ = ("_type", "plain")

    def __init__(self, plain: Any, type_: Type) -> None:
        self.plain = plain
        self._type = type_

    @property
    def type_signature(self) -> Type:
        """The type of the value."""
        return self._type

    async def compute(self) -> Any:
        """The data itself; code cannot be materialized."""
        if isinstance(self._type, FunctionType):
            raise TypeMismatchError(
                "a function cannot be materialized", expected="data", found=self._type
            )
        return self.plain


@final
class NumPyExecutor(Executor):
    """Runs NumPy leaf code on plain data."""

    def close(self) -> None:
        """There is nothing to release."""

    async def create_value(
        self, value: Any, type_spec: Type | None = None
    ) -> NumPyValue:
        """Embeds plain data or NumPy leaf code."""
        type_ = resolve_type(value, type_spec)
        match as_node(value):
            case None:
                return NumPyValue(normalize(value, type_), type_)
            case ir.Literal(value=literal):
                return NumPyValue(literal, type_)
            case ir.Leaf(runtime=runtime, code=code) if runtime in (
                RUNTIME,
                ir.ANY_RUNTIME,
            ):
                return NumPyValue(code, type_)
            case node:
                raise ExecutorError(
                    "the NumPy executor runs NumPy leaf code only",
                    expected="an np_computation or plain data",
                    found=f"{type(node).__name__} of type {node.type}",
                    do="put the executors that handle it on top of this one",
                )

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> NumPyValue:
        """Runs leaf code."""
        fn = check_owned(comp, NumPyValue, self)
        argument = None if arg is None else check_owned(arg, NumPyValue, self).plain
        if not isinstance(fn.type_signature, FunctionType):
            raise TypeMismatchError(
                "only functions can be called", found=str(fn.type_signature)
            )
        return NumPyValue(fn.plain(argument), fn.type_signature.result)

    async def create_struct(self, elements: Any) -> NumPyValue:
        """Puts values side by side."""
        fields = as_struct(elements)
        for element in fields:
            check_owned(element, NumPyValue, self)
        return NumPyValue(fields.map(lambda v: v.plain), struct_type_of(fields))

    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> NumPyValue:
        """Picks a field."""
        value = check_owned(source, NumPyValue, self)
        at = position(value.type_signature, index, name)
        return NumPyValue(value.plain[at], value.type_signature[at])  # type: ignore[index]
