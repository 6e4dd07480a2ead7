# SPDX-License-Identifier: Apache-2.0
"""The contract of executors: five methods; and of their values: two.

An executor brings values in (`create_value`), applies functions (`create_call`), builds
and takes apart structures (`create_struct`, `create_selection`) and lets go (`close`).
What it returns are handles it owns; `compute()` materializes one in plain form. Laws: a
handle is used only with the executor that made it; calls have no side effect; the same
calls give the same results.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any, TypeVar, cast, get_args

from fedlearn_edu.errors import ExecutorError, FieldError, TypeMismatchError, describe
from fedlearn_edu.executors.run_inline import is_stepping
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import FederatedType, FunctionType, StructType, Type, to_type

T = TypeVar("T")
_NODES = frozenset(get_args(ir.Node))


class ExecutorValue(ABC):
    """A handle to a value inside an executor."""

    @property
    @abstractmethod
    def type_signature(self) -> Type:
        """The type of the value."""

    @abstractmethod
    async def compute(self) -> Any:
        """Materializes the value, in plain form (see `types/containers.py`)."""


class Executor(ABC):
    """Interprets some constructs, and delegates the rest to target executors."""

    @abstractmethod
    async def create_value(
        self, value: Any, type_spec: Type | None = None
    ) -> ExecutorValue:
        """Embeds a plain value, or a computation (a tree or a `Computation`)."""

    @abstractmethod
    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> ExecutorValue:
        """Calls an embedded function on an embedded argument."""

    @abstractmethod
    async def create_struct(self, elements: Any) -> ExecutorValue:
        """Makes a structure of embedded values: a `Struct`, mapping or iterable."""

    @abstractmethod
    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> ExecutorValue:
        """Selects one field of an embedded structure, by position or by name."""

    @abstractmethod
    def close(self) -> None:
        """Releases resources, here and in all target executors."""


def as_node(value: Any) -> ir.Node | None:
    """The tree `value` is or holds; `None` if it is plain data."""
    if isinstance(value, Computation):
        return value.tree
    return value if type(value) in _NODES else None


def resolve_type(value: Any, type_spec: Any) -> Type:
    """The type of what is embedded, reconciled with the type that was asked for.

    Raises:
        TypeMismatchError: if there is none, or the two contradict each other.
    """
    node = as_node(value)
    is_own = node is not None and type_spec is node.type  # most often
    wanted: Type | None
    wanted = type_spec if is_own or isinstance(type_spec, Type) else to_type(type_spec)
    if node is not None:
        if wanted is not None:
            wanted.check_assignable_from(node.type, where="create_value")
        return node.type if wanted is None else wanted
    if wanted is None:
        raise TypeMismatchError(
            "a plain value needs a type to be embedded",
            expected="create_value(value, type_spec)",
            found=f"{describe(value)}, without a type",
            where="create_value",
            do="pass its type, for example np.int32",
        )
    return wanted


def as_struct(elements: Any) -> Struct:
    """The elements of `create_struct` as a `Struct`."""
    if isinstance(elements, Struct):
        return elements
    if isinstance(elements, Mapping):
        return Struct(elements.items())
    if hasattr(elements, "_fields"):
        return Struct(zip(elements._fields, elements, strict=True))
    if not isinstance(elements, Iterable):
        raise TypeMismatchError(
            "a structure is made of several embedded values",
            expected="a list, a dict or a Struct of embedded values",
            found=describe(elements),
            where="create_struct",
            do="put it in a list: create_struct([value])",
        )
    return Struct((None, element) for element in elements)


def position(source: Type, index: int | None, name: str | None) -> int:
    """The position a selection means.

    Raises:
        TypeMismatchError: if `source` is not a structure, or has no field `name`.
        FieldError: if it has no field at `index`.
        ExecutorError: if neither or both of `index` and `name` are given.
    """
    where = "create_selection"
    if not isinstance(source, StructType):
        raise TypeMismatchError(
            "only structures have fields to select",
            expected="a structure such as <a=int32,bool>",
            found=source,
            where=where,
            do="select inside: federated_map a function that takes the field out"
            if isinstance(source, FederatedType)
            else "use the value as it is",
        )
    if (index is None) == (name is None):
        raise ExecutorError(
            "a selection says which field by its index or by its name",
            expected="exactly one of index and name",
            found="neither" if index is None else "both",
            where=where,
            do="create_selection(source, 0), or create_selection(source, name='a')",
        )
    if name is not None:
        index = source.position_of(name)
    if index is not None and 0 <= index < len(source):
        return index
    error = FieldError if name is None else TypeMismatchError
    raise error(
        "there is no such field",
        expected=source,
        found=f"index {index}" if name is None else name,
        where=where,
        do=f"fields are counted from 0 to {len(source) - 1}",
    )


def check_call(comp: ExecutorValue, arg: ExecutorValue | None) -> FunctionType:
    """Checks that `comp` is a function which takes `arg`; returns its type.

    Raises:
        TypeMismatchError: otherwise.
    """
    type_ = comp.type_signature
    if not isinstance(type_, FunctionType):
        raise TypeMismatchError(
            "only functions can be called",
            expected="a value of a function type",
            found=str(type_),
            where="create_call",
            do="hand in the function first: create_call(function, argument)",
        )
    found = arg.type_signature if arg is not None else None
    if (found is None) != (type_.parameter is None):
        raise TypeMismatchError(
            "a call has an argument too many or too few",
            expected=str(type_.parameter or "no argument"),
            found=str(found or "no argument"),
            where="create_call",
            do="put several arguments into one by create_struct",
        )
    if type_.parameter is not None and found is not None:
        type_.parameter.check_assignable_from(found, where="create_call")
    return type_


def check_owned(value: Any, kind: type[T], owner: Executor) -> T:
    """Checks that a handle was made by `owner`.

    Raises:
        TypeMismatchError: if it is no handle, or another executor's.
    """
    if not isinstance(value, kind) or getattr(value, "owner", owner) is not owner:
        raise TypeMismatchError(
            "a value must be embedded in the executor that uses it",
            expected="a value that this very executor created",
            found=f"a value of another executor, of type {value.type_signature}"
            if isinstance(value, ExecutorValue)
            else describe(value),
            where=type(owner).__name__,
            do="embed it with create_value first",
        )
    return value


async def gather(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Runs coroutines concurrently and returns their results in order.

    One runs after the other, for a task costs more than most of them do; as soon as one
    has to wait, all others get tasks of their own.
    If some fail, the error of the first of them in order is raised, on every run.
    """
    if is_stepping():
        return [await coroutine for coroutine in work]
    coroutines = list(work)
    rest = map(_settled, coroutines)
    tasks: list[asyncio.Task[T | Exception]] = []
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.TaskGroup() as group:
            others = loop.call_soon(lambda: tasks.extend(map(group.create_task, rest)))
            results = [await one for one in rest]
        await asyncio.sleep(0)  # or else an interrupt would be noticed at the very end
    except BaseException:
        others.cancel()
        for coroutine in coroutines:
            coroutine.close()
        raise
    results += [task.result() for task in tasks]
    for result in results:
        if isinstance(result, Exception):
            raise result
    return cast("list[T]", results)


async def _settled(coroutine: Coroutine[Any, Any, T]) -> T | Exception:
    try:
        return await coroutine
    except Exception as error:
        return error
