# SPDX-License-Identifier: Apache-2.0
"""Federated computation you can open and step through.

These are the names for writing programs: `import fedlearn_edu as fl`, or `as tff` for
existing ones. `fedlearn_edu.framework` has those for writing executors and strategies.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fedlearn_edu import framework, simulation, structure
from fedlearn_edu import types as types
from fedlearn_edu.contexts.execution import SyncExecutionContext, record, timeout
from fedlearn_edu.contexts.factories import local_executor_factory
from fedlearn_edu.dataflow.server_view import what_the_server_sees
from fedlearn_edu.errors import FedLearnError, short_traceback
from fedlearn_edu.former_names import unknown
from fedlearn_edu.language.aggregation import (
    federated_aggregate,
    federated_collect,
    federated_max,
    federated_min,
    federated_reduce,
    federated_sum,
)
from fedlearn_edu.language.averages import federated_mean, federated_weighted_mean
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.context_stack import set_default_context
from fedlearn_edu.language.decorator import check_returns_type
from fedlearn_edu.language.federated_computation import federated_computation
from fedlearn_edu.language.federated_value import FederatedValue
from fedlearn_edu.language.mapping import federated_apply, federated_map, federated_zip
from fedlearn_edu.language.movement import (
    federated_broadcast,
    federated_compute,
    federated_eval,
    federated_select,
    federated_value,
)
from fedlearn_edu.language.place import place
from fedlearn_edu.language.secure import (
    federated_secure_modular_sum,
    federated_secure_sum,
    federated_secure_sum_bitwidth,
)
from fedlearn_edu.language.sequences import sequence_map, sequence_reduce, sequence_sum
from fedlearn_edu.runtimes.numpy.computation import np_computation
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    AbstractType,
    FederatedType,
    FunctionType,
    PlacementType,
    SequenceType,
    StructType,
    StructWithPythonType,
    TensorType,
    Type,
    parse_type,
    to_type,
    type_at_clients,
    type_at_server,
)

if TYPE_CHECKING:
    from fedlearn_edu import attacks, backends, learning, remote
    from fedlearn_edu.learning import federated_averaging as federated_averaging
    from fedlearn_edu.runtimes.tensorflow.computation import tf_computation
    from fedlearn_edu.runtimes.tensorflow.library import tf

# version: written by `make release` from pyproject.toml
__version__ = "0.1.0"
# end of version


@short_traceback
def __getattr__(name: str) -> Any:
    # Written with the names of this module, so it is imported after them.
    if name in ("learning", "federated_averaging"):
        learning = import_module("fedlearn_edu.learning")
        return learning if name == "learning" else learning.federated_averaging
    if name == "viz":  # imports this module, so it comes later
        return import_module("fedlearn_edu.viz")
    if name in ("attacks", "backends", "remote"):  # the last needs Dask
        return import_module(f"fedlearn_edu.{name}")
    # The two names here that need TensorFlow, and load it without a word on stderr.
    if name == "tf_computation":
        from fedlearn_edu.runtimes.tensorflow.computation import tf_computation

        return tf_computation
    if name == "tf":
        from fedlearn_edu.runtimes.tensorflow.library import tf

        return tf
    raise unknown("fedlearn_edu", name, __all__)


def _default_context() -> SyncExecutionContext:
    return SyncExecutionContext(local_executor_factory(support_sequence_ops=True))


set_default_context(_default_context)

if "IPython" in sys.modules:  # then viz draws objects in notebooks
    import_module("fedlearn_edu.viz.notebook").hook_in()

__all__ = [
    "CLIENTS",
    "SERVER",
    "AbstractType",
    "Computation",
    "FedLearnError",
    "FederatedType",
    "FederatedValue",
    "FunctionType",
    "PlacementType",
    "SequenceType",
    "Struct",
    "StructType",
    "StructWithPythonType",
    "TensorType",
    "Type",
    "attacks",
    "backends",
    "check_returns_type",
    "federated_aggregate",
    "federated_apply",
    "federated_broadcast",
    "federated_collect",
    "federated_compute",
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
    "federated_weighted_mean",
    "federated_zip",
    "framework",
    "learning",
    "np_computation",
    "parse_type",
    "place",
    "record",
    "remote",
    "sequence_map",
    "sequence_reduce",
    "sequence_sum",
    "set_default_context",
    "simulation",
    "structure",
    "tf",
    "tf_computation",
    "timeout",
    "to_type",
    "type_at_clients",
    "type_at_server",
    "types",
    "viz",
    "what_the_server_sees",
]
