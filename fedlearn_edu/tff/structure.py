# SPDX-License-Identifier: Apache-2.0
"""`tff.structure`: structures, and one with other values in some fields."""

import dataclasses
from typing import Any

from fedlearn_edu.errors import StructureError
from fedlearn_edu.former_names import answering
from fedlearn_edu.structure import Struct

__all__ = ["Struct", "update_struct"]


def update_struct(structure: Any, **fields: Any) -> Any:
    """The structure with these values in these fields; its container stays.

    Takes a `Struct`, a mapping, a named tuple, a dataclass or an attrs class.

    >>> update_struct({"rate": 0.1, "round": 3}, rate=0.05)
    {'rate': 0.05, 'round': 3}

    Raises:
        StructureError: if there is no field of that name.
    """
    names = _names(structure)
    unknown = [name for name in fields if name not in names]
    if unknown:
        raise StructureError(
            "a structure has no field of this name",
            expected=", ".join(map(str, names)),
            found=", ".join(unknown),
        )
    if isinstance(structure, Struct):
        pairs = structure.items()
        return Struct((name, fields.get(name or "", value)) for name, value in pairs)
    if hasattr(structure, "_replace"):
        return structure._replace(**fields)
    if dataclasses.is_dataclass(structure) and not isinstance(structure, type):
        return dataclasses.replace(structure, **fields)
    if hasattr(structure, "__attrs_attrs__"):
        kept = {name: getattr(structure, name) for name in names}
        return type(structure)(**{**kept, **fields})
    return type(structure)({**structure, **fields})


def _names(structure: Any) -> list[Any]:
    if isinstance(structure, Struct):
        return list(structure.names())
    if dataclasses.is_dataclass(structure):
        return [field.name for field in dataclasses.fields(structure)]
    if hasattr(structure, "__attrs_attrs__"):
        return [each.name for each in structure.__attrs_attrs__]
    return list(getattr(structure, "_fields", structure))


# As a package has one: then `from … import` asks for a submodule, and is answered.
__path__: list[str] = []

__getattr__ = answering("fedlearn_edu.tff.structure", __all__)
