# SPDX-License-Identifier: Apache-2.0
"""What a value may be: types, their notation, and the way in and out of Python.

Read `definitions.py` (the kinds of types) and `containers.py` (values in and out).
"""

from typing import Never

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.former_names import unknown
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.containers import normalize, restore
from fedlearn_edu.types.data_types import infer_type, to_type
from fedlearn_edu.types.definitions import (
    CLIENTS,
    SERVER,
    AbstractType,
    FederatedType,
    FunctionType,
    Placement,
    PlacementType,
    SequenceType,
    StructType,
    StructWithPythonType,
    TensorType,
    type_at_clients,
    type_at_server,
)
from fedlearn_edu.types.notation import format_type, parse_type
from fedlearn_edu.types.relations import (
    check_sum_compatible,
    is_average_compatible,
    is_structure_of_integers,
    is_sum_compatible,
    is_tensorflow_compatible,
    substitute,
    unify,
)

__all__ = [
    "CLIENTS",
    "SERVER",
    "AbstractType",
    "FederatedType",
    "FunctionType",
    "Placement",
    "PlacementType",
    "SequenceType",
    "StructType",
    "StructWithPythonType",
    "TensorType",
    "Type",
    "check_sum_compatible",
    "format_type",
    "infer_type",
    "is_average_compatible",
    "is_structure_of_integers",
    "is_sum_compatible",
    "is_tensorflow_compatible",
    "normalize",
    "parse_type",
    "restore",
    "substitute",
    "to_type",
    "type_at_clients",
    "type_at_server",
    "unify",
]


@short_traceback
def __getattr__(name: str) -> Never:
    raise unknown("fedlearn_edu.types", name, __all__)
