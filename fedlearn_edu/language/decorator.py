# SPDX-License-Identifier: Apache-2.0
"""The three ways to write a decorator, once for every frontend.

    @computation                  without types: no parameter, or polymorphic
    @computation(T1, T2)          with types
    computation(fn, T1, T2)       as a wrapper

A frontend (`federated_computation.py`, the runtimes) supplies `trace`; it knows what
the body sees. The parameters of the Python function become the one parameter of the
computation; the arguments of a call are arranged in `computation.py`.
"""

import inspect
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, final, overload

import numpy as np

from fedlearn_edu.errors import (
    ComputationReturnedNoneError,
    TracingError,
    TypeMismatchError,
    describe,
    line_in,
    short_traceback,
)
from fedlearn_edu.language.computation import Computation, PolymorphicComputation
from fedlearn_edu.types import (
    StructType,
    Type,
    infer_type,
    is_tensorflow_compatible,
    to_type,
)
from fedlearn_edu.types.data_types import is_field
from fedlearn_edu.types.sequences import SequenceList

# Runs the Python function once, on stand-ins for a parameter of the given type; the
# names are those of the Python parameters among which the fields are spread, if more
# than one. It takes `result=`, a type, where the frontend says so.
Trace = Callable[..., Computation]

# What denotes a type (see `to_type`), as far as Python's type checkers can tell.
TypeSpec = type[Any] | Type | np.dtype[Any] | tuple[Any, ...] | list[Any] | None
Decorating = Callable[[Callable[..., Any]], Computation]


@final
class Decorator:
    """Turns Python functions into computations through one frontend."""

    def __init__(
        self, name: str, trace: Trace, doc: str, *, takes_result: bool = False
    ) -> None:
        self.autograph_info__ = Computation.autograph_info__
        self.__name__ = name
        self.__doc__ = doc
        self._trace = trace
        self._takes_result = takes_result

    def __repr__(self) -> str:
        return f"<decorator {self.__name__}>"

    @overload
    def __call__(self, *, result: TypeSpec = None) -> Decorating: ...

    @overload
    def __call__(
        self, first: TypeSpec, /, *more: Any, result: TypeSpec = None
    ) -> Decorating: ...

    @overload
    def __call__(
        self, fn: Callable[..., Any], /, *types: Any, result: TypeSpec = None
    ) -> Computation: ...

    @short_traceback
    def __call__(self, *args: Any, result: Any = None) -> Any:
        """Decorates at once, or returns a decorator that knows the types."""
        if result is not None:
            return self._with_result(to_type(result))(*args)
        if not args:
            return self._with_types(())
        if _is_function(args[0]):
            check_specs(self.__name__, args[1:])
            return self._build(args[0], args[1:])
        self._refuse_computation(args[0])
        check_specs(self.__name__, args)
        return self._with_types(tuple(map(to_type, args)))

    def _with_result(self, result: Type) -> "Decorator":
        if not self._takes_result:
            raise TracingError(
                f"{self.__name__} finds the type of the result by itself",
                expected="the types of the parameters, and nothing more",
                found=f"result={result}",
                do="leave it out; to check it, put @fl.check_returns_type(…) below",
            )
        trace = partial(self._trace, result=result)
        return Decorator(self.__name__, trace, self.__doc__ or "")

    def _with_types(self, type_specs: tuple[Any, ...]) -> Callable[..., Any]:
        @short_traceback
        def decorate(fn: Callable[..., Any], *more: Any) -> Any:
            if more:
                raise TracingError(
                    f"{self.__name__} already has its types",
                    expected="a function, and nothing more",
                    found=f"{len(more)} further argument(s)",
                    do="give all types in one place",
                )
            self._refuse_computation(fn)
            if not _is_function(fn):
                raise TracingError(
                    f"{self.__name__} needs a function to trace",
                    expected="a Python function",
                    found=describe(fn),
                    do=f"write @{self.__name__}(type) above def f(x): …",
                )
            return self._build(fn, type_specs)

        return decorate

    def _refuse_computation(self, candidate: Any) -> None:
        if isinstance(candidate, Computation | PolymorphicComputation):
            raise TracingError(
                f"{candidate.__name__} is a computation already",
                expected="a plain Python function",
                found=describe(candidate),
                do="use it as it is, or decorate a lambda that calls it",
            )

    def _build(self, fn: Callable[..., Any], type_specs: Sequence[Any]) -> Any:
        fn_name, names = _name_of(fn), parameter_names(fn)

        def trace(*specs: Any) -> Computation:
            type_ = parameter_type(fn_name, names, specs)
            return self._trace(fn, names, type_, fn_name)

        if names and not type_specs:
            return PolymorphicComputation(fn_name, fn.__doc__, names, trace)
        return trace(*type_specs)


def check_returns_type(*args: Any) -> Any:
    """Checks, while tracing, that a function's result has exactly a given type.

    Use `@check_returns_type(T)` *inside* the computation decorator. It only checks;
    `np_computation(…, result=T)` takes the type for granted when the code is defined.

    Raises:
        TypeMismatchError: if the result's type is not identical to `T`.
    """
    from_decorator = len(args) == 1
    type_spec = args[-1]

    def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*fn_args: Any) -> Any:
            result = fn(*fn_args)
            _check_type(fn, infer_type(result), type_spec)
            return result

        checked.__name__ = _name_of(fn)
        checked.__signature__ = inspect.signature(fn)  # type: ignore[attr-defined]
        return checked

    return decorate if from_decorator else decorate(args[0])


