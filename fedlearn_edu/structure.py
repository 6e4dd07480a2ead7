# SPDX-License-Identifier: Apache-2.0
"""Ordered fields, each named or not: the one composite value of the language.

Every room above uses `Struct`; containers of Python (dict, list, dataclass, …) become
one when they enter and are rebuilt when they leave, in `types/containers.py`, not here.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, final

from fedlearn_edu.errors import FieldError, StructureError


@final
class Struct:
    """An immutable tuple of optionally named elements.

    >>> s = Struct([("a", 1), (None, 2)])
    >>> s.a, s["a"], s[1], len(s), list(s)
    (1, 1, 2, 2, [1, 2])
    >>> print(s)
    <a=1,2>
    """

    __slots__ = ("_names", "_positions", "_values")
    _names: tuple[str | None, ...]
    _positions: dict[str | None, int]  # made when somebody asks
    _values: tuple[Any, ...]

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

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __getitem__(self, key: int | str | slice) -> Any:
        if isinstance(key, str):
            return self._values[self.index(key)]
        if isinstance(key, slice):
            return self._values[key]
        if not 0 <= key < len(self._values):
            raise FieldError(
                f"index {key} in a structure of {len(self)} elements",
                do="count from 0; there is no counting from the end",
            )
        return self._values[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_positions":
            raise AttributeError(name)
        return self._values[self.index(name)]

    def index(self, name: str) -> int:
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
        """The name of each element, `None` where it has none."""
        return self._names

    def items(self) -> tuple[tuple[str | None, Any], ...]:
        """Pairs of name (or `None`) and value, in order."""
        return tuple(zip(self._names, self._values, strict=True))

    def map(self, fn: Callable[[Any], Any]) -> "Struct":
        """The same structure with `fn` applied to each element (one level)."""
        return self.with_values(map(fn, self._values))

    def with_values(self, values: Iterable[Any]) -> "Struct":
        """The same names, which need no check, around as many other values."""
        other = object.__new__(Struct)
        object.__setattr__(other, "_names", self._names)
        object.__setattr__(other, "_values", tuple(values))
        return other

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
