# SPDX-License-Identifier: Apache-2.0
"""The parameters of a Python function and the single parameter of a computation.

The decorators and their frontends ask here, when a function is defined; the arguments
of a call are arranged in `computation.py`.
"""

import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fedlearn_edu.language.messages import computations as messages
from fedlearn_edu.types import StructType, Type, is_tensorflow_compatible, to_type
from fedlearn_edu.types.definitions import is_field
from fedlearn_edu.types.sequences import SequenceList


def parameter_names(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters `fn` must be given, in order.

    Parameters with a default keep it and are not counted.
    """
    # NB(TFF): there, a default value is an error, even the hidden one of `tf.add`.
    target = getattr(fn, "python_function", fn)
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        raise messages.no_python_signature(fn) from None
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise messages.bad_parameter(fn, f"*{parameter.name}")
        required = parameter.default is parameter.empty
        if required and parameter.kind is parameter.KEYWORD_ONLY:
            raise messages.bad_parameter(fn, f"keyword-only {parameter.name}")
    return tuple(p.name for p in parameters if p.default is p.empty)


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
        raise messages.not_one_type_each(fn_name, names, given)
    if len(names) == 1:
        whole = StructType([(None, t) for t in given], list)
        return given[0] if len(given) == 1 else whole
    if len(given) == 1:
        return _named_by(fn_name, names, given[0])
    if len(given) != len(names):
        raise messages.not_one_type_each(fn_name, names, given)
    return StructType(list(zip(names, given, strict=True)), OrderedDict)


def check_specs(fn_name: str, specs: Sequence[Any]) -> None:
    """Refuses pairs that should have been a list of pairs."""
    if len(specs) > 1 and all(map(is_field, specs)):
        raise messages.pairs_without_a_list(fn_name, [name for name, _ in specs])


def _named_by(fn_name: str, names: Sequence[str], whole: Type) -> Type:
    if not isinstance(whole, StructType) or len(whole) != len(names):
        raise messages.not_one_type_each(fn_name, names, [whole])
    fields = whole.names()
    if not any(fields):
        return StructType(list(zip(names, whole, strict=True)), OrderedDict)
    if set(fields) != set(names):
        raise messages.other_field_names(fn_name, names, whole)
    return whole


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

    def seen(value: Any, type_: Type) -> Any:
        made = to_python(value, type_)
        return SequenceList(made) if type(made) is list else made

    if type_ is None:
        return fn()
    if len(names) == 1:
        return fn(seen(argument, type_))
    assert isinstance(type_, StructType)
    fields: dict[str | int, Any] = {}
    for index, (name, element) in enumerate(type_.items()):
        fields[name or index] = seen(argument[index], element)
    return unpack(fn, names, fields)


def check_leaf_parameter(fn_name: str, type_: Type | None) -> None:
    """Refuses placements and functions as parameters of leaf code."""
    if type_ is not None and not is_tensorflow_compatible(type_):
        raise messages.not_for_leaf_code(fn_name, type_)
