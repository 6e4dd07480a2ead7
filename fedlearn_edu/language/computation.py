# SPDX-License-Identifier: Apache-2.0
"""A computation: a typed tree that can be called.

The decorators make these; calling one packs the arguments and hands itself and the one
packed argument to the current context. It does not run anything itself.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from fedlearn_edu.errors import ContextError, short_traceback
from fedlearn_edu.former_names import unknown
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_indented_text
from fedlearn_edu.ir.traversal import free_references
from fedlearn_edu.language.context_stack import Context, current_context
from fedlearn_edu.language.packing import pack
from fedlearn_edu.types import FunctionType, Type


@final
class Computation:
    """A program of the language: typed, placed, and independent of who runs it.

    Attributes:
        tree: what tracing made of the Python function.
        type_signature: the function type, e.g. `({float32}@CLIENTS -> float32@SERVER)`.
        home: the context it always runs in; without one, it runs in the current one.
    """

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

    if not TYPE_CHECKING:  # type checkers know by themselves what is not there

        @short_traceback
        def __getattr__(self, name):
            raise unknown("computation", name, ("to_text", "tree", "type_signature"))


def check_closed(computation: Computation) -> None:
    """Refuses a computation that captured values of a body which is over."""
    if free := computation.free:
        name, type_ = next(iter(free.items()))
        raise ContextError(
            f"{computation.__name__} uses the value {name!r} of the computation it was "
            "defined in, and can run only inside it",
            expected=f"a call inside the body that {name!r} belongs to",
            found=f"{name}: {type_}",
            do=f"call {computation.__name__} inside that body, "
            f"or make {name!r} a parameter",
        )
