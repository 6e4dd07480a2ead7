# SPDX-License-Identifier: Apache-2.0
"""The errors of computations: defining one, calling one, what its body may use."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from fedlearn_edu.errors import (
    ArgumentsError,
    ComputationReturnedNoneError,
    ContextError,
    StructureError,
    TracingError,
    TypeMismatchError,
    describe,
    line_in,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.types import FederatedType, SequenceType, StructType, Type

if TYPE_CHECKING:
    from fedlearn_edu.language.computation import Computation, PolymorphicComputation
    from fedlearn_edu.language.value import Value

# ----------------------------------------------------------------------------- defining


def returned_none(fn: Callable[..., Any], name: str) -> ComputationReturnedNoneError:
    code = getattr(getattr(fn, "python_function", fn), "__code__", None)
    where = line_in(code.co_filename, code.co_firstlineno) if code else None
    return ComputationReturnedNoneError(
        f"{name} returned None",
        expected="a value",
        found="None",
        where=where,
        do="end the function, and each branch of an `if`, with `return …`",
    )


def takes_no_result(decorator: str, result: Type) -> TracingError:
    return TracingError(
        f"{decorator} finds the type of the result by itself",
        expected="the types of the parameters, and nothing more",
        found=f"result={result}",
        do="leave it out; to check it, put @fl.check_returns_type(…) below",
    )


def has_its_types(decorator: str, more: int) -> TracingError:
    return TracingError(
        f"{decorator} already has its types",
        expected="a function, and nothing more",
        found=f"{more} further argument(s)",
        do="give all types in one place",
    )


def nothing_to_trace(decorator: str, found: object) -> TracingError:
    return TracingError(
        f"{decorator} needs a function to trace",
        expected="a Python function",
        found=describe(found),
        do=f"write @{decorator}(type) above def f(x): …",
    )


def decorated_twice(
    computation: "Computation | PolymorphicComputation",
) -> TracingError:
    return TracingError(
        f"{computation.__name__} is a computation already",
        expected="a plain Python function",
        found=describe(computation),
        do="use it as it is, or decorate a lambda that calls it",
    )


def broken_promise_of_result(
    name: str, promised: Type | None, found: Type | None
) -> TypeMismatchError:
    same_text = str(found) == str(promised)  # then the containers differ
    return TypeMismatchError(
        f"{name} promises another result type than it has",
        expected=repr(promised) if same_text else str(promised),
        found=repr(found) if same_text else str(found),
        do="change the promise or the body",
    )


def no_python_signature(fn: object) -> TracingError:
    return TracingError(
        "this callable has no Python signature",
        expected="a function written in Python",
        found=describe(fn),
        do=f"wrap it: lambda x: {getattr(fn, '__name__', 'it')}(x)",
    )


def bad_parameter(fn: object, found: str) -> TracingError:
    return TracingError(
        "every parameter of a computation needs a name and a position",
        expected="plain parameters, as in def f(a, b)",
        found=found,
        where=f"the signature of {getattr(fn, '__name__', fn)}",
        do="list the parameters one by one",
    )


def pairs_without_a_list(fn_name: str, names: Sequence[str]) -> TracingError:
    listed = ", ".join(f"({name!r}, …)" for name in names)
    return TracingError(
        f"{fn_name} was given pairs, each of which is a structure of one field",
        expected=f"one list: [{listed}]",
        found=listed,
        do="put the pairs into a list, or leave the names to the parameters",
    )


def other_field_names(fn_name: str, names: Sequence[str], whole: Type) -> TracingError:
    return TracingError(
        f"the parameters of {fn_name} and the fields of its type differ in name",
        expected=f"fields named {', '.join(names)}",
        found=str(whole),
        where=f"the definition of {fn_name}",
        do="name the fields as the parameters, or leave all of them unnamed",
    )


def not_one_type_each(
    fn_name: str, names: Sequence[str], types: Sequence[Type]
) -> TracingError:
    listed = ", ".join(map(str, types)) or "no type"
    return TracingError(
        f"{fn_name} and the types it is decorated with do not fit together",
        expected=f"{len(names)} type(s), for {fn_name}({', '.join(names)})",
        found=listed,
        where=f"the definition of {fn_name}",
        do="give the decorator one type for each parameter",
    )


def not_for_leaf_code(fn_name: str, type_: Type) -> TracingError:
    return TracingError(
        f"the parameter of {fn_name} is not for leaf code",
        expected="tensors, structures and sequences",
        found=str(type_),
        where=f"the definition of {fn_name}",
        do="declare one member and use federated_map, "
        "or decorate with federated_computation",
    )


# ------------------------------------------------------------------------------ calling


def not_closed(callee: str, name: str, type_: Type) -> ContextError:
    return ContextError(
        f"{callee} uses the value {name!r} of the computation it was "
        "defined in, and can run only inside it",
        expected=f"a call inside the body that {name!r} belongs to",
        found=f"{name}: {type_}",
        do=f"call {callee} inside that body, or make {name!r} a parameter",
    )


def takes_no_argument(callee: str, count: int) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} takes no argument",
        expected=f"{callee}()",
        found=f"{count} argument(s)",
        do="leave the argument out",
    )


def called_without_argument(callee: str, type_: Type) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} was called without its argument",
        expected=str(type_),
        found=f"{callee}()",
        do=f"pass the data: {callee}(…)",
    )


def takes_one_argument(
    callee: str, type_: Type, positional: int, keyword: int
) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} takes one argument",
        expected=str(type_),
        found=f"{positional} positional and {keyword} keyword argument(s)",
        do=f"put the values of all participants into one list: {callee}([…, …])"
        if isinstance(type_, FederatedType)
        else "pass exactly one argument, by position",
    )


def bad_call(
    type_: StructType, callee: str, problem: str, found: str
) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} {problem}",
        expected=str(type_),
        found=found,
        where=f"the call of {callee}",
        do=f"pass {len(type_)} arguments, one for each field, in order or by name",
    )


# -------------------------------------------------------------------------- polymorphic


def no_type_of_its_own(name: str) -> AttributeError:
    cure = "it takes that of what it is called with; decorate it with types"
    return AttributeError(f"{name} has no type yet: {cure}")


def cannot_be_pickled(computation: object) -> StructureError:
    return StructureError(
        "a polymorphic computation cannot be pickled",
        expected="a computation, which has types",
        found=describe(computation),
        do="decorate it with its types, and pickle that",
    )


def needs_an_argument(callee: str, names: Sequence[str]) -> TracingError:
    return TracingError(
        f"{callee} needs an argument", expected=f"{callee}({', '.join(names)})"
    )


def takes_one_named(callee: str, name: str, found: Type) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} takes one argument", expected=f"{callee}({name})", found=str(found)
    )


# ------------------------------------------------------------------------------- bodies


ANYWHERE = (
    "decorate a function with its types and call it there; "
    "leaf code uses the operations of NumPy or TensorFlow"
)


def outside_of_bodies(what: str, do: str) -> ContextError:
    return ContextError(
        f"{what} was used outside the body of a federated computation",
        expected="a call inside a function decorated with federated_computation",
        found="a call in plain Python, or in leaf code",
        do=do,
    )


def of_another_body(what: str, body: str, reference: ir.Reference) -> ContextError:
    return ContextError(
        f"{what} uses a value of another computation's body",
        expected=f"values of {body} and of the bodies around it",
        found=f"{reference.name}: {reference.type}",
        where=f"the body of {body}",
        do="return it from its own body, and pass it in as a parameter",
    )


def how_to_map(
    computation: "Computation", value: "Value", captured: Sequence[str]
) -> str | None:
    """What to do about clients' data, elements or one value where others are due."""
    type_, parameter = value.type_signature, computation.type_signature.parameter
    member = type_.member if isinstance(type_, FederatedType) else type_
    operator, what = "federated_map", "members"
    if (
        isinstance(member, SequenceType)
        and parameter is not None
        and parameter.is_assignable_from(member.element)
    ):
        operator, what = "sequence_map", "elements"
    elif not type_.contains(Type.is_federated):
        if isinstance(parameter, StructType) and not isinstance(type_, StructType):
            names = ", ".join(name or "…" for name in parameter.names())
            return f"pass all that it takes: {computation.__name__}({names})"
        return None
    if not captured:
        return f"{operator}({computation.__name__}, …) works on the {what}"
    return (
        f"{', '.join(captured)} of the body around has a placement: make it part "
        "of what is mapped (broadcast it first if it is at the server)"
    )


def no_context() -> ContextError:
    return ContextError(
        "nobody is there to run this: no default context is installed",
        expected="a default context, or a call inside `with context:`",
        found="no context",
        do="fl.framework.set_default_context("
        "fl.framework.SyncExecutionContext(fl.framework.local_executor_factory()))",
    )


def not_a_context(found: object) -> TypeMismatchError:
    return TypeMismatchError(
        "the default context must be a context",
        expected="for example SyncExecutionContext(executor_fn=factory)",
        found=describe(found),
        do="wrap an executor factory: SyncExecutionContext(executor_fn=factory)",
    )
