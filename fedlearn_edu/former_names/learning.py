# SPDX-License-Identifier: Apache-2.0
"""Former names of learning and simulation.

== who is asked for them, several with & between them
name, name | what became of them | where people meet them | what works
  one line that runs
"""

LEARNING = """
== fedlearn_edu.simulation
set_default_context | never | with its environments | fl.set_default_context
  fl.set_default_context(fl.simulation.build_inprocess_environment())
build_uniform_sampling_fn | tff | since 0.20 | fl.simulation.ClientSampling
  fl.simulation.ClientSampling(count=3, seed=1)
compose_dataset_computation_with_computation, \
compose_dataset_computation_with_iterative_process, \
compose_dataset_computation_with_learning_process | tff | 0.20 on \
| .place of client data
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]]).place(2)

== fedlearn_edu.simulation & fedlearn_edu.tff.simulation
baselines | gone | since 0.20 | fl.simulation.datasets, and fl.learning.models
  fl.simulation.datasets.load("digits28")
run_server | gone | 0.12 to 0.53 | fl.remote.local; elsewhere, dask worker
  fl.remote.local(workers=1, processes=False).close()
models | gone | since 0.14 | fl.learning.models
  fl.learning.models.softmax_regression()
run_training_process, run_stateless_simulation | gone | since 0.20 \
| fl.learning.run, or a loop
  process = fl.learning.build_fed_avg(fl.learning.models.softmax_regression(1, 2)); \
fl.learning.run(process, [[{"x": [[0], [1]], "y": [0, 1]}]], rounds=2)
EVALUATION_METRICS_PREFIX, EVALUATION_TIME_KEY, ROUND_NUMBER_KEY, ROUND_TIME_KEY, \
TRAINING_TIME_KEY | gone | since 0.20 | the history of fl.learning.run
  process = fl.learning.build_fed_avg(fl.learning.models.softmax_regression(1, 2)); \
fl.learning.run(process, [[{"x": [[0], [1]], "y": [0, 1]}]], rounds=2)
server_context | gone | 0.20 | fl.remote.local; elsewhere, dask worker
  fl.remote.local(workers=1, processes=False).close()
SequenceTypeNotAssignableError, SequenceTypeNotFoundError | gone | 0.82 \
| fl.errors.TypeMismatchError
  issubclass(fl.errors.TypeMismatchError, TypeError)

== fedlearn_edu.simulation & fedlearn_edu.tff.simulation \
& fedlearn_edu.simulation.datasets & fedlearn_edu.tff.simulation.datasets
FilePerUserClientData, FromTensorSlicesClientData, HDF5ClientData, SqlClientData, \
TransformingClientData, load_and_parse_sql_client_data, save_to_sql_client_data | gone \
| since 0.1 | fl.simulation.ClientData of arrays
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]])

== fedlearn_edu.simulation.datasets & fedlearn_edu.tff.simulation.datasets
build_dataset_mixture, build_single_label_dataset, build_synthethic_iid_datasets \
| gone \
| since 0.14 | fl.simulation.partitions.dirichlet, fl.simulation.partitions.iid
  fl.simulation.partitions.iid(np.arange(60) % 10, num_clients=5)
celeba, cifar100, flair, gldv2, inaturalist, stackoverflow | gone | since 0.14 \
| your own files, or fl.simulation.datasets.load
  fl.simulation.datasets.load("digits28")

== fedlearn_edu.simulation.datasets
TestClientData | tff | since 0.20 | fl.simulation.ClientData
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]])
ClientData | renamed | since 0.19 | fl.simulation.ClientData
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]]).place()
emnist, shakespeare | tff | other tutorials | fl.simulation.datasets.load
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
algorithms | tff | since 0.20 | fl.learning.build_fed_avg, fl.learning.build_fed_prox
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
templates | tff | since 0.20 | fl.learning.LearningProcess
  isinstance(fl.learning.build_fed_avg(fl.learning.models.softmax_regression()), \
fl.learning.LearningProcess)
ModelWeights | tff | until 0.53 | a structure of tensors
  fl.learning.build_fed_avg(\
fl.learning.models.softmax_regression()).initialize().weights
ClientWeighting | tff | builders | weighting="uniform" of fl.learning.build_fed_avg
  fl.learning.build_fed_avg(\
fl.learning.models.softmax_regression(), weighting="uniform")
robust_aggregator | tff | since 0.19 | zeroing and clipping of fl.learning.aggregators
  a = fl.learning.aggregators; a.zeroing(a.clipping(a.mean(), quantile=0.8))
dp_aggregator | tff | since 0.19 | fl.learning.aggregators.gaussian_adaptive
  fl.learning.aggregators.gaussian_adaptive(noise_multiplier=1.0, expected_clients=100)
secure_aggregator | tff | since 0.19 | fl.learning.aggregators.secure_mean
  fl.learning.aggregators.secure_mean(clip=1.0)
compression_aggregator, model_update_aggregator | tff | since 0.19 \
| fl.learning.aggregators.quantize
  fl.learning.aggregators.quantize(bits=8)
ClientFedAvg | tff | 0.1 to 0.20 | fl.learning.build_fed_avg
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression())
BatchOutput | tff | 0.1 to 0.52 | .losses of a model
  m = fl.learning.models.softmax_regression(1, 2); \
m.losses(m.initialize(0), {"x": np.float32([[1]]), "y": np.int32([0])})
framework | tff | 0.1 to 0.54 | fl.learning.build_fed_avg
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression())

== fedlearn_edu.learning
metrics | gone | since 0.20 | fl.learning.build_federated_evaluation
  fl.learning.build_federated_evaluation(fl.learning.models.softmax_regression())
ddp_secure_aggregator | gone | since 0.20 | fl.learning.aggregators.gaussian
  fl.learning.aggregators.gaussian(\
clip=1.0, noise_multiplier=1.0, expected_clients=100)

== fedlearn_edu.learning & fedlearn_edu.tff.learning
programs | gone | since 0.41 | fl.learning.run
  process = fl.learning.build_fed_avg(fl.learning.models.softmax_regression(1, 2)); \
fl.learning.run(process, [[{"x": [[0], [1]], "y": [0, 1]}]], rounds=2)
entropy_compression_aggregator | gone | 0.54 | fl.learning.aggregators.quantize
  fl.learning.aggregators.quantize(bits=8)
reconstruction | gone | 0.20 to 0.54 \
| a round in which a client fits, and keeps, its part
  fl.federated_mean(fl.federated_map(fl.np_computation(lambda y: y - y.mean()), \
fl.place([np.float32([1, 3]), np.float32([2, 6])], fl.CLIENTS)))
build_personalization_eval | gone | 0.14 to 0.54 \
| fl.learning.build_fed_avg for one client
  process = fl.learning.build_fed_avg(fl.learning.models.softmax_regression(1, 2)); \
fl.learning.run(process, [[{"x": [[0], [1]], "y": [0, 1]}]], rounds=2)
build_local_evaluation, federated_aggregate_keras_metric | gone | 0.14 to 0.54 \
| fl.learning.build_federated_evaluation
  fl.learning.build_federated_evaluation(fl.learning.models.softmax_regression())
assign_weights_to_keras_model, state_with_new_model_weights | gone | 0.1 to 0.54 \
| .weights of a state, and replace of dataclasses
  import dataclasses; m = fl.learning.models.softmax_regression(); \
state = fl.learning.build_fed_avg(m).initialize(); \
state = dataclasses.replace(state, weights=state.weights)
add_debug_measurements, add_debug_measurements_with_mixed_dtype | gone | since 0.20 \
| the history of fl.learning.run
  process = fl.learning.build_fed_avg(fl.learning.models.softmax_regression(1, 2)); \
fl.learning.run(process, [[{"x": [[0], [1]], "y": [0, 1]}]], rounds=2)

== fedlearn_edu.learning.models & fedlearn_edu.tff.learning.models
ReconstructionModel, ReconstructionDatasetSplitFn | gone | since 0.20 \
| a round in which a client fits, and keeps, its part
  fl.federated_mean(fl.federated_map(fl.np_computation(lambda y: y - y.mean()), \
fl.place([np.float32([1, 3]), np.float32([2, 6])], fl.CLIENTS)))
load, save, load_functional_model, save_functional_model | gone | since 0.20 \
| fl.learning.Checkpoints, or pickle of weights
  import pickle; m = fl.learning.models.softmax_regression(); \
data = pickle.dumps(m.initialize(0))
model_from_functional | gone | since 0.20 | a functional model as it is
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression())

== fedlearn_edu.learning.optimizers & fedlearn_edu.tff.learning.optimizers
build_adafactor | gone | 0.82 on | fl.learning.optimizers.build_adam
  fl.learning.optimizers.build_adam(0.01)
check_weights_gradients_match, handle_indexed_slices_gradients | gone | since 0.20 \
| fl.tf.convert_to_tensor of a gradient
  fl.tf.convert_to_tensor([1.0])

== fedlearn_edu.learning.optimizers
build_rmsprop | tff | since 0.20 | fl.learning.optimizers.build_adagrad
  fl.learning.optimizers.build_adagrad(0.1)
schedule_learning_rate, LEARNING_RATE_KEY | gone | since 0.54 \
| fl.learning.optimizers.exponential_decay
  fl.learning.optimizers.exponential_decay(0.1, factor=0.99)

== fedlearn_edu.learning.aggregators
MeanFactory | tff | since 0.17 | fl.learning.aggregators.mean
  fl.learning.aggregators.mean()
UnweightedMeanFactory | tff | since 0.17 | weighting="uniform" of a builder
  fl.learning.build_fed_avg(\
fl.learning.models.softmax_regression(), weighting="uniform")
SumFactory | tff | since 0.17 | fl.federated_sum, in an Aggregator of your own
  fl.federated_sum(fl.place([1.0, 3.0], fl.CLIENTS))
clipping_factory | tff | since 0.17 | fl.learning.aggregators.clipping
  fl.learning.aggregators.clipping(fl.learning.aggregators.mean(), norm=1.0)
zeroing_factory | tff | since 0.17 | fl.learning.aggregators.zeroing
  fl.learning.aggregators.zeroing(fl.learning.aggregators.mean(), norm=10.0)
DifferentiallyPrivateFactory | tff | since 0.17 | fl.learning.aggregators.gaussian
  fl.learning.aggregators.gaussian(\
clip=1.0, noise_multiplier=1.0, expected_clients=100)
gaussian_fixed | renamed | since 0.17 | fl.learning.aggregators.gaussian
  fl.learning.aggregators.gaussian(\
clip=1.0, noise_multiplier=1.0, expected_clients=100)
EncodedSumFactory | tff | since 0.17 | fl.learning.aggregators.quantize
  fl.learning.aggregators.quantize(bits=8)
PrivateQuantileEstimationProcess | tff | since 0.17 | quantile= of clipping
  fl.learning.aggregators.clipping(fl.learning.aggregators.mean(), quantile=0.8)
SecureSumFactory | tff | since 0.17 | fl.learning.aggregators.secure_mean
  fl.learning.aggregators.secure_mean(clip=1.0)

== fedlearn_edu.learning.models
ModelWeights, weights_type_from_model | tff | since 0.20 | .weights_type of a model
  fl.learning.models.softmax_regression().weights_type
functional_model_from_keras | tff | since 0.20 | fl.learning.models.from_keras_model
  keras = fl.tf.keras; fl.learning.models.from_keras_model(\
keras.Sequential([keras.Input([784]), keras.layers.Dense(10)]))
FunctionalModel, VariableModel, BatchOutput | tff | since 0.20 \
| fl.learning.models.Model
  isinstance(fl.learning.models.softmax_regression(), fl.learning.models.Model)

== client_data
client_ids | tff | other tutorials | positions, from 0 to len(client_data) - 1
  [client.id for client in fl.simulation.ClientData(\
np.eye(3), np.arange(3), [[0, 1], [2]])]
create_tf_dataset_for_client | tff | other tutorials | .batches() of client_data[0]
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]])[0].batches(2)
create_tf_dataset_from_all_clients | tff | tutorials | .batches(), a list per client
  sum(fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]]).batches(2), [])
datasets | tff | since 0.1 | .batches
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]]).batches(2)
dataset_computation, serializable_dataset_fn | tff | since 0.16 | .place
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]]).place(2)
element_type_structure, dtypes, shapes | tff | since 0.14 | .batch_type
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]]).batch_type
preprocess | tff | other tutorials | arrays, changed before they are dealt
  fl.simulation.ClientData(np.eye(3) / 2, np.arange(3), [[0, 1], [2]])
train_test_client_split | tff | since 0.11 | .select
  data = fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]]); \
train, test = data.select([0]), data.select([1])
from_clients_and_fn | tff | until 0.18 | fl.simulation.ClientData of arrays
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]])
from_clients_and_tf_fn | tff | since 0.19 | fl.simulation.ClientData of arrays
  fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]])

== process
get_model_weights, state_type, is_weighted | tff | since 0.20 | .weights of a state
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression())\
.initialize().weights
set_model_weights | tff | since 0.20 | replace of dataclasses, on a state
  import dataclasses; \
m = fl.learning.models.softmax_regression(); \
state = fl.learning.build_fed_avg(m).initialize(); \
state = dataclasses.replace(state, weights=state.weights)
get_hparams | renamed | since 0.30 | .settings
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression()).settings
set_hparams | gone | since 0.30 | a process built anew
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression(), 0.5)

== state
global_model_weights, distributor, client_work, finalizer | tff | since 0.20 | .weights
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
trainable_variables, non_trainable_variables, local_variables | tff | since 0.1 \
| .weights_type, and .initialize
  fl.learning.models.softmax_regression().weights_type
report_local_outputs, report_local_unfinalized_metrics, metric_finalizers, \
reset_metrics, federated_output_computation, initialize_metrics_state, \
update_metrics_state, finalize_metrics | tff | since 0.1 \
| fl.learning.build_federated_evaluation
  fl.learning.build_federated_evaluation(fl.learning.models.softmax_regression())

== optimizer
get_hparams, set_hparams | tff | since 0.30 | an optimizer made anew
  fl.learning.optimizers.build_sgdm(0.1)

== aggregator
create, initialize, next, is_weighted, state_type | tff | since 0.17 | .build
  fl.learning.aggregators.mean().build(fl.to_type(np.float32))
"""
