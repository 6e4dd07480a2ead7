# SPDX-License-Identifier: Apache-2.0
"""The contract of executors, and what all of them check at their border.

An executor brings values in (`create_value`), applies functions (`create_call`), builds
and takes apart structures (`create_struct`, `create_selection`) and releases resources
(`close`). It returns handles that it owns; `compute()` materializes one in plain form.
Laws: a handle is used only with the executor that made it; calls have no side effect;
the same calls give the same results.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, get_args

from fedlearn_edu.errors import ExecutorError, FieldError, TypeMismatchError, describe
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import FederatedType, FunctionType, StructType, Type, to_type
from fedlearn_edu.types.definitions import AnyType

V = TypeVar("V", bound="ExecutorValue")
# To look into a set is several times faster than `isinstance` of an abstract class.
_NODES, _TYPES = frozenset(get_args(ir.Node)), frozenset(get_args(AnyType))


class ExecutorValue(ABC):
    """A handle to a value inside an executor.

    Attributes:
        owner: the executor that made it, and the only one that can use it.
    """

    owner: Any

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


def resolve(value: Any, type_spec: Any) -> tuple[ir.Node | None, Type]:
    """The tree `value` is or holds, if any, and the type of what is embedded.

    Raises:
        TypeMismatchError: if it has no type, or another one than was asked for.
    """
    node = as_node(value)
    if node is not None and (type_spec is None or type_spec is node.type):
        return node, node.type
    if type_spec is None:
        raise TypeMismatchError(
            "a plain value needs a type to be embedded",
            found=f"{describe(value)}, without a type",
            do="pass its type: create_value(1, np.int32)",
        )
    wanted = type_spec if type(type_spec) in _TYPES else to_type(type_spec)
    if node is not None:
        wanted.check_assignable_from(node.type, where="create_value")
    return node, wanted


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
            found=describe(elements),
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
    if not isinstance(source, StructType):
        raise _not_a_structure(source)
    if (index is None) == (name is None):
        raise ExecutorError(
            "a selection says which field by its index or by its name",
            found="neither" if index is None else "both",
            do="create_selection(source, 0), or create_selection(source, name='a')",
        )
    at = index if name is None else source.position_of(name)
    if at is not None and 0 <= at < len(source):
        return at
    error = FieldError if name is None else TypeMismatchError
    raise error(
        "there is no such field",
        expected=source,
        found=f"index {index}" if name is None else name,
        do=f"fields are counted from 0 to {len(source) - 1}",
    )


def _not_a_structure(source: Type) -> TypeMismatchError:
    cure = "use the value as it is"
    if isinstance(source, FederatedType):
        cure = "select inside: federated_map a function that takes the field out"
    return TypeMismatchError(
        "only structures have fields to select",
        expected="a structure such as <a=int32,bool>",
        found=source,
        do=cure,
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
            found=str(type_),
            do="hand in the function first: create_call(function, argument)",
        )
    found = None if arg is None else arg.type_signature
    if (found is None) != (type_.parameter is None):
        raise TypeMismatchError(
            "a call has an argument too many or too few",
            expected=str(type_.parameter or "no argument"),
            found=str(found or "no argument"),
            do="put several arguments into one by create_struct",
        )
    if type_.parameter is not None and found is not None:
        type_.parameter.check_assignable_from(found, where="create_call")
    return type_


def check_owned(value: Any, kind: type[V], owner: Executor) -> V:
    """Checks that a handle was made by `owner`.

    Raises:
        TypeMismatchError: if it is no handle, or another executor's.
    """
    if isinstance(value, kind) and value.owner is owner:
        return value
    found = describe(value)
    if isinstance(value, ExecutorValue):
        found = f"a value of another executor, of type {value.type_signature}"
    raise TypeMismatchError(
        "a value must be embedded in the executor that uses it",
        found=f"{found}, in a {type(owner).__name__}",
        do="embed it with create_value first",
    )
