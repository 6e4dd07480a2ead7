# SPDX-License-Identifier: Apache-2.0
"""The fields of a container: `fields_of` takes it apart, `rebuild` puts it together."""

import dataclasses
from collections import OrderedDict
from collections.abc import Collection
from typing import Any, NamedTuple, final

from fedlearn_edu.errors import StructureError, TypeMismatchError
from fedlearn_edu.structure import Struct
from fedlearn_edu.types.base import Type

Pairs = list[tuple[str | None, Any]]


@final
class Fields(NamedTuple):
    """The fields of a container, and what rebuilds it (`None`: a `Struct`)."""

    pairs: Pairs
    container: type | None

    def in_order(self, names: Collection[str | None] = ()) -> Pairs:
        """The fields in order.

        Those of a plain dict, where order means nothing, are put into the order of
        `names` if they have these names, and are sorted otherwise.
        """
        if self.container is not dict:
            return self.pairs
        values = dict(self.pairs)
        known = set(names) == set(values)
        order = names if known else sorted(values, key=str)
        return [(name, values[name]) for name in order]


def fields_of(x: object) -> Fields | None:
    """The fields of a container, in its own order; `None` for anything else."""
    kind: Any = type(x)
    if isinstance(x, dict):
        strange = [key for key in x if not isinstance(key, str)]
        if strange:
            raise TypeMismatchError(
                "the keys of a dictionary are the names of fields",
                expected="strings",
                found=repr(strange[0]),
            )
        ordered = isinstance(x, OrderedDict)
        return Fields(list(x.items()), OrderedDict if ordered else dict)
    if isinstance(x, tuple) and hasattr(kind, "_fields"):
        return Fields(list(zip(kind._fields, x, strict=True)), kind)
    if isinstance(x, list | tuple):
        plain = list if isinstance(x, list) else tuple
        return Fields([(None, value) for value in x], plain)
    if isinstance(x, Struct):
        return Fields(list(x.items()), None)
    # Types are dataclasses too, but no containers.
    names = None if isinstance(x, type | Type) else _attributes(kind)
    if names is None:
        return None
    return Fields([(name, getattr(x, name)) for name in names], kind)


def _attributes(kind: Any) -> list[str] | None:
    if dataclasses.is_dataclass(kind):
        return [f.name for f in dataclasses.fields(kind) if f.init]
    if hasattr(kind, "__attrs_attrs__"):
        return [a.name for a in kind.__attrs_attrs__ if a.init]
    return None


def rebuild(container: type | None, fields: Struct) -> Any:
    """The container with those fields.

    Without a container: an OrderedDict if all fields are named, a tuple if none is.
    """
    names, values = fields.names(), list(fields)
    if container in (None, list, tuple) and not any(names):
        return values if container is list else tuple(values)
    if container is None and None in names:
        # NB(TFF): the ancestor had no Python form for mixed names; a Struct is one.
        return fields
    if None in names or container in (list, tuple):
        raise StructureError(
            f"a {getattr(container, '__name__', '')} cannot hold these fields",
            expected="no names for a list or tuple, all names for other containers",
            found=names,
        )
    if container is None or issubclass(container, dict):
        return (container or OrderedDict)(fields.items())
    named: dict[Any, Any] = dict(fields.items())
    return container(**named)
