# SPDX-License-Identifier: Apache-2.0
"""What executors say when they are given something they cannot use."""

from collections.abc import Iterable, Mapping
from typing import Any

from fedlearn_edu.errors import (
    CardinalityError,
    ContextError,
    ExecutorError,
    FieldError,
    TypeMismatchError,
    UnsupportedIntrinsicError,
    counted,
    describe,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.types import FederatedType, FunctionType, Placement, StructType, Type

_TARGETS = "target_executors"


# ------------------------------------------------------------- the five methods


def no_type(value: Any) -> TypeMismatchError:
    return TypeMismatchError(
        "a plain value needs a type to be embedded",
        expected="create_value(value, type_spec)",
        found=f"{describe(value)}, without a type",
        where="create_value",
        do="pass its type, for example np.int32",
    )


def not_several(elements: Any) -> TypeMismatchError:
    return TypeMismatchError(
        "a structure is made of several embedded values",
        expected="a list, a dict or a Struct of embedded values",
        found=describe(elements),
        where="create_struct",
        do="put it in a list: create_struct([value])",
    )


def not_a_structure(source: Type) -> TypeMismatchError:
    return TypeMismatchError(
        "only structures have fields to select",
        expected="a structure such as <a=int32,bool>",
        found=source,
        where="create_selection",
        do="select inside: federated_map a function that takes the field out"
        if isinstance(source, FederatedType)
        else "use the value as it is",
    )


def neither_index_nor_name(found: str) -> ExecutorError:
    return ExecutorError(
        "a selection says which field by its index or by its name",
        expected="exactly one of index and name",
        found=found,
        where="create_selection",
        do="create_selection(source, 0), or create_selection(source, name='a')",
    )


def no_such_field(
    source: StructType, index: int | None, name: str | None
) -> FieldError | TypeMismatchError:
    error = FieldError if name is None else TypeMismatchError
    return error(
        "there is no such field",
        expected=source,
        found=f"index {index}" if name is None else name,
        where="create_selection",
        do=f"fields are counted from 0 to {len(source) - 1}",
    )


def not_a_function(type_: Type) -> TypeMismatchError:
    return TypeMismatchError(
        "only functions can be called",
        expected="a value of a function type",
        found=str(type_),
        where="create_call",
        do="hand in the function first: create_call(function, argument)",
    )


def wrong_number_of_arguments(
    type_: FunctionType, found: Type | None
) -> TypeMismatchError:
    return TypeMismatchError(
        "a call has an argument too many or too few",
        expected=str(type_.parameter or "no argument"),
        found=str(found or "no argument"),
        where="create_call",
        do="put several arguments into one by create_struct",
    )


def not_owned(value: Any, type_: Type | None, owner: object) -> TypeMismatchError:
    found = describe(value)
    if type_ is not None:
        found = f"a value of another executor, of type {type_}"
    return TypeMismatchError(
        "a value must be embedded in the executor that uses it",
        expected="a value that this very executor created",
        found=found,
        where=type(owner).__name__,
        do="embed it with create_value first",
    )


def no_tree(type_: Type) -> ExecutorError:
    return ExecutorError(
        "a function was expected here",
        expected="a lambda, leaf code or an intrinsic",
        found=str(type_),
    )


def not_data(type_: Type) -> TypeMismatchError:
    return TypeMismatchError(
        "the result is a function, not data",
        expected="data, such as float32",
        found=str(type_),
        do="did you forget to call it? put parentheses behind its name",
    )


# ------------------------------------------------------------------- single layers


def foreign_leaf(runtime: str, node: ir.Node) -> ExecutorError:
    is_sequence = isinstance(node, ir.Intrinsic) and node.uri.startswith("sequence_")
    layer = "a SequenceExecutor" if is_sequence else "the executors that handle it"
    found = f"{type(node).__name__} of type {node.type}"
    if isinstance(node, ir.Intrinsic):
        found = f"{node.uri}: {node.type}"
    elif isinstance(node, ir.Leaf):
        found += f", for {node.runtime}"
    return ExecutorError(
        f"the {runtime} executor runs its own leaf code only",
        expected=f"leaf code for {runtime}, or plain data",
        found=found,
        do=f"put {layer} on top of this one",
    )


def not_of_one_participant(runtime: str, type_: Type) -> TypeMismatchError:
    return TypeMismatchError(
        f"the {runtime} executor holds what one participant has",
        expected="tensors, structures and sequences",
        found=type_,
        where="create_value",
        do="put a FederatingExecutor on top of this one",
    )


def unbound(name: str) -> ExecutorError:
    return ExecutorError(
        f"the name {name!r} is not bound here",
        do="run only closed computations; pass captured values as parameters",
    )


def cannot_travel(name: str, type_: Type, function: ir.Lambda) -> TypeMismatchError:
    return TypeMismatchError(
        f"a function given to an intrinsic captures {name!r}, which cannot travel",
        expected="captured values without a placement",
        found=f"{name}: {type_}",
        where=to_text(function)[:80],
        do=f"make {name!r} part of the value that is mapped",
    )


_FEDERATING = {
    "create_value": "an intrinsic, a placement, a lambda, leaf code or data",
    "create_call": "an intrinsic or leaf code",
    "create_selection": "a structure of embedded values",
}
_ON_TOP = "put a ReferenceResolvingExecutor on top"


def not_federating(
    what: str, found: object, where: str, do: str = _ON_TOP
) -> ExecutorError:
    return ExecutorError(
        f"the federating executor does not {what}",
        expected=_FEDERATING[where],
        found=found,
        where=where,
        do=do,
    )


def needs_strategy_and_executor(given: Iterable[Any]) -> TypeMismatchError:
    return TypeMismatchError(
        "a federating executor needs a strategy factory and an executor",
        expected="FederatingExecutor(strategy_factory, unplaced_executor)",
        found=", ".join(map(describe, given)),
        where="the arguments",
        do="make the first by FederatedResolvingStrategy.factory(targets)",
    )


def closed(what: str) -> ExecutorError:
    return ExecutorError(
        "this executor is closed", where=what, do="make a new stack of executors"
    )


def nothing_to_wait_for() -> ContextError:
    return ContextError(
        "a call waits for something that cannot come while it waits",
        expected="work that ends, or a timer: in a browser nothing else runs meanwhile",
        do="await it before the call, and pass the result",
    )


# ---------------------------------------------------------------------- strategies


def not_implemented(
    strategy: object, uri: str, implemented: Iterable[str]
) -> UnsupportedIntrinsicError:
    return UnsupportedIntrinsicError(
        f"{type(strategy).__name__} does not implement {uri}",
        expected=", ".join(sorted(implemented)) or "no intrinsic",
        found=uri,
        where="create_call",
        do=f'add a method marked @implements("{uri}") to the strategy',
    )


def not_entries(value: Any, type_: FederatedType) -> TypeMismatchError:
    return TypeMismatchError(
        f"a value of type {type_} has one entry for each participant",
        expected="a list or a tuple",
        found=describe(value),
        where=f"a value at {type_.placement}",
        do="pass a list, or declare the type all-equal",
    )


def wrong_number_of_members(
    found: int, count: int, type_: FederatedType
) -> CardinalityError:
    return CardinalityError(
        f"a value at {type_.placement} has the wrong number of members",
        expected=f"{counted(count, 'entry', 'entries')}, one for each participant",
        found=counted(found, "entry", "entries"),
        where=str(type_),
        do="pass one entry for each of the executors at this placement",
    )


def wrong_number_of_counts(found: int, children: int) -> CardinalityError:
    return CardinalityError(
        "every child stack needs its number of clients",
        expected=f"{children} counts",
        found=f"{found} counts",
    )


def no_participant(
    placement: Placement, placements: Iterable[Placement]
) -> CardinalityError:
    return CardinalityError(
        f"this executor has no participant at {placement}",
        expected=f"target_executors with an entry for {placement}",
        found=", ".join(map(str, placements)) or "no placements",
        where=_TARGETS,
        do="give it an executor, or a list of them",
    )


def nobody_unplaced(targets: Mapping[Any, Any]) -> CardinalityError:
    return CardinalityError(
        "this executor has nobody for unplaced work",
        expected="target_executors with an entry for None",
        found=", ".join(map(str, targets)) or "no entries",
        where=_TARGETS,
        do="write {None: executor, SERVER: executor, CLIENTS: [executor, …]}",
    )


def targets_are_no_mapping(targets: Any) -> TypeMismatchError:
    return TypeMismatchError(
        "target_executors maps placements to executors",
        expected="{SERVER: executor, CLIENTS: [executor, …]}",
        found=describe(targets),
        where=_TARGETS,
        do="write a dict",
    )


def no_placement(key: Any) -> TypeMismatchError:
    return TypeMismatchError(
        "a key of target_executors is no placement",
        expected="CLIENTS, SERVER or None",
        found=describe(key),
        where=_TARGETS,
        do="write fl.CLIENTS or fl.SERVER, without quotes",
    )


def no_executor(placement: Placement | None, found: Any) -> TypeMismatchError:
    return TypeMismatchError(
        f"target_executors holds something else than executors at {placement}",
        expected="an executor or a list of executors",
        found=describe(found),
        where=_TARGETS,
        do="make one, for example framework.NumPyExecutor()",
    )


def not_exactly_one(placement: Placement | None, found: int) -> CardinalityError:
    return CardinalityError(
        f"there is exactly one participant at {placement or 'no placement'}",
        expected="1 executor",
        found=f"{found} executors",
        where=_TARGETS,
        do="give one executor; only CLIENTS may have several",
    )
