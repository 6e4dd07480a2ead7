# SPDX-License-Identifier: Apache-2.0
"""A computation: a typed tree that can be called.

The decorators make these. Calling one packs the arguments into the one argument of its
parameter and hands both to the current context. It runs nothing itself. A polymorphic
one first takes the types of its arguments, and is traced for these.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, final

import numpy as np

from fedlearn_edu.errors import (
    ArgumentsError,
    ContextError,
    StructureError,
    TracingError,
    describe,
    short_traceback,
)
from fedlearn_edu.former_names import answers
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_indented_text
from fedlearn_edu.ir.traversal import free_references
from fedlearn_edu.language.context_stack import Context, current_context
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import FederatedType, FunctionType, StructType, Type, infer_type

_SINGLE = (str, bytes, int, float, complex, np.generic)


@final
@answers("computation", ("to_text", "tree", "type_signature"))
class Computation:
    """A program of the language: typed, placed, and independent of who runs it.

    Attributes:
        tree: what tracing made of the Python function.
        type_signature: the function type, e.g. `({float32}@CLIENTS -> float32@SERVER)`.
        home: the context it always runs in; without one, it runs in the current one.
        is_eager: whether it is one intrinsic, used outside of any body.
    """

    is_eager = False
    # Found on a callable, it keeps TensorFlow's AutoGraph from rewriting our code.
    autograph_info__ = "already a graph"

    def __init__(
        self,
        tree: ir.Node,
        name: str,
        doc: str | None = None,
        home: Context | None = None,
    ) -> None:
        self.tree = tree
        self.home = home
        self.type_signature: FunctionType = ir.function_type_of(tree)
        self.__name__ = name
        self.__doc__ = doc

    @short_traceback
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Packs the arguments and asks the current context what the call means."""
        argument = pack(self.type_signature.parameter, args, kwargs, self.__name__)
        return current_context(self.home).invoke(self, argument)

    @cached_property
    def free(self) -> dict[str, Type]:
        """The names it took from the body that it was defined in, with their types."""
        return free_references(self.tree)

    def at_home_in(self, context: Context | None) -> "Computation":
        """The same computation, which always runs in `context`."""
        return Computation(self.tree, self.__name__, self.__doc__, context)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Computation) and self.tree == other.tree

    def __hash__(self) -> int:
        return hash(self.tree)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Computation, (self.tree, self.__name__, self.__doc__))

    def __str__(self) -> str:
        return f"{self.__name__}: {self.type_signature}"

    def __repr__(self) -> str:
        return f"<computation {self}>"

    def to_text(self) -> str:
        """The tree, indented: what tracing made of the Python function."""
        return to_indented_text(self.tree)


