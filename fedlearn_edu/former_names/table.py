# SPDX-License-Identifier: Apache-2.0
"""Names people bring along that are not here, and what to write in their place.

Each public room hands a name it does not have to `unknown`, and raises what it gets
back. The table is all there is to know about such a name; `docs/from_tff.md` shows it.
"""

import difflib
import opcode
import re
import sys
from collections.abc import Collection
from functools import cache
from typing import NamedTuple, final

from fedlearn_edu.errors import FedLearnError, FieldError

_OURS = re.compile(r"fedlearn_edu\b")
_SUMMARIES = {
    "never": "the ancestor never had {path}",
    "renamed": "{path} is now called {here}",
    "gone": "{path} of the ancestor is not here",
}

# == who is asked for the name
# name | what became of it | where people meet it | what works
#   one line that runs
_TABLE = """
== fedlearn_edu
federated_averaging | never | web answers | fl.federated_mean
  fl.federated_mean(fl.place([1.0, 3.0], fl.CLIENTS), fl.place([1, 3], fl.CLIENTS))
federated_average | renamed | 0.1 to 0.2 | fl.federated_mean
  fl.federated_mean(fl.place([1.0, 3.0], fl.CLIENTS))
sequence_average | never | second tutorial until 0.18 | fl.sequence_sum, divided
  fl.sequence_sum([1.0, 2.0, 6.0]) / 3
federated_eval_at_clients | renamed | printed trees | fl.federated_eval
  fl.federated_computation(lambda: fl.federated_eval(
  fl.np_computation(lambda: np.float32(1)), fl.CLIENTS))
federated_eval_at_server | renamed | printed trees | fl.federated_eval
  fl.federated_eval(fl.np_computation(lambda: np.float32(1)), fl.SERVER)
federated_map_all_equal | renamed | printed trees | fl.federated_map
  fl.federated_map(fl.np_computation(lambda x: x + 1), fl.place([1, 2], fl.CLIENTS))
federated_value_at_clients | renamed | printed trees | fl.federated_value
  fl.federated_value(1, fl.CLIENTS)
federated_value_at_server | renamed | printed trees | fl.federated_value
  fl.federated_value(1, fl.SERVER)
federated_zip_at_clients | renamed | printed trees | fl.federated_zip
  fl.federated_zip([fl.place([1, 2], fl.CLIENTS), fl.place([3, 4], fl.CLIENTS)])
federated_zip_at_server | renamed | printed trees | fl.federated_zip
  fl.federated_zip([fl.place(1, fl.SERVER), fl.place(2, fl.SERVER)])
NamedTupleType | renamed | 0.1 to 0.15 | fl.StructType
  fl.StructType([("x", np.float32), ("y", np.int32)])
to_value | gone | since 0.1 | a constant, just as it is
  fl.federated_computation(lambda x: [x, 10], np.int32)(1)
tensorflow | gone | second tutorial since 0.71 | fl.tf_computation
  fl.tf_computation(lambda x: x + 1, np.int32)(1)
aggregators | gone | since 0.17 | fl.federated_max, fl.federated_min, fl.federated_mean
  fl.federated_max(fl.place([1.0, 4.0, 2.0], fl.CLIENTS))
utils | gone | 0.1 to 0.18 | fl.federated_max, fl.federated_min
  fl.federated_max(fl.place([1.0, 4.0, 2.0], fl.CLIENTS))
templates | gone | since 0.14 | a state, and a loop that calls a computation
  step = fl.np_computation(lambda state: state + 1, np.int32); state = step(step(0))
backends | gone | since 0.8 | fl.set_default_context
  fl.set_default_context(fl.framework.SyncExecutionContext(
  fl.framework.local_executor_factory(support_sequence_ops=True)))
test | gone | second tutorial, 0.14 to 0.16 | fl.framework.ReferenceContext
  fl.set_default_context(fl.framework.ReferenceContext())

== fedlearn_edu.framework
executor_base | never | executor page | fl.framework.Executor
  issubclass(fl.framework.FederatingExecutor, fl.framework.Executor)
executor_value_base | never | executor page | fl.framework.ExecutorValue
  issubclass(fl.framework.Handle, fl.framework.ExecutorValue)
intrinsic_defs | never | executor page | fl.framework.IntrinsicDef
  isinstance(fl.framework.intrinsic_named("federated_mean"), fl.framework.IntrinsicDef)
placement_literals | never | executor page | fl.CLIENTS, fl.SERVER
  isinstance(fl.CLIENTS, fl.types.Placement)
PlacementLiteral | renamed | since 0.22 | fl.types.Placement
  isinstance(fl.SERVER, fl.types.Placement)
pb | never | executor page | fl.framework.ir, and .tree of a computation
  fl.np_computation(lambda x: x + 1, np.int32).tree
CompiledComputation | renamed | since 0.5 | fl.framework.ir.Leaf
  isinstance(fl.np_computation(lambda x: x + 1, np.int32).tree, fl.framework.ir.Leaf)
Intrinsic | renamed | since 0.5 | fl.framework.ir.Intrinsic
  fl.framework.ir.Intrinsic("sequence_sum", fl.parse_type("(int32* -> int32)"))
Lambda | renamed | since 0.5 | fl.framework.ir.Lambda
  isinstance(fl.federated_computation(lambda: 1).tree, fl.framework.ir.Lambda)
serialize_computation | gone | since 0.14 | pickle
  import pickle; data = pickle.dumps(fl.federated_computation(lambda: 1))
FederatedStrategy | never | executor page | fl.framework.FederatingStrategy
  issubclass(fl.framework.FederatedResolvingStrategy, fl.framework.FederatingStrategy)
LambdaExecutor | renamed | until 0.12 | fl.framework.ReferenceResolvingExecutor
  fl.framework.ReferenceResolvingExecutor(fl.framework.NumPyExecutor())
EagerExecutor | renamed | until 0.12 | fl.framework.EagerTFExecutor
  fl.framework.EagerTFExecutor()
ConcurrentExecutor | renamed | until 0.12 | fl.framework.ThreadDelegatingExecutor
  fl.framework.ThreadDelegatingExecutor(fl.framework.NumPyExecutor()).close()
CompositeExecutor | renamed | until 0.12 | fl.framework.FederatedComposingStrategy
  fl.framework.local_executor_factory(max_fanout=2)
ComposingExecutor | renamed | 0.13, 0.14 | fl.framework.FederatedComposingStrategy
  fl.framework.local_executor_factory(max_fanout=2)
CachingExecutor | gone | until 0.19 | fl.place, which converts data once
  x = fl.place([1.0, 2.0], fl.CLIENTS); y = [fl.federated_mean(x), fl.federated_max(x)]
TransformingExecutor | gone | until 0.48 | fl.framework.compile_tree
  fl.framework.compile_tree(fl.federated_computation(lambda: 1).tree, native=set())
DataExecutor | gone | 0.19 to 0.53 | data as arguments, or fl.place
  fl.federated_sum(fl.place([1, 2, 3], fl.CLIENTS))
ReferenceExecutor | renamed | 0.12, 0.13 | fl.framework.ReferenceContext
  fl.framework.set_default_context(fl.framework.ReferenceContext())
set_default_executor | renamed | until 0.14 | fl.framework.set_default_context
  fl.framework.set_default_context(fl.simulation.build_inprocess_environment())
create_local_executor | renamed | until 0.11 | fl.framework.local_executor_factory
  fl.framework.local_executor_factory(default_num_clients=3)
local_cpp_executor_factory | gone | since 0.55 | fl.framework.local_executor_factory
  fl.framework.local_executor_factory(default_num_clients=3)
create_executor_factory | renamed | 0.13 to 0.16 | fl.framework.CustomExecutorFactory
  fl.framework.CustomExecutorFactory(lambda counts: fl.framework.NumPyExecutor(), [])
ResourceManagingExecutorFactory | renamed | 0.17 on | fl.framework.CustomExecutorFactory
  fl.framework.CustomExecutorFactory(lambda counts: fl.framework.NumPyExecutor(), [])
RemoteExecutor | gone | since 0.12 | one process: fl.framework.local_executor_factory
  fl.framework.local_executor_factory(clients_per_thread=2)
remote_executor_factory | gone | 0.17 to 0.49 | fl.framework.local_executor_factory
  fl.framework.local_executor_factory(clients_per_thread=2)
SyncContext | renamed | since 0.38 | fl.framework.Context
  issubclass(fl.framework.SyncExecutionContext, fl.framework.Context)
AsyncContext | renamed | since 0.38 | fl.framework.Context
  issubclass(fl.framework.AsyncExecutionContext, fl.framework.Context)

== fedlearn_edu.simulation
set_default_context | never | with its environments | fl.set_default_context
  fl.set_default_context(fl.simulation.build_inprocess_environment())
run_server | gone | 0.12 to 0.53 | fl.simulation.build_inprocess_environment
  fl.simulation.build_inprocess_environment(num_clients=2).close()

== fedlearn_edu.simulation.datasets
ClientData | renamed | since 0.19 | fl.simulation.ClientData
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]]).place()
emnist | gone | other tutorials | fl.simulation.datasets.load
  fl.simulation.datasets.load("digits28")

== fedlearn_edu.learning
models | gone | web answers | a structure of weights, and a function of it
  fl.np_computation(lambda model, x: model["w"] * x)({"w": 2.0}, 3.0)
from_keras_model | gone | 0.1 to 0.52 | fl.tf_computation
  fl.tf_computation(lambda w, x: fl.tf.nn.softmax(w * x))(np.ones(10), np.ones(10))
federated_averaging | never | second tutorial | fl.federated_mean of models
  fl.federated_mean(fl.place([1.0, 3.0], fl.CLIENTS), fl.place([1, 3], fl.CLIENTS))
build_federated_averaging_process | gone | 0.1 to 0.27 | fl.federated_mean of models
  fl.federated_mean(fl.federated_map(fl.np_computation(lambda m, x: m - 0.1 * (m - x)),
  [fl.federated_broadcast(fl.place(0.0, fl.SERVER)), fl.place([1.0, 3.0], fl.CLIENTS)]))
build_weighted_averaging_process | never | web answers | fl.federated_mean with a weight
  fl.federated_mean(fl.place([1.0, 3.0], fl.CLIENTS), fl.place([1, 3], fl.CLIENTS))
algorithms | gone | since 0.20 | fl.federated_map, fl.federated_mean
  fl.federated_mean(fl.federated_map(fl.np_computation(lambda m, x: m - 0.1 * (m - x)),
  [fl.federated_broadcast(fl.place(0.0, fl.SERVER)), fl.place([1.0, 3.0], fl.CLIENTS)]))
build_federated_evaluation | gone | 0.1 to 0.79 | fl.federated_mean of losses
  fl.federated_mean(fl.federated_map(fl.np_computation(lambda m, x: (m - x) ** 2),
  [fl.federated_broadcast(fl.place(0.0, fl.SERVER)), fl.place([1.0, 3.0], fl.CLIENTS)]))

== computation
create_computation | never | web answers | create_computation of an environment
  fl.simulation.build_inprocess_environment().create_computation(
  fl.np_computation(lambda x: x + 1, np.int32))(1)
initialize | gone | processes | the first state, made by you
  step = fl.np_computation(lambda state: state + 1, np.int32); state = step(0)
next | gone | processes | a call: it takes a state and returns the next one
  step = fl.np_computation(lambda state: state + 1, np.int32); state = step(step(0))
compile | never | web answers | a call: it compiles by itself
  fl.np_computation(lambda model, x: model - 0.1 * (model - x))(0.0, 3.0)
fit | never | web answers | a call: it takes a model and data, and returns a model
  fl.np_computation(lambda model, x: model - 0.1 * (model - x))(0.0, 3.0)
weights | never | web answers | the result of a call
  weights = fl.np_computation(lambda model, x: model - 0.1 * (model - x))(0.0, 3.0)
invoke | never | contexts | a call
  fl.np_computation(lambda x: x + 1, np.int32)(1)
compute | never | executor values | a call
  fl.np_computation(lambda x: x + 1, np.int32)(1)
to_building_block | renamed | since 0.12 | .tree
  fl.np_computation(lambda x: x + 1, np.int32).tree
"""


