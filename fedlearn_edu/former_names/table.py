# SPDX-License-Identifier: Apache-2.0
"""Former names of the language and its machine.

== who is asked for them, several with & between them
name, name | what became of them | where people meet them | what works
  one line that runs
"""

TABLE = """
== fedlearn_edu & fedlearn_edu.tff
federated_average | renamed | 0.1 to 0.2 | fl.federated_mean
  fl.federated_mean(fl.place([1.0, 3.0], fl.CLIENTS))
sequence_average | never | second tutorial until 0.18 | fl.sequence_sum, divided
  fl.sequence_sum([1.0, 2.0, 6.0]) / 3
federated_eval_at_clients | renamed | printed trees | fl.federated_eval
  fl.federated_computation(lambda: fl.federated_eval(\
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
utils | gone | 0.1 to 0.18 | fl.federated_max, fl.federated_min
  fl.federated_max(fl.place([1.0, 4.0, 2.0], fl.CLIENTS))
analytics | gone | since 0.20 \
| fl.federated_secure_sum; docs/analytics.md counts and finds
  fl.federated_secure_sum(fl.place(np.int32([[1, 0, 2], [0, 3, 1]]), fl.CLIENTS), 3)
program | gone | since 0.20 | fl.learning.run, or a loop
  process = fl.learning.build_fed_avg(fl.learning.models.softmax_regression(1, 2)); \
fl.learning.run(process, [[{"x": [[0], [1]], "y": [0, 1]}]], rounds=2)
federated_secure_select | gone | since 0.19 | fl.federated_select, which hides no key
  fl.federated_select(fl.place(np.int32([[0], [2]]), fl.CLIENTS), \
fl.place(3, fl.SERVER), fl.place(10, fl.SERVER), \
fl.np_computation(lambda x, key: x + key))
test | gone | second tutorial, 0.14 to 0.16 | fl.framework.ReferenceContext
  fl.set_default_context(fl.framework.ReferenceContext())
jax, jax_computation, experimental_jax_computation, experimental | gone | since 0.19 \
| fl.np_computation, fl.tf_computation
  fl.np_computation(lambda x: x + 1, np.int32)(1)
experimental_tf_fn_computation | gone | 0.54 | fl.tf_computation
  fl.tf_computation(lambda x: x + 1, np.int32)(1)
Value | renamed | since 0.1 | fl.framework.Value
  fl.framework.Value
TypedObject | gone | since 0.9 | .type_signature
  hasattr(fl.federated_computation(lambda: 1), "type_signature")
async_utils | gone | 0.54 | fl.framework.AsyncExecutionContext
  fl.framework.AsyncExecutionContext(fl.framework.local_executor_factory())
data | gone | 0.20 to 0.54 | data as arguments
  fl.federated_sum(fl.place([1, 2, 3], fl.CLIENTS))
profiler | gone | since 0.20 | fl.record
  with fl.record() as tape: fl.federated_sum(fl.place([1, 2], fl.CLIENTS)); \
tape.events

== fedlearn_edu
aggregators | tff | since 0.17 | fl.learning.aggregators
  a = fl.learning.aggregators; a.clipping(a.mean(), norm=1.0)
templates | tff | since 0.14 | fl.learning.LearningProcess, or a state and a loop
  step = fl.np_computation(lambda state: state + 1, np.int32); state = step(step(0))
tensorflow | tff | second tutorial since 0.71 | fl.tf_computation
  fl.tf_computation(lambda x: x + 1, np.int32)(1)

== fedlearn_edu & fedlearn_edu.tff & fedlearn_edu.types & fedlearn_edu.framework
structure_from_tensor_type_tree, type_to_tf_tensor_specs | gone | 0.14 on \
| fl.structure.tree_map
  fl.structure.tree_map(lambda t: np.zeros(t.shape), fl.to_type([("a", np.int32)]))

== fedlearn_edu.types & fedlearn_edu.framework
type_from_tensors | renamed | until 0.68 | fl.types.infer_type
  fl.types.infer_type(np.float32(1))
is_tensorflow_compatible_type | renamed | since 0.14 | fl.types.is_tensorflow_compatible
  fl.types.is_tensorflow_compatible(fl.to_type(np.int32))
serialize_type, deserialize_type | gone | since 0.14 | str of a type, and fl.parse_type
  fl.parse_type(str(fl.type_at_clients(np.int32)))

== fedlearn_edu.types
tensorflow_to_type | renamed | 0.68 to 0.88 | fl.to_type
  fl.to_type(fl.tf.TensorSpec([3], fl.tf.float32))
infer_unplaced_type | renamed | deprecated in 0.68 | fl.types.infer_type
  fl.types.infer_type(np.float32(1))
at_clients | renamed | until 0.67 | fl.type_at_clients
  fl.type_at_clients(np.int32)
at_server | renamed | until 0.67 | fl.type_at_server
  fl.type_at_server(np.int32)
UNRANKED | left | here, at first | a size for each axis, None where it varies
  fl.TensorType(np.float32, [None, 3])
TypeNotAssignableError | renamed | since 0.54 | fl.errors.TypeNotAssignableError
  issubclass(fl.errors.TypeNotAssignableError, TypeError)
TypesNotEquivalentError, TypesNotIdenticalError, UnexpectedTypeError, TypeRelation, \
type_mismatch_error_message | gone | since 0.54 | .check_assignable_from, or == of types
  fl.to_type(np.int32) == fl.to_type(np.int32)
contains, contains_only, count | gone | since 0.20 | .contains of a type
  fl.parse_type("<int32,bool*>").contains(lambda part: part.is_sequence())
is_structure_of_floats, is_structure_of_tensors | gone | 0.20 on \
| fl.types.is_average_compatible
  fl.types.is_average_compatible(fl.to_type([np.float32, np.float64]))
ArrayShape, is_shape_fully_defined, num_elements_in_shape | gone | 0.82 \
| .shape of a type
  fl.to_type((np.int32, [2, 3])).shape
type_to_py_container | renamed | since 0.20 | fl.types.restore
  fl.types.restore((1, 2), fl.to_type([np.int32, np.int32]))

== fedlearn_edu.framework
Block, Call, Intrinsic, Lambda, Literal, Reference, Selection, Struct | renamed \
| since 0.5 | fl.framework.ir.{name}
  fl.framework.ir.{name}
CompiledComputation | renamed | since 0.5 | fl.framework.ir.Leaf
  isinstance(fl.np_computation(lambda x: x + 1, np.int32).tree, fl.framework.ir.Leaf)
Placement | renamed | since 0.5 | fl.framework.ir.PlacementLiteral
  fl.framework.ir.PlacementLiteral(fl.CLIENTS)
Tuple | renamed | until 0.15 | fl.framework.ir.Struct
  fl.framework.ir.Struct(())
ComputationBuildingBlock | renamed | since 0.5 | fl.framework.ir.Node
  isinstance(fl.federated_computation(lambda: 1).tree, fl.framework.ir.Node)
ConcreteComputation, building_block_to_computation | renamed | 0.14 on \
| fl.framework.Computation
  fl.framework.Computation(fl.federated_computation(lambda: 1).tree, "again")()
FEDERATED_AGGREGATE, FEDERATED_APPLY, FEDERATED_BROADCAST, FEDERATED_MAP, \
FEDERATED_MAP_ALL_EQUAL | gone | 0.14 | fl.framework.intrinsic_named
  fl.framework.intrinsic_named("federated_map")
CardinalitiesType, merge_cardinalities | gone | 0.54 on \
| fl.framework.infer_cardinalities
  fl.framework.infer_cardinalities([1, 2], fl.type_at_clients(np.int32))
ContextStack, get_context_stack | gone | since 0.14 | fl.framework.set_default_context
  fl.framework.set_default_context(fl.framework.ReferenceContext())
MergeableCompForm, MergeableCompExecutionContext | gone | 0.20 on | groups of clients
  fl.framework.local_executor_factory(max_fanout=2)
RetryableError | gone | since 0.54 | fl.remote.ClusterError
  issubclass(fl.remote.ClusterError, Exception)
are_equivalent_types, is_assignable_from | gone | until 0.14 \
| .is_assignable_from of a type
  fl.parse_type("int32[?]").is_assignable_from(fl.parse_type("int32[3]"))
get_session_token | gone | 0.54 | fl.tf_computation
  fl.tf_computation(lambda x: x + 1, np.int32)(1)
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
serialize_computation, deserialize_computation, serialize_value, deserialize_value \
| gone | since 0.14 | pickle
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
TransformingExecutor, TFParser, UnexpectedBlockError, check_allowed_ops, \
check_disallowed_ops, check_broadcast_not_dependent_on_aggregate, \
check_has_unique_names, check_intrinsics_whitelisted_for_reduction, \
create_federated_map_all_equal, create_federated_map_or_apply, create_federated_zip, \
get_map_of_unbound_references, inline_block_locals, \
insert_called_tf_identity_at_leaves, \
is_called_intrinsic, merge_tuple_intrinsics, remove_lambdas_and_blocks, \
remove_mapped_or_applied_identity, replace_called_lambda_with_block, \
replace_intrinsics_with_bodies, transform_postorder, transform_type_postorder, \
unique_name_generator, uniquify_reference_names, unwrap_placement | gone \
| until 0.54 | fl.framework.compile_tree
  fl.framework.compile_tree(fl.federated_computation(lambda: 1).tree, native=set())
SizingExecutor, SizingExecutorFactory | gone | until 0.47 \
| fl.framework.sizing_executor_factory
  fl.framework.sizing_executor_factory().get_size_info().bytes_up
DataExecutor, Data, DataBackend, DataDescriptor, CreateDataDescriptor, \
CardinalityFreeDataDescriptor, CardinalityCarrying, Ingestable | gone | since 0.19 \
| data as arguments, or place of fl.remote.Cluster
  fl.federated_sum(fl.place([1, 2, 3], fl.CLIENTS))
ReferenceExecutor | renamed | 0.12, 0.13 | fl.framework.ReferenceContext
  fl.framework.set_default_context(fl.framework.ReferenceContext())
set_default_executor | renamed | until 0.14 | fl.framework.set_default_context
  fl.framework.set_default_context(fl.simulation.build_inprocess_environment())
create_local_executor | renamed | until 0.11 | fl.framework.local_executor_factory
  fl.framework.local_executor_factory(default_num_clients=3)
local_cpp_executor_factory | gone | since 0.55 | fl.framework.local_executor_factory
  fl.framework.local_executor_factory(default_num_clients=3)
create_executor_factory, ComposingExecutorFactory, UnplacedExecutorFactory, \
ReconstructOnChangeExecutorFactory | renamed | 0.13 to 0.53 \
| fl.framework.CustomExecutorFactory
  fl.framework.CustomExecutorFactory(lambda counts: fl.framework.NumPyExecutor(), [])
ResourceManagingExecutorFactory | renamed | 0.17 on | fl.framework.CustomExecutorFactory
  fl.framework.CustomExecutorFactory(lambda counts: fl.framework.NumPyExecutor(), [])
RemoteExecutor, RemoteExecutorStub, worker_pool_executor_factory | gone | 0.12 on \
| fl.framework.remote_executor_factory
  fl.remote.local(workers=1, processes=False).close()
remote_executor_factory_from_stubs | gone | 0.17 to 0.53 | fl.remote.connect
  fl.remote.local(workers=1, processes=False).close()
ExecutorService | gone | 0.12 to 0.53 | fl.remote.connect, to workers of Dask
  fl.remote.local(workers=1, processes=False).close()
SyncContext | renamed | since 0.38 | fl.framework.Context
  issubclass(fl.framework.SyncExecutionContext, fl.framework.Context)
AsyncContext | renamed | since 0.38 | fl.framework.Context
  issubclass(fl.framework.AsyncExecutionContext, fl.framework.Context)

== fedlearn_edu.structure & fedlearn_edu.tff.structure
flatten | renamed | since 0.20 | fl.structure.leaves
  fl.structure.leaves(fl.structure.Struct.named(a=1, b=2))
pack_sequence_as | renamed | since 0.20 | fl.structure.unflatten
  fl.structure.unflatten(fl.structure.Struct.named(a=1, b=2), [3, 4])
map_structure | renamed | since 0.20 | fl.structure.tree_map
  fl.structure.tree_map(lambda x: x + 1, fl.structure.Struct.named(a=1, b=2))
to_elements, iter_elements | renamed | since 0.20 | .items
  fl.structure.Struct.named(a=1, b=2).items()
name_list, name_list_with_nones, name_to_index_map | renamed | since 0.20 | .names
  fl.structure.Struct.named(a=1, b=2).names()
has_field, is_same_structure | gone | since 0.20 | .names of a Struct
  "a" in fl.structure.Struct.named(a=1, b=2).names()
from_container | gone | since 0.20 | fl.structure.Struct.named, or .unnamed
  fl.structure.Struct.named(a=1, b=2)
to_odict, to_odict_or_tuple, to_container_recursive | gone | since 0.20 \
| dict of .items()
  dict(fl.structure.Struct.named(a=1, b=2).items())

== fedlearn_edu.structure
update_struct | tff | since 0.20 | .with_values of a Struct
  fl.structure.Struct.named(a=1, b=2).with_values([3, 2])

== fedlearn_edu.backends.native
create_sync_local_cpp_execution_context | renamed | since 0.54 \
| fl.backends.native.create_local_python_execution_context
  fl.backends.native.create_local_python_execution_context(default_num_clients=3)
create_async_local_cpp_execution_context, set_async_local_cpp_execution_context | gone \
| since 0.54 | fl.framework.AsyncExecutionContext
  fl.framework.AsyncExecutionContext(fl.framework.local_executor_factory())
create_sizing_execution_context | gone | 0.20 | fl.framework.sizing_executor_factory
  fl.framework.sizing_executor_factory().get_size_info().bytes_up
create_thread_debugging_execution_context, set_thread_debugging_execution_context \
| gone \
| 0.20 | fl.framework.thread_debugging_executor_factory
  fl.framework.thread_debugging_executor_factory()
create_mergeable_comp_execution_context, set_mergeable_comp_execution_context, \
compile_to_mergeable_comp_form | gone | since 0.20 | groups of clients
  fl.framework.local_executor_factory(max_fanout=2)
desugar_and_transform_to_native, transform_to_native_form | gone | since 0.20 \
| fl.framework.compile_tree
  fl.framework.compile_tree(fl.federated_computation(lambda: 1).tree, native=set())

== fedlearn_edu.backends
mapreduce | gone | since 0.14 | fl.framework.compile_tree, and .tree of a computation
  fl.framework.compile_tree(fl.federated_computation(lambda: 1).tree, native=set())
xla | gone | since 0.20 | fl.framework.EagerTFExecutor
  fl.framework.EagerTFExecutor()
test | gone | since 0.14 | fl.framework.ReferenceContext
  fl.set_default_context(fl.framework.ReferenceContext())

== factory
clean_up_executors | renamed | until 0.53 | .clean_up_executor
  fl.framework.ExecutorFactory.clean_up_executor

== context
ingest | gone | until 0.53 | arguments as they are, which .invoke converts
  fl.framework.ReferenceContext().invoke(fl.federated_computation(lambda: 1), None)
executor_factory, cardinality_inference_fn | gone | until 0.53 \
| a factory, and fl.framework.infer_cardinalities
  fl.framework.infer_cardinalities([1, 2], fl.type_at_clients(np.int32))

== computation
fn_for_argument_type | gone | of those without types | the computation, which has a type
  fl.np_computation(lambda x: x + 1).fn_for_argument_type(fl.to_type(np.int32))
create_computation | never | web answers | create_computation of an environment
  fl.simulation.build_inprocess_environment().create_computation(\
fl.np_computation(lambda x: x + 1, np.int32))(1)
initialize | gone | processes | a computation of a process of fl.learning
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression()).initialize()
next | gone | processes | a computation of a process of fl.learning
  process = fl.learning.build_fed_avg(fl.learning.models.softmax_regression(1, 2)); \
process.next(process.initialize(), [[{"x": [[0], [1]], "y": [0, 1]}]])
compile | never | web answers | a call compiles; fl.learning.models.LinearRegression
  fl.learning.models.LinearRegression(2).compile(loss="mse")
fit | never | web answers | fl.learning.run, fl.learning.models.LinearRegression
  model = fl.learning.models.LinearRegression(1); model.compile(); \
model.fit([{"x": [[1.0]], "y": [2.0]}])
weights | never | web answers | a field of a state of fl.learning
  fl.learning.build_fed_avg(\
fl.learning.models.softmax_regression()).initialize().weights
invoke | never | contexts | a call
  fl.np_computation(lambda x: x + 1, np.int32)(1)
compute | never | executor values | a call
  fl.np_computation(lambda x: x + 1, np.int32)(1)
to_building_block, to_compiled_building_block, get_proto, proto | renamed | 0.12 on \
| .tree
  fl.np_computation(lambda x: x + 1, np.int32).tree
"""
