# SPDX-License-Identifier: Apache-2.0
"""The struct type: ordered fields, each named or not, and maybe a Python container.

`definitions.py` hands it on with the other kinds; users receive it from `to_type`. The
container is only remembered here; `containers.py` rebuilds it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final, overload

from fedlearn_edu.errors import TypeMismatchError, describe, short_traceback
from fedlearn_edu.structure import Struct, check_names
from fedlearn_edu.types import cures
from fedlearn_edu.types.base import Steps, Type
from fedlearn_edu.types.denotation import required_type
from fedlearn_edu.types.differences import Difference, TypeKind, field_step

Fields = tuple[tuple[str | None, Type], ...]


@final
@dataclass(frozen=True, init=False, repr=False)
class StructType(Type):
    """Ordered fields, each named or not: `<a=int32,bool>`.

    A field is `t["a"]`, `t.a` or `t[0]`. Only `repr` and `==` see the container.
    """

    _kind: ClassVar = TypeKind.STRUCT
    fields: Fields
    python_container: type | None

    @short_traceback
    def __init__(self, elements: Any, python_container: type | None = None) -> None:
        fields = tuple(_field(pair) for pair in _entries(elements))
        check_names(tuple(name for name, _ in fields))
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "python_container", python_container)

    def names(self) -> tuple[str | None, ...]:
        """The name of each field, `None` where it has none."""
        return tuple(name for name, _ in self.fields)

    def items(self) -> Fields:
        """Pairs of name (or `None`) and type, in order."""
        return self.fields

    def index(self, name: str) -> int:
        """The position of the field called `name`."""
        return Struct(self.fields).index(name)

    def __len__(self) -> int:
        return len(self.fields)

    def __iter__(self) -> Iterator[Type]:
        return (type_ for _, type_ in self.fields)

    @overload
    def __getitem__(self, key: int | str) -> Type: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Type, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Type | tuple[Type, ...]:
        found: Type | tuple[Type, ...] = Struct(self.fields)[key]
        return found

    def __getattr__(self, name: str) -> Type:
        # `fields` is missing only while a pickle is being loaded.
        if name.startswith("__") or name == "fields":
            raise AttributeError(name)
        return self[self.index(name)]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self.names() if name)]

    def _parts(self) -> Steps:
        named = enumerate(self.fields)
        return tuple((field_step(name, i), type_) for i, (name, type_) in named)

    def _mismatch(self, source: Type, path: str) -> Difference | None:
        if not isinstance(source, StructType):
            return cures.wrong_kind(self, source, path)
        if len(self) != len(source):
            counts = [f"{len(t)} fields: {t}" for t in (self, source)]
            return Difference(path, counts[0], counts[1])
        mine, theirs = self.names(), source.names()
        if any(b not in (a, None) for a, b in zip(mine, theirs, strict=True)):
            return Difference(path, self, source, cures.names_cure(mine, theirs))
        return None

    def _text(self, indent: int | None) -> str:
        deeper = None if indent is None else indent + 1
        parts = [
            f"{name}={type_._text(deeper)}" if name else type_._text(deeper)
            for name, type_ in self.fields
        ]
        if indent is None or not parts:
            return "<" + ",".join(parts) + ">"
        margin = "  " * indent
        lines = ",\n".join(f"{margin}  {part}" for part in parts)
        return f"<\n{lines}\n{margin}>"

    def __repr__(self) -> str:
        parts = [f"({n!r}, {t!r})" if n else repr(t) for n, t in self.fields]
        plain = f"StructType([{', '.join(parts)}])"
        container = self.python_container
        return plain if container is None else f"{plain} as {container.__name__}"


# The ancestor's name; there it was a class, and so it is still spelled like one.
def StructWithPythonType(elements: Any, container: type) -> StructType:  # noqa: N802
    """A struct type that remembers the Python container its values come from."""
    return StructType(elements, container)


def is_field(x: object) -> bool:
    """Whether `x` is a pair of a name and whatever denotes a type."""
    return isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], str)


def _entries(elements: Any) -> Iterable[Any]:
    if isinstance(elements, Struct | Mapping):
        return elements.items()
    if isinstance(elements, str) or not isinstance(elements, Iterable):
        raise TypeMismatchError(
            "a struct type needs a list of fields",
            expected="a list of types or of (name, type) pairs",
            found=describe(elements),
            do="put the fields into a list: [np.int32, np.float32]",
        )
    return elements


def _field(x: Any) -> tuple[str | None, Type]:
    if is_field(x) or (isinstance(x, tuple) and len(x) == 2 and x[0] is None):
        role = f"the type of the field {x[0]}" if x[0] else "the type of a field"
        return (x[0], required_type(x[1], role))
    return (None, required_type(x, "the type of a field"))
