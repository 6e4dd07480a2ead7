# SPDX-License-Identifier: Apache-2.0
"""Python's many arguments and the language's single parameter, in both directions.

`parameter_type` and `unpack` serve the decorators (definition); `pack` serves
`Computation.__call__`. Values are not converted here, only arranged.
"""

import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fedlearn_edu.errors import ArgumentsError, TracingError
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import StructType, Type, is_tensorflow_compatible, to_type


def parameter_names(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters `fn` must be given, in order.

    Parameters with a default keep it and are not counted.
    """
    # NB(TFF): there, a default value is an error, even the hidden one of `tf.add`.
    target = getattr(fn, "python_function", fn)
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        raise TracingError(
            "this callable has no Python signature",
            expected="a function written in Python",
            found=f"{fn!r}",
            do="wrap it: lambda x: it(x)",
        ) from None
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise _bad_parameter(fn, f"*{parameter.name}")
        required = parameter.default is parameter.empty
        if required and parameter.kind is parameter.KEYWORD_ONLY:
            raise _bad_parameter(fn, f"keyword-only {parameter.name}")
    return tuple(p.name for p in parameters if p.default is p.empty)


def _bad_parameter(fn: Callable[..., Any], found: str) -> TracingError:
    return TracingError(
        "every parameter of a computation needs a name and a position",
        expected="plain parameters, as in def f(a, b)",
        found=found,
        where=f"the signature of {getattr(fn, '__name__', fn)}",
        do="list the parameters one by one",
    )


def parameter_type(
    fn_name: str, names: Sequence[str], type_specs: Sequence[Any]
) -> Type | None:
    """The one parameter type of a function with `names`, decorated with `type_specs`.

    Several types for one Python parameter become an unnamed structure; several types
    for several parameters become a structure with their names.
    """
    types = [to_type(spec) for spec in type_specs]
    given = [type_ for type_ in types if type_ is not None]
    if not given and not names:
        return None
    if len(given) != len(types) or not given or not names:
        raise _counts_differ(fn_name, names, given)
    if len(names) == 1:
        whole = StructType([(None, t) for t in given], list)
        return given[0] if len(given) == 1 else whole
    if len(given) == 1:
        return _named_by(fn_name, names, given[0])
    if len(given) != len(names):
        raise _counts_differ(fn_name, names, given)
    return StructType(list(zip(names, given, strict=True)), OrderedDict)


def _named_by(fn_name: str, names: Sequence[str], whole: Type) -> Type:
    if not isinstance(whole, StructType) or len(whole) != len(names):
        raise _counts_differ(fn_name, names, [whole])
    fields = whole.names()
    if not any(fields):
        return StructType(list(zip(names, whole, strict=True)), OrderedDict)
    if set(fields) != set(names):
        raise TracingError(
            f"the parameters of {fn_name} and the fields of its type differ in name",
            expected=f"fields named {', '.join(names)}",
            found=str(whole),
            do="name the fields as the parameters, or leave all of them unnamed",
        )
    return whole


def _counts_differ(
    fn_name: str, names: Sequence[str], types: Sequence[Type]
) -> TracingError:
    listed = ", ".join(map(str, types)) or "no type"
    return TracingError(
        f"{fn_name} and the types it is decorated with do not fit together",
        expected=f"{len(names)} type(s), for ({', '.join(names)})",
        found=listed,
        where=f"the definition of {fn_name}",
        do="give the decorator one type for each parameter",
    )


def unpack(
    fn: Callable[..., Any], names: Sequence[str], fields: Mapping[str | int, Any]
) -> Any:
    """Calls `fn` with the fields of its argument, by name or by position."""
    if all(name in fields for name in names):
        return fn(*(fields[name] for name in names))
    return fn(*(fields[index] for index in range(len(names))))


def call_leaf(
    fn: Callable[..., Any],
    names: Sequence[str],
    type_: Type | None,
    argument: Any,
    to_python: Callable[[Any, Type], Any],
) -> Any:
    """Calls a leaf's Python function; `to_python` makes what the function sees."""
    if type_ is None:
        return fn()
    if len(names) == 1:
        return fn(to_python(argument, type_))
    assert isinstance(type_, StructType)
    fields: dict[str | int, Any] = {}
    for index, (name, element) in enumerate(type_.items()):
        fields[name or index] = to_python(argument[index], element)
    return unpack(fn, names, fields)


def check_leaf_parameter(fn_name: str, type_: Type | None) -> None:
    """Refuses placements and functions as parameters of leaf code."""
    if type_ is not None and not is_tensorflow_compatible(type_):
        raise TracingError(
            f"the parameter of {fn_name} is not for leaf code",
            expected="tensors, structures and sequences",
            found=str(type_),
            do="use federated_computation for federated values and functions",
        )


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
                do="call it without arguments",
            )
        return None
    if not count:
        raise ArgumentsError(
            f"{callee} was called without its argument", expected=str(type_)
        )
    if len(args) == 1 and not kwargs:
        return args[0]
    if not isinstance(type_, StructType):
        raise ArgumentsError(
            f"{callee} takes one argument",
            expected=str(type_),
            found=f"{len(args)} positional and {len(kwargs)} keyword argument(s)",
            do="pass exactly one argument, by position",
        )
    return _fill(type_, args, kwargs, callee)


def _fill(
    type_: StructType, args: tuple[Any, ...], kwargs: Mapping[str, Any], callee: str
) -> Struct:
    extra = sorted(set(kwargs) - {name for name in type_.names() if name})
    if len(args) > len(type_) or extra:
        found = ", ".join(extra) or f"{len(args)} positional arguments"
        raise _bad_call(type_, callee, "does not know all of its arguments", found)
    values = []
    for index, (name, _) in enumerate(type_.items()):
        if index < len(args):
            if name in kwargs:
                raise _bad_call(type_, callee, "got one argument twice", str(name))
            values.append((name, args[index]))
        elif name is not None and name in kwargs:
            values.append((name, kwargs[name]))
        else:
            missing = name or f"position {index}"
            raise _bad_call(type_, callee, f"misses the argument {missing}", None)
    return Struct(values)


def _bad_call(
    type_: StructType, callee: str, problem: str, found: str | None
) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} {problem}",
        expected=str(type_),
        found=found,
        where=f"the call of {callee}",
        do="pass one argument for each field, in order or by name",
    )
