# SPDX-License-Identifier: Apache-2.0
"""What a value may be: types, their notation, and the way in and out of Python.

Every floor above takes its types from here. Nothing here runs, traces or compiles.
"""

from fedlearn_edu.types.base import Type
from fedlearn_edu.types.containers import normalize, restore
from fedlearn_edu.types.definitions import (
    AbstractType,
    FederatedType,
    FunctionType,
    PlacementType,
    SequenceType,
    StructType,
    TensorType,
    type_at_clients,
    type_at_server,
)
from fedlearn_edu.types.denotation import to_type
from fedlearn_edu.types.differences import Difference
from fedlearn_edu.types.inference import infer_type
from fedlearn_edu.types.notation import format_type, parse_type
from fedlearn_edu.types.placements import (
    CLIENTS,
    SERVER,
    Placement,
    placement_from_name,
)
from fedlearn_edu.types.predicates import (
    check_sum_compatible,
    is_average_compatible,
    is_numeric_scalar,
    is_structure_of_floats,
    is_structure_of_integers,
    is_sum_compatible,
    is_tensorflow_compatible,
)
from fedlearn_edu.types.relations import substitute, unify
from fedlearn_edu.types.sequences import DatasetSequence, LazySequence
from fedlearn_edu.types.shapes import UNRANKED
from fedlearn_edu.types.struct_type import StructWithPythonType

__all__ = [
    "CLIENTS",
    "SERVER",
    "UNRANKED",
    "AbstractType",
    "DatasetSequence",
    "Difference",
    "FederatedType",
    "FunctionType",
    "LazySequence",
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
    "is_numeric_scalar",
    "is_structure_of_floats",
    "is_structure_of_integers",
    "is_sum_compatible",
    "is_tensorflow_compatible",
    "normalize",
    "parse_type",
    "placement_from_name",
    "restore",
    "substitute",
    "to_type",
    "type_at_clients",
    "type_at_server",
    "unify",
]
