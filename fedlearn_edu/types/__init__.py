# SPDX-License-Identifier: Apache-2.0
"""What a value may be: types, their notation, and the way in and out of Python.

Read `definitions.py` (the kinds of types) and `containers.py` (values in and out).
"""

from typing import Never as _Never

from fedlearn_edu.errors import short_traceback as _short_traceback
from fedlearn_edu.former_names import unknown as _unknown
from fedlearn_edu.types.base import Type as Type
from fedlearn_edu.types.base import to_type as to_type
from fedlearn_edu.types.containers import normalize as normalize
from fedlearn_edu.types.containers import restore as restore
from fedlearn_edu.types.definitions import CLIENTS as CLIENTS
from fedlearn_edu.types.definitions import SERVER as SERVER
from fedlearn_edu.types.definitions import AbstractType as AbstractType
from fedlearn_edu.types.definitions import FederatedType as FederatedType
from fedlearn_edu.types.definitions import FunctionType as FunctionType
from fedlearn_edu.types.definitions import Placement as Placement
from fedlearn_edu.types.definitions import PlacementType as PlacementType
from fedlearn_edu.types.definitions import SequenceType as SequenceType
from fedlearn_edu.types.definitions import StructType as StructType
from fedlearn_edu.types.definitions import StructWithPythonType as StructWithPythonType
from fedlearn_edu.types.definitions import TensorType as TensorType
from fedlearn_edu.types.definitions import type_at_clients as type_at_clients
from fedlearn_edu.types.definitions import type_at_server as type_at_server
from fedlearn_edu.types.notation import format_type as format_type
from fedlearn_edu.types.notation import parse_type as parse_type
from fedlearn_edu.types.python_types import infer_type as infer_type
from fedlearn_edu.types.relations import check_sum_compatible as check_sum_compatible
from fedlearn_edu.types.relations import is_average_compatible as is_average_compatible
from fedlearn_edu.types.relations import (
    is_structure_of_integers as is_structure_of_integers,
)
from fedlearn_edu.types.relations import is_sum_compatible as is_sum_compatible
from fedlearn_edu.types.relations import (
    is_tensorflow_compatible as is_tensorflow_compatible,
)
from fedlearn_edu.types.relations import substitute as substitute
from fedlearn_edu.types.relations import unify as unify

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


@_short_traceback
def __getattr__(name: str) -> _Never:
    raise _unknown("fedlearn_edu.types", name, __all__)
