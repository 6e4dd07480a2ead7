# SPDX-License-Identifier: Apache-2.0
"""Former names of `fedlearn_edu.tff`: what TFF had, under its other names or not here.

What `fedlearn_edu` does not have either is in the tables beside this one.
"""

TFF = """
== fedlearn_edu.tff.learning
metrics | gone | since 0.20 | sums over clients, then the finalizers: always
  tff.learning.build_federated_evaluation
ddp_secure_aggregator | gone | since 0.20 | tff.learning.dp_aggregator
  tff.learning.dp_aggregator(noise_multiplier=0.5, clients_per_round=10)
Model | renamed | 0.1 to 0.52 | tff.learning.models.VariableModel
  tff.learning.models.VariableModel
BatchOutput, ModelWeights, from_keras_model | renamed | 0.1 to 0.52 \
| tff.learning.models.{name}
  tff.learning.models.{name}
build_federated_averaging_process, ClientFedAvg | renamed | 0.1 to 0.27 \
| tff.learning.algorithms.build_weighted_fed_avg
  tff.learning.algorithms.build_weighted_fed_avg
build_federated_sgd_process | gone | 0.2 to 0.19 | fl.learning.build_fed_sgd
  fl.learning.build_fed_sgd(fl.learning.models.softmax_regression())
framework | renamed | 0.1 to 0.54 | tff.learning.templates
  tff.learning.templates.build_broadcast_process

== fedlearn_edu.tff.learning.algorithms
build_fed_sgd | gone | since 0.20 | fl.learning.build_fed_sgd
  fl.learning.build_fed_sgd(fl.learning.models.softmax_regression())
build_fed_recon, build_fed_recon_eval | gone | 0.82 on \
| a round in which a client fits, and keeps, its part
  fl.federated_mean(fl.federated_map(fl.np_computation(lambda y: y - y.mean()), \
fl.place([np.float32([1, 3]), np.float32([2, 6])], fl.CLIENTS)))
build_fed_kmeans | gone | since 0.20 | fl.federated_sum of what is near each center
  fl.federated_sum(fl.federated_map(fl.np_computation(\
lambda x: np.eye(2)[np.argmin(abs(x - np.array([0.0, 9.0])))] * x), \
fl.place([1.0, 8.0, 10.0], fl.CLIENTS)))
build_weighted_mime_lite, build_unweighted_mime_lite, \
build_mime_lite_with_optimizer_schedule | gone | since 0.20 \
| fl.learning.build_fed_avg_m, fl.learning.build_scaffold
  fl.learning.build_fed_avg_m(fl.learning.models.softmax_regression())
build_weighted_fed_avg_with_optimizer_schedule | gone | since 0.20 \
| fl.learning.optimizers.exponential_decay, of a builder of fl.learning
  fl.learning.build_fed_avg(fl.learning.models.softmax_regression(), \
fl.learning.optimizers.exponential_decay(0.1, factor=0.99))
build_personalization_eval_computation | gone | 0.82 on | a process for one client
  process = fl.learning.build_fed_avg(fl.learning.models.softmax_regression(1, 2)); \
fl.learning.run(process, [[{"x": [[0], [1]], "y": [0, 1]}]], rounds=2)

== fedlearn_edu.tff.learning.optimizers
schedule_learning_rate | gone | since 0.54 | .set_hparams of an optimizer
  o = tff.learning.optimizers.build_sgdm(0.1); \
o.set_hparams(o.initialize(fl.tf.TensorSpec([1])), {"learning_rate": 0.01})
LEARNING_RATE_KEY | gone | since 0.54 | "learning_rate"
  o = tff.learning.optimizers.build_sgdm(0.1); \
o.set_hparams(o.initialize(fl.tf.TensorSpec([1])), {"learning_rate": 0.01})

== fedlearn_edu.tff.learning.templates
build_functional_model_delta_client_work | renamed | 0.82 on \
| tff.learning.templates.build_model_delta_client_work
  tff.learning.templates.build_model_delta_client_work
reject_non_finite_update | gone | 0.82 on | every finalizer, which rejects them
  tff.learning.templates.build_apply_optimizer_finalizer

== tff.LearningProcess
get_hparams, set_hparams | gone | since 0.54 | .finalizer of the state, which has them
  state = tff.learning.optimizers.build_sgdm(0.1).initialize(fl.tf.TensorSpec([1])); \
tff.structure.update_struct(state, learning_rate=0.01)

== fedlearn_edu.tff.templates
chain_measured_processes, concatenate_measured_processes | gone | since 0.20 \
| tff.templates.MeasuredProcess around a computation that calls them
  tff.templates.MeasuredProcess

== fedlearn_edu.tff.aggregators
AggregationFactory | renamed | since 0.17 | tff.aggregators.UnweightedAggregationFactory
  tff.aggregators.UnweightedAggregationFactory
as_weighted_aggregator | gone | since 0.54 | tff.aggregators.MeanFactory
  tff.aggregators.MeanFactory()
concat_factory | gone | since 0.17 | tff.aggregators.SumFactory, which takes structures
  tff.aggregators.SumFactory()
SecureModularSumFactory | gone | since 0.17 | tff.aggregators.SecureSumFactory
  tff.aggregators.SecureSumFactory(1.0)
secure_quantized_sum | gone | since 0.20 | tff.aggregators.SecureSumFactory
  tff.aggregators.SecureSumFactory(1.0)
DiscreteFourierTransformFactory, HadamardTransformFactory, EliasGammaEncodedSumFactory \
| gone | since 0.20 | tff.aggregators.EncodedSumFactory, fl.learning.aggregators.top_k
  tff.learning.compression_aggregator()
UnweightedReservoirSamplingFactory, federated_sample | gone | since 0.17 \
| fl.federated_collect, and a sample of it
  fl.federated_collect(fl.place([1, 2, 3], fl.CLIENTS))
add_measurements | gone | since 0.20 \
| measurements of tff.templates.MeasuredProcessOutput
  tff.templates.MeasuredProcessOutput((), 1.0, {"norm": 1.0})

== fedlearn_edu.tff.simulation.datasets.emnist
get_infinite | gone | 0.1 to 0.82 | emnist.get_synthetic, of any number of clients
  tff.simulation.datasets.emnist.get_synthetic(num_clients=5)

== fedlearn_edu.tff.simulation
ClientData | renamed | 0.1 to 0.18 | tff.simulation.datasets.ClientData
  tff.simulation.datasets.ClientData
compose_dataset_computation_with_learning_process | renamed | since 0.54 \
| tff.simulation.compose_dataset_computation_with_iterative_process
  tff.simulation.compose_dataset_computation_with_iterative_process
"""
