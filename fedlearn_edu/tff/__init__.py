# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Federated's own names: its tutorials run with one changed line.

>>> import fedlearn_edu.tff as tff  # was: import tensorflow_federated as tff

The language is that of `fedlearn_edu`. `learning`, `aggregators`, `templates` and
`simulation` are TFF's, over it. `docs/tutorials_that_run.md` says which notebooks run,
and where they differ.
"""

from typing import Any

from fedlearn_edu import (
    CLIENTS,
    SERVER,
    AbstractType,
    Computation,
    FederatedType,
    FunctionType,
    PlacementType,
    SequenceType,
    StructType,
    StructWithPythonType,
    TensorType,
    Type,
    backends,
    check_returns_type,
    federated_aggregate,
    federated_apply,
    federated_broadcast,
    federated_collect,
    federated_computation,
    federated_eval,
    federated_map,
    federated_max,
    federated_mean,
    federated_min,
    federated_reduce,
    federated_secure_modular_sum,
    federated_secure_sum,
    federated_secure_sum_bitwidth,
    federated_select,
    federated_sum,
    federated_value,
    federated_zip,
    framework,
    sequence_map,
    sequence_reduce,
    sequence_sum,
    tf_computation,
    to_type,
    type_at_clients,
    type_at_server,
)
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.former_names import unknown
from fedlearn_edu.tff import (
    aggregators,
    learning,
    simulation,
    structure,
    templates,
    tensorflow,
    types,
)

__all__ = [
    "CLIENTS",
    "SERVER",
    "AbstractType",
    "Computation",
    "FederatedType",
    "FunctionType",
    "PlacementType",
    "SequenceType",
    "StructType",
    "StructWithPythonType",
    "TensorType",
    "Type",
    "aggregators",
    "backends",
    "check_returns_type",
    "federated_aggregate",
    "federated_apply",
    "federated_broadcast",
    "federated_collect",
    "federated_computation",
    "federated_eval",
    "federated_map",
    "federated_max",
    "federated_mean",
    "federated_min",
    "federated_reduce",
    "federated_secure_modular_sum",
    "federated_secure_sum",
    "federated_secure_sum_bitwidth",
    "federated_select",
    "federated_sum",
    "federated_value",
    "federated_zip",
    "framework",
    "learning",
    "sequence_map",
    "sequence_reduce",
    "sequence_sum",
    "simulation",
    "structure",
    "templates",
    "tensorflow",
    "tf_computation",
    "to_type",
    "type_at_clients",
    "type_at_server",
    "types",
]


@short_traceback
def __getattr__(name: str) -> Any:
    raise unknown("fedlearn_edu.tff", name, __all__)