@final
class FormerName(NamedTuple):
    """One row: a name, what became of it, and what to write."""

    home: str
    name: str
    fate: str
    met: str
    here: str
    example: str

    @property
    def path(self) -> str:
        """The name as people write it behind `fl.` or `tff.`."""
        return f"{self.home}.{self.name}".removeprefix("fedlearn_edu.")


@final
class UnknownNameError(FedLearnError, ImportError):
    """`from fedlearn_edu import …` asked for a name that is not there."""


@cache
def former_names() -> dict[tuple[str, str], FormerName]:
    """The rows, by room and name."""
    rows = {}
    for room in _TABLE.split("\n== ")[1:]:
        home, _, entries = room.partition("\n")
        for entry in re.split(r"\n(?=\w)", entries.strip()):
            head, *lines = entry.split("\n  ")
            example = " ".join(lines).replace("( ", "(")
            row = FormerName._make([home, *head.split(" | "), example])
            rows[home, row.name] = row
    return rows


def unknown(home: str, name: str, known: Collection[str]) -> FedLearnError:
    """The error for a name that `home` does not have, with what to write instead."""
    error = UnknownNameError if _by_from_import(home, name) else FieldError
    row = former_names().get((home, name))
    if row:
        return error(
            _SUMMARIES[row.fate].format(path=row.path, here=row.here),
            expected=row.here,
            found=f"{name} ({row.met})",
            do=row.example,
        )
    near = difflib.get_close_matches(name, known, n=1)
    few = ", ".join(known) or "nothing so far"
    return error(
        f"{home} has no {name!r}",
        expected=f"one of {home}.__all__" if len(known) > 9 else few,
        found=name,
        do=f"did you mean {near[0]}?" if near and name[0] != "_" else None,
    )


def _by_from_import(home: str, name: str) -> bool:
    """Whether `from home import name` is asking: it would swallow a `FieldError`."""
    frame = sys._getframe()
    while frame.f_back and _OURS.match(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    operation = opcode.opname[frame.f_code.co_code[frame.f_lasti]]
    return operation == "IMPORT_FROM" and f"{home}.{name}" not in sys.modules
