# SPDX-License-Identifier: Apache-2.0
"""Ordered fields, each named or not: the one composite value of the language.

Every package above uses `Struct`, and goes through it with `leaves`, `unflatten` and
`tree_map`. Containers of Python (dict, list, dataclass, …) become a `Struct` when they
enter and are rebuilt when they leave, in `types/containers.py`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar, final, overload

from fedlearn_edu.errors import FieldError, StructureError, counted, short_traceback
from fedlearn_edu.former_names import unknown

T = TypeVar("T", covariant=True)


class Tree(Generic[T]):
    """What structures of values (`Struct`) and of types (`StructType`) share."""

    __slots__ = ()
    _names: tuple[str | None, ...]
    _positions: dict[str | None, int]  # computed on first use
    _values: tuple[T, ...]

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[T]:
        return iter(self._values)

    @overload
    def __getitem__(self, key: int | str) -> T: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[T, ...]: ...
    def __getitem__(self, key: int | str | slice) -> T | tuple[T, ...]:
        if isinstance(key, str):
            return self._values[self._index(key)]
        if not isinstance(key, slice) and not 0 <= key < len(self._values):
            raise FieldError(
                f"index {key} in a structure of {counted(len(self), 'element')}",
                do="count from 0; there is no counting from the end",
            )
        return self._values[key]

    def __getattr__(self, name: str) -> T:
        # Its own attributes are missing while a pickle is being loaded.
        if name.startswith("__") or name in ("_positions", "_names", "_values"):
            raise AttributeError(name)
        return self._values[self._index(name)]

    def _index(self, name: str) -> int:
        """The position of the field called `name`."""
        position = self.position_of(name)
        if position is None:
            known = ", ".join(str(n) for n in self._names[:10] if n) or "none"
            raise FieldError(f"no field {name!r}; the named fields are: {known}")
        return position

    def position_of(self, name: str) -> int | None:
        """The position of the field called `name`, `None` if there is none."""
        if not hasattr(self, "_positions"):
            positions = {name: index for index, name in enumerate(self._names)}
            object.__setattr__(self, "_positions", positions)
        return self._positions.get(name)

    def names(self) -> tuple[str | None, ...]:
        """The name of each field, `None` where it has none."""
        return self._names

    def items(self) -> tuple[tuple[str | None, T], ...]:
        """Pairs of name (or `None`) and content, in order."""
        return tuple(zip(self._names, self._values, strict=True))

    def _with_values(self, values: Iterable[Any]) -> "Struct":
        """A struct of the same names, which need no check, and as many values."""
        other = object.__new__(Struct)
        object.__setattr__(other, "_names", self._names)
        object.__setattr__(other, "_values", tuple(values))
        return other


@final
class Struct(Tree[Any]):
    """An immutable tuple of optionally named elements.

    >>> s = Struct([("a", 1), (None, 2)])
    >>> s.a, s["a"], s[1], len(s), list(s)
    (1, 1, 2, 2, [1, 2])
    >>> print(s)
    <a=1,2>
    """

    __slots__ = ("_names", "_positions", "_values")
    index = Tree._index
    with_values = Tree._with_values

    def __init__(self, elements: Iterable[tuple[str | None, Any]]) -> None:
        pairs = tuple(elements)
        names = tuple([name for name, _ in pairs])
        check_names(names)
        object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_values", tuple([value for _, value in pairs]))

    @staticmethod
    def named(**fields: Any) -> "Struct":
        """Builds a struct whose fields all have names."""
        return Struct(fields.items())

    @staticmethod
    def unnamed(*values: Any) -> "Struct":
        """Builds a struct whose fields have no names."""
        return Struct((None, value) for value in values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Struct cannot be changed (tried to set {name!r})")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Struct, (self.items(),))

    def map(self, fn: Callable[[Any], Any]) -> "Struct":
        """The same structure with `fn` applied to each element (one level)."""
        return self.with_values(map(fn, self._values))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct):
            return NotImplemented
        return self._names == other._names and self._values == other._values

    def __hash__(self) -> int:
        return hash((self._names, self._values))

    def __str__(self) -> str:
        parts = (f"{n}={v}" if n else str(v) for n, v in self.items())
        return "<" + ",".join(parts) + ">"

    def __repr__(self) -> str:
        return f"Struct({list(self.items())!r})"


def leaves(tree: Any) -> list[Any]:
    """The leaves of a tree, in order.

    >>> leaves(Struct.named(a=1, b=Struct.unnamed(2, [3])))
    [1, 2, [3]]
    """
    if not isinstance(tree, Tree):
        return [tree]
    return [leaf for part in tree for leaf in leaves(part)]


def unflatten(like: Any, flat: Iterable[Any]) -> Any:
    """A tree with the structure of `like`, and its leaves from a flat list.

    >>> print(unflatten(Struct.named(a=1, b=Struct.unnamed(2, 3)), "xyz"))
    <a=x,b=<y,z>>
    """
    rest = iter(flat)
    return tree_map(lambda _: next(rest), like)


def tree_map(fn: Callable[..., Any], first: Any, *others: Any) -> Any:
    """Calls `fn` with each leaf of the first tree and what the others have there.

    The trees are structs, or types of structs; the result is a struct with the names of
    the first one.

    >>> print(tree_map(lambda a, b: a + b, Struct.named(a=1, b=2), (10, 20)))
    <a=11,b=22>
    """
    if not isinstance(first, Tree):
        return fn(first, *others)
    columns = zip(first, *others, strict=True)
    return first._with_values([tree_map(fn, *parts) for parts in columns])


def check_names(names: tuple[str | None, ...]) -> None:
    """Refuses duplicate field names."""
    given = [name for name in names if name is not None]
    if len(set(given)) < len(given):
        twice = sorted({name for name in given if given.count(name) > 1})
        raise StructureError(
            "field names must differ",
            expected="every name once",
            found=", ".join(twice) + " more than once",
            where=f"a structure with the names {given}",
            do="rename one of them",
        )


# As a package has one: then `from … import` asks for a submodule, and is answered.
__path__: list[str] = []


@short_traceback
def __getattr__(name: str) -> Any:
    known = ("Struct", "leaves", "tree_map", "unflatten")
    raise unknown("fedlearn_edu.structure", name, known)
