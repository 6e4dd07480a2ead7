# SPDX-License-Identifier: Apache-2.0
"""The table of former names: one row for each, and one line that runs."""

# == who is asked for the name
# name | what became of it | where people meet it | what works
#   one line that runs
TABLE = """
== fedlearn_edu
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
tensorflow | gone | second tutorial since 0.71 | fl.tf_computation
  fl.tf_computation(lambda x: x + 1, np.int32)(1)
aggregators | gone | since 0.17 | fl.learning.aggregators, fl.federated_max
  fl.federated_max(fl.place([1.0, 4.0, 2.0], fl.CLIENTS))
utils | gone | 0.1 to 0.18 | fl.federated_max, fl.federated_min
  fl.federated_max(fl.place([1.0, 4.0, 2.0], fl.CLIENTS))
templates | gone | since 0.14 | fl.learning.LearningProcess, or a state and a loop
  step = fl.np_computation(lambda state: state + 1, np.int32); state = step(step(0))
analytics | gone | since 0.20 | fl.federated_secure_sum, as in docs/analytics.md
  fl.federated_secure_sum(fl.place(np.int32([[1, 0, 2], [0, 3, 1]]), fl.CLIENTS), 3)
program | gone | since 0.20 | fl.learning.run, or a loop
  process = fl.learning.build_fed_avg(fl.learning.models.softmax_regression(1, 2)); \
fl.learning.run(process, [[{"x": [[0], [1]], "y": [0, 1]}]], rounds=2)
federated_secure_select | gone | since 0.19 | fl.federated_select, which hides no key
  fl.federated_select(fl.place(np.int32([[0], [2]]), fl.CLIENTS), \
fl.place(3, fl.SERVER), fl.place(10, fl.SERVER), \
fl.np_computation(lambda x, key: x + key))
jax_computation | gone | 0.19 to 0.86 | fl.np_computation, fl.tf_computation
  fl.np_computation(lambda x: x + 1, np.int32)(1)
test | gone | second tutorial, 0.14 to 0.16 | fl.framework.ReferenceContext
  fl.set_default_context(fl.framework.ReferenceContext())

== fedlearn_edu.types
tensorflow_to_type | renamed | 0.68 to 0.88 | fl.to_type
  fl.to_type(fl.tf.TensorSpec([3], fl.tf.float32))
type_from_tensors | renamed | until 0.68 | fl.types.infer_type
  fl.types.infer_type(fl.tf.zeros([3]))
infer_unplaced_type | renamed | deprecated in 0.68 | fl.types.infer_type
  fl.types.infer_type(np.float32(1))
at_clients | renamed | until 0.67 | fl.type_at_clients
  fl.type_at_clients(np.int32)
at_server | renamed | until 0.67 | fl.type_at_server
  fl.type_at_server(np.int32)
UNRANKED | left | here, at first | a size for each axis, None where it varies
  fl.TensorType(np.float32, [None, 3])

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
SizingExecutor | gone | until 0.47 | fl.framework.sizing_executor_factory
  fl.framework.sizing_executor_factory().get_size_info().bytes_up
DataExecutor | gone | 0.19 to 0.53 | data as arguments, or place of fl.remote.Cluster
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
RemoteExecutor | gone | since 0.12 | fl.framework.remote_executor_factory
  fl.remote.local(workers=1, processes=False).close()
remote_executor_factory_from_stubs | gone | 0.17 to 0.53 | fl.remote.connect
  fl.remote.local(workers=1, processes=False).close()
ExecutorService | gone | 0.12 to 0.53 | fl.remote.connect, to workers of Dask
  fl.remote.local(workers=1, processes=False).close()
SyncContext | renamed | since 0.38 | fl.framework.Context
  issubclass(fl.framework.SyncExecutionContext, fl.framework.Context)
AsyncContext | renamed | since 0.38 | fl.framework.Context
  issubclass(fl.framework.AsyncExecutionContext, fl.framework.Context)

== fedlearn_edu.backends
test | gone | since 0.14 | fl.framework.ReferenceContext
  fl.set_default_context(fl.framework.ReferenceContext())

== fedlearn_edu.simulation
set_default_context | never | with its environments | fl.set_default_context
  fl.set_default_context(fl.simulation.build_inprocess_environment())
baselines | gone | since 0.20 | fl.simulation.datasets, and fl.learning.models
  fl.simulation.datasets.load("digits28")
run_server | gone | 0.12 to 0.53 | fl.remote.local; elsewhere, dask worker
  fl.remote.local(workers=1, processes=False).close()

== fedlearn_edu.simulation.datasets
ClientData | renamed | since 0.19 | fl.simulation.ClientData
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]]).place()
emnist | gone | other tutorials | fl.simulation.datasets.load
  fl.simulation.datasets.load("digits28")

== fedlearn_edu.learning
Model | renamed | 0.1 to 0.52 | fl.learning.models.Model
  isinstance(fl.learning.models.softmax_regression(), fl.learning.models.Model)
from_keras_model | renamed | 0.1 to 0.52 | fl.learning.models.from_keras_model
  keras = fl.tf.keras; fl.learning.models.from_keras_model(\
keras.Sequential([keras.Input([784]), keras.layers.Dense(10)]))
build_federated_averaging_process | renamed | 0.1 to 0.27 | fl.learning.build_fed_avg
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression())
build_federated_sgd_process | renamed | 0.2 to 0.19 | fl.learning.build_fed_sgd
  fl.learning.build_fed_sgd(fl.learning.models.softmax_regression())
build_weighted_averaging_process | never | web answers | fl.learning.federated_averaging
  fl.learning.federated_averaging.build_weighted_averaging_process(\
lambda: fl.learning.models.LinearRegression(2), lambda model, data: model.weights)
algorithms | gone | since 0.20 | fl.learning.build_fed_avg, fl.learning.build_fed_prox
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression())
build_weighted_fed_avg | renamed | in algorithms | fl.learning.build_fed_avg
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression())
build_unweighted_fed_avg | renamed | in algorithms | fl.learning.build_fed_avg
  fl.learning.build_fed_avg(\
fl.learning.models.softmax_regression(), weighting="uniform")
build_weighted_fed_prox | renamed | in algorithms | fl.learning.build_fed_prox
  fl.learning.build_fed_prox(fl.learning.models.softmax_regression())
build_fed_eval | renamed | in algorithms | fl.learning.build_federated_evaluation
  fl.learning.build_federated_evaluation(fl.learning.models.softmax_regression())
templates | gone | since 0.20 | fl.learning.LearningProcess
  isinstance(fl.learning.build_fed_avg(fl.learning.models.softmax_regression()), \
fl.learning.LearningProcess)
programs | gone | since 0.41 | fl.learning.run
  process = fl.learning.build_fed_avg(fl.learning.models.softmax_regression(1, 2)); \
fl.learning.run(process, [[{"x": [[0], [1]], "y": [0, 1]}]], rounds=2)
metrics | gone | since 0.20 | fl.learning.build_federated_evaluation
  fl.learning.build_federated_evaluation(fl.learning.models.softmax_regression())
ModelWeights | gone | until 0.53 | a structure of tensors
  fl.learning.build_fed_avg(\
fl.learning.models.softmax_regression()).initialize().weights
ClientWeighting | gone | builders | weighting="uniform" of fl.learning.build_fed_avg
  fl.learning.build_fed_avg(\
fl.learning.models.softmax_regression(), weighting="uniform")
robust_aggregator | gone | since 0.19 | zeroing and clipping of fl.learning.aggregators
  a = fl.learning.aggregators; a.zeroing(a.clipping(a.mean(), quantile=0.8))
dp_aggregator | renamed | since 0.19 | fl.learning.aggregators.gaussian_adaptive
  fl.learning.aggregators.gaussian_adaptive(noise_multiplier=1.0, expected_clients=100)
secure_aggregator | renamed | since 0.19 | fl.learning.aggregators.secure_mean
  fl.learning.aggregators.secure_mean(clip=1.0)
compression_aggregator | renamed | since 0.19 | fl.learning.aggregators.quantize
  fl.learning.aggregators.quantize(bits=8)
ddp_secure_aggregator | gone | since 0.20 | fl.learning.aggregators.gaussian
  fl.learning.aggregators.gaussian(\
clip=1.0, noise_multiplier=1.0, expected_clients=100)

== fedlearn_edu.learning.aggregators
MeanFactory | renamed | since 0.17 | fl.learning.aggregators.mean
  fl.learning.aggregators.mean()
UnweightedMeanFactory | gone | since 0.17 | weighting="uniform" of a builder
  fl.learning.build_fed_avg(\
fl.learning.models.softmax_regression(), weighting="uniform")
SumFactory | gone | since 0.17 | fl.federated_sum, in an Aggregator of your own
  fl.federated_sum(fl.place([1.0, 3.0], fl.CLIENTS))
clipping_factory | renamed | since 0.17 | fl.learning.aggregators.clipping
  fl.learning.aggregators.clipping(fl.learning.aggregators.mean(), norm=1.0)
zeroing_factory | renamed | since 0.17 | fl.learning.aggregators.zeroing
  fl.learning.aggregators.zeroing(fl.learning.aggregators.mean(), norm=10.0)
DifferentiallyPrivateFactory | renamed | since 0.17 | fl.learning.aggregators.gaussian
  fl.learning.aggregators.gaussian(\
clip=1.0, noise_multiplier=1.0, expected_clients=100)
gaussian_fixed | renamed | since 0.17 | fl.learning.aggregators.gaussian
  fl.learning.aggregators.gaussian(\
clip=1.0, noise_multiplier=1.0, expected_clients=100)
EncodedSumFactory | renamed | since 0.17 | fl.learning.aggregators.quantize
  fl.learning.aggregators.quantize(bits=8)
PrivateQuantileEstimationProcess | gone | since 0.17 | quantile= of clipping
  fl.learning.aggregators.clipping(fl.learning.aggregators.mean(), quantile=0.8)
SecureSumFactory | renamed | since 0.17 | fl.learning.aggregators.secure_mean
  fl.learning.aggregators.secure_mean(clip=1.0)

== fedlearn_edu.learning.models
functional_model_from_keras | renamed | since 0.20 | fl.learning.models.from_keras_model
  keras = fl.tf.keras; fl.learning.models.from_keras_model(\
keras.Sequential([keras.Input([784]), keras.layers.Dense(10)]))
FunctionalModel | renamed | since 0.20 | fl.learning.models.Model
  isinstance(fl.learning.models.softmax_regression(), fl.learning.models.Model)
VariableModel | renamed | since 0.49 | fl.learning.models.Model
  isinstance(fl.learning.models.softmax_regression(), fl.learning.models.Model)

== computation
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
to_building_block | renamed | since 0.12 | .tree
  fl.np_computation(lambda x: x + 1, np.int32).tree

== client_data
client_ids | gone | other tutorials | positions, from 0 to len(client_data) - 1
  [client.id for client in fl.simulation.ClientData(\
np.eye(3), np.arange(3), [[0, 1], [2]])]
create_tf_dataset_for_client | gone | other tutorials | .batches() of client_data[0]
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]])[0].batches(2)
create_tf_dataset_from_all_clients | gone | tutorials | .batches(), a list per client
  sum(fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]]).batches(2), [])
datasets | renamed | since 0.1 | .batches
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]]).batches(2)
dataset_computation | renamed | since 0.16 | .place
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]]).place(2)
element_type_structure | renamed | since 0.14 | .batch_type
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]]).batch_type
preprocess | gone | other tutorials | arrays, changed before they are dealt
  fl.simulation.ClientData(np.eye(3) / 2, np.arange(3), [[0, 1], [2]])
train_test_client_split | gone | since 0.11 | .select
  data = fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]]); \
train, test = data.select([0]), data.select([1])
from_clients_and_fn | gone | until 0.18 | fl.simulation.ClientData of arrays
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]])
from_clients_and_tf_fn | gone | since 0.19 | fl.simulation.ClientData of arrays
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]])

== process
get_model_weights | gone | since 0.20 | .weights of a state
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression())\
.initialize().weights
set_model_weights | gone | since 0.20 | replace of dataclasses, on a state
  import dataclasses; \
m = fl.learning.models.softmax_regression(); \
state = fl.learning.build_fed_avg(m).initialize(); \
state = dataclasses.replace(state, weights=state.weights)
get_hparams | renamed | since 0.30 | .settings
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression()).settings
set_hparams | gone | since 0.30 | a process built anew
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression(), 0.5)

== state
global_model_weights | renamed | since 0.20 | .weights
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression())\
.initialize().weights
model | renamed | until 0.19 | .weights
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression())\
.initialize().weights
optimizer_state | renamed | until 0.19 | .optimizer
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression())\
.initialize().optimizer

== model
initial_weights | renamed | since 0.20 | .initialize
  fl.learning.models.softmax_regression().initialize(0)
predict_on_batch | renamed | since 0.20 | .predict
  m = fl.learning.models.softmax_regression(); \
y = m.predict(m.initialize(0), np.ones([1, 784], np.float32))
forward_pass | renamed | 0.1 to 0.88 | .losses
  m = fl.learning.models.softmax_regression(1, 2); \
m.losses(m.initialize(0), {"x": np.float32([[1]]), "y": np.int32([0])})
input_spec | renamed | since 0.4 | .batch_type
  fl.learning.models.softmax_regression().batch_type
trainable_variables | gone | since 0.1 | .weights_type, and .initialize
  fl.learning.models.softmax_regression().weights_type
"""