@final
@answers("computation", ("fn_for_argument_type",))
class PolymorphicComputation:
    """A computation without types yet: traced anew for each type it meets.

    Args:
        names: those of its parameters.
        trace: makes the computation for an argument of a type.
    """

    autograph_info__ = Computation.autograph_info__

    def __init__(
        self,
        name: str,
        doc: str | None,
        names: tuple[str, ...],
        trace: Callable[[Type], Computation],
        home: Context | None = None,
    ) -> None:
        self.__name__ = name
        self.__doc__ = doc
        self.home = home
        self._names = names
        self._trace = trace
        self._concrete: dict[Type, Computation] = {}

    def __repr__(self) -> str:
        return f"<polymorphic computation {self.__name__}({', '.join(self._names)})>"

    @property
    def type_signature(self) -> FunctionType:
        """There is none yet."""
        cure = "it takes that of what it is called with; decorate it with types"
        raise AttributeError(f"{self.__name__} has no type yet: {cure}")

    @short_traceback
    def __reduce__(self) -> tuple[Any, ...]:
        raise StructureError(
            "a polymorphic computation cannot be pickled",
            expected="a computation, which has types",
            found=describe(self),
            do="decorate it with its types, and pickle that",
        )

    def __copy__(self, *_: Any) -> "PolymorphicComputation":
        return self

    __deepcopy__ = __copy__

    @short_traceback
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Takes the types of the arguments, then calls the computation for them."""
        # With keywords, all arguments go by name.
        names = self._names if kwargs else (None,) * len(args)
        argument = Struct([*zip(names, args, strict=False), *kwargs.items()])
        if not len(argument):
            takes = f"{self.__name__}({', '.join(self._names)})"
            raise TracingError(f"{self.__name__} needs an argument", expected=takes)
        type_ = infer_type(argument)
        assert isinstance(type_, StructType)
        if len(self._names) > 1:
            return self.fn_for_argument_type(type_)(argument)
        if type_.names() not in ((None,), self._names):
            raise ArgumentsError(
                f"{self.__name__} takes one argument",
                expected=f"{self.__name__}({self._names[0]})",
                found=type_,
            )
        return self.fn_for_argument_type(type_[0])(argument[0])

    def fn_for_argument_type(self, type_: Type) -> Computation:
        """The computation for an argument of type `type_`, traced once.

        >>> import numpy as np
        >>> import fedlearn_edu as fl
        >>> add_one = fl.np_computation(lambda x: x + 1)
        >>> print(add_one.fn_for_argument_type(fl.to_type(np.int32)).type_signature)
        (int32 -> int32)
        """
        if type_ not in self._concrete:
            self._concrete[type_] = self._trace(type_).at_home_in(self.home)
        return self._concrete[type_]

    def at_home_in(self, context: Context | None) -> "PolymorphicComputation":
        """The same; every computation made of it always runs in `context`."""
        name, doc = self.__name__, self.__doc__
        return PolymorphicComputation(name, doc, self._names, self._trace, context)


def check_closed(computation: Computation) -> None:
    """Refuses a computation that captured values of a body which is over."""
    if free := computation.free:
        name, type_ = next(iter(free.items()))
        callee = computation.__name__
        raise ContextError(
            f"{callee} uses the value {name!r} of the computation it was "
            "defined in, and can run only inside it",
            expected=f"a call inside the body that {name!r} belongs to",
            found=f"{name}: {type_}",
            do=f"call {callee} inside that body, or make {name!r} a parameter",
        )


def pack(
    type_: Type | None, args: tuple[Any, ...], kwargs: Mapping[str, Any], callee: str
) -> Any:
    """Arranges call arguments as the one argument of a parameter of type `type_`.

    A single positional argument is the whole argument. Several, or keywords, fill the
    fields of a structure, positional ones first. No value is converted here.
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
            expected=type_,
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
            expected=type_,
            found=f"{len(args)} positional and {len(kwargs)} keyword argument(s)",
            do=f"put the values of all participants into one list: {callee}([…, …])"
            if isinstance(type_, FederatedType)
            else "pass exactly one argument, by position",
        )
    return _fill(type_, args, kwargs, callee)


def _fill(
    type_: StructType, args: tuple[Any, ...], kwargs: Mapping[str, Any], callee: str
) -> Struct:
    names = type_.names()
    unknown_names = ", ".join(name for name in kwargs if name not in names)
    if unknown_names:
        raise _bad_call(type_, callee, "has no such argument", unknown_names)
    if len(args) > len(type_):
        problem, found = "was called with too many arguments", f"{len(args)} arguments"
        raise _bad_call(type_, callee, problem, found)
    for name in names[: len(args)]:
        if name in kwargs:
            problem, found = "got one argument twice", f"{name} by position and by name"
            raise _bad_call(type_, callee, problem, found)
    values = list(args)
    for index, name in enumerate(names[len(args) :], len(args)):
        if name is None or name not in kwargs:
            problem = f"misses the argument {name or f'position {index}'}"
            found = ", ".join([*map(str, names[: len(args)]), *kwargs])
            raise _bad_call(type_, callee, problem, found)
        values.append(kwargs[name])
    return Struct(zip(names, values, strict=True))


def _bad_call(
    type_: StructType, callee: str, problem: str, found: str
) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} {problem}",
        expected=type_,
        found=found,
        where=f"the call of {callee}",
        do=f"pass {len(type_)} arguments, one for each field, in order or by name",
    )