def _check_type(fn: Callable[..., Any], found: Type | None, type_spec: Any) -> None:
    expected = to_type(type_spec)
    if found != expected:
        # With the same text they differ in their containers.
        show = repr if str(found) == str(expected) else str
        raise TypeMismatchError(
            f"{_name_of(fn)} promises another result type than it has",
            expected=show(expected),
            found=show(found),
            do="change the promise or the body",
        )


def _is_function(candidate: Any) -> bool:
    if isinstance(candidate, type | Computation | PolymorphicComputation | Type):
        return False
    return callable(candidate)


def _name_of(fn: Callable[..., Any]) -> str:
    name = str(getattr(fn, "__name__", type(fn).__name__))
    return "lambda" if name == "<lambda>" else name


# --------------------------------------------------------------------------- parameters


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
            found=describe(fn),
            do=f"wrap it: lambda x: {getattr(fn, '__name__', 'it')}(x)",
        ) from None
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise _bad_parameter(fn, f"*{parameter.name}")
        required = parameter.default is parameter.empty
        if required and parameter.kind is parameter.KEYWORD_ONLY:
            raise _bad_parameter(fn, f"keyword-only {parameter.name}")
    return tuple(p.name for p in parameters if p.default is p.empty)


def _bad_parameter(fn: object, found: str) -> TracingError:
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
        raise _not_one_type_each(fn_name, names, given)
    if len(names) == 1:
        whole = StructType([(None, t) for t in given], list)
        return given[0] if len(given) == 1 else whole
    if len(given) == 1:
        return _named_by(fn_name, names, given[0])
    if len(given) != len(names):
        raise _not_one_type_each(fn_name, names, given)
    return StructType(list(zip(names, given, strict=True)), OrderedDict)


def check_specs(fn_name: str, specs: Sequence[Any]) -> None:
    """Refuses pairs that should have been a list of pairs."""
    if len(specs) > 1 and all(map(is_field, specs)):
        listed = ", ".join(f"({name!r}, …)" for name, _ in specs)
        raise TracingError(
            f"{fn_name} was given pairs, each of which is a structure of one field",
            expected=f"one list: [{listed}]",
            found=listed,
            do="put the pairs into a list, or leave the names to the parameters",
        )


def _named_by(fn_name: str, names: Sequence[str], whole: Type) -> Type:
    if not isinstance(whole, StructType) or len(whole) != len(names):
        raise _not_one_type_each(fn_name, names, [whole])
    fields = whole.names()
    if not any(fields):
        return StructType(list(zip(names, whole, strict=True)), OrderedDict)
    if set(fields) != set(names):
        raise TracingError(
            f"the parameters of {fn_name} and the fields of its type differ in name",
            expected=f"fields named {', '.join(names)}",
            found=whole,
            where=f"the definition of {fn_name}",
            do="name the fields as the parameters, or leave all of them unnamed",
        )
    return whole


def _not_one_type_each(
    fn_name: str, names: Sequence[str], types: Sequence[Type]
) -> TracingError:
    return TracingError(
        f"{fn_name} and the types it is decorated with do not fit together",
        expected=f"{len(names)} type(s), for {fn_name}({', '.join(names)})",
        found=", ".join(map(str, types)) or "no type",
        where=f"the definition of {fn_name}",
        do="give the decorator one type for each parameter",
    )


def call_with_fields(
    fn: Callable[..., Any],
    names: Sequence[str],
    type_: Type,
    part: Callable[[int, str | None], Any],
) -> Any:
    """Calls `fn` with the parts of its argument, by name or by position."""
    assert isinstance(type_, StructType)
    fields: dict[str | int, Any]
    fields = {name or i: part(i, name) for i, name in enumerate(type_.names())}
    known = all(name in fields for name in names)
    return fn(*(fields[key] for key in (names if known else range(len(names)))))


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
    elements = type_.children()
    return call_with_fields(
        fn, names, type_, lambda i, _: seen(argument[i], elements[i])
    )


def check_leaf_parameter(fn_name: str, type_: Type | None) -> None:
    """Refuses placements and functions as parameters of leaf code."""
    if type_ is not None and not is_tensorflow_compatible(type_):
        raise TracingError(
            f"the parameter of {fn_name} is not for leaf code",
            expected="tensors, structures and sequences",
            found=type_,
            where=f"the definition of {fn_name}",
            do="declare one member and use federated_map, "
            "or decorate with federated_computation",
        )


def returned_none(fn: Callable[..., Any], name: str) -> ComputationReturnedNoneError:
    """The error for a body without a result."""
    code = getattr(getattr(fn, "python_function", fn), "__code__", None)
    return ComputationReturnedNoneError(
        f"{name} returned None",
        expected="a value",
        found="None",
        where=line_in(code.co_filename, code.co_firstlineno) if code else None,
        do="end the function, and each branch of an `if`, with `return …`",
    )
