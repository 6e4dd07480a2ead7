# SPDX-License-Identifier: Apache-2.0
"""Former names of this package itself, as `table` has those of others."""

EARLIER = """
== fedlearn_edu.simulation
Participation | renamed | here, at first | fl.simulation.ClientSampling
  fl.simulation.ClientSampling(count=3, seed=1)
ParticipationError | renamed | here, at first | fl.simulation.SamplingError
  issubclass(fl.simulation.SamplingError, ValueError)
log | renamed | here, at first | fl.record
  with fl.record() as tape: fl.federated_sum(fl.place([1, 2], fl.CLIENTS)); \
tape.events
Draw | renamed | here, at first | fl.simulation.Cohort
  fl.simulation.ClientSampling(count=2).draw(1, [10, 20, 30]).finished

== fedlearn_edu.simulation.partitions
Look | renamed | here, at first | fl.simulation.partitions.FeatureShift
  fl.simulation.partitions.FeatureShift(rotation=20.0)
looks | renamed | here, at first | fl.simulation.partitions.feature_shifts
  fl.simulation.partitions.feature_shifts(10, rotation=20.0)
labels_per_client | left | here, at first | fl.simulation.partitions.shards
  fl.simulation.partitions.shards(\
np.arange(60) % 10, num_clients=5, shards_per_client=2)
power_law_sizes | left | here, at first | fl.simulation.partitions.log_normal_sizes
  fl.simulation.partitions.log_normal_sizes(np.zeros(60), num_clients=5, sigma=1.0)

== fedlearn_edu.viz
graph | renamed | here, at first | fl.viz.draw_graph
  fl.viz.draw_graph(fl.federated_computation(lambda: 1))
passes | renamed | here, at first | fl.viz.draw_passes
  fl.viz.draw_passes(fl.federated_computation(lambda: 1))
play | renamed | here, at first | fl.viz.explore_run
  fl.viz.explore_run(fl.federated_computation(lambda: 1))
replay | renamed | here, at first | fl.viz.explore_tape
  fl.viz.explore_tape(fl.framework.Tape())
draw_epsilon | renamed | here, at first | fl.viz.draw_curves
  fl.viz.draw_curves(fl.learning.History.of([{"round": 1, "epsilon": 0.5}]), \
column="epsilon")
draw_run | renamed | here, at first | fl.viz.draw_curves
  fl.viz.draw_curves(fl.learning.History.of([{"round": 1, "loss": 0.5}]), \
column=["loss"])
draw_learning_curves | left | here, at first | fl.viz.draw_curves
  fl.viz.draw_curves({"training": [0.1, 0.8], "test": [0.1, 0.7]}, unit="%")
draw_confusion | left | here, at first | matshow of Matplotlib, fl.viz.explore_training
  import matplotlib.pyplot as plt; plt.matshow([[8, 2], [0, 10]])
draw_mean | left | here, at first | .html of fl.viz.explore_mean
  fl.viz.explore_mean([1.0, 2.0, 6.0]).html
draw_aggregation | left | here, at first | .html of fl.viz.explore_aggregation
  fl.viz.explore_aggregation(zero=1).html
draw_drift | left | here, at first | .figure of fl.viz.explore_drift
  fl.viz.explore_drift(local_epochs=1).figure
draw_inversion | left | here, at first | .figure of fl.viz.explore_inversion
  fl.viz.explore_inversion().figure
draw_poisoning | left | here, at first | .figure of fl.viz.explore_poisoning
  fl.viz.explore_poisoning(rounds=1).figure
draw_budget | left | here, at first | .figure of fl.viz.explore_budget
  fl.viz.explore_budget(rounds=1).figure

== fedlearn_edu.learning.callbacks
stop_at | left | here, at first | a function of the run, in callbacks=
  fl.learning.Options(callbacks=[lambda run: run.history["loss"][-1] < 0.1])
CsvWriter | left | here, at first | fl.learning.History.to_csv
  fl.learning.Options(callbacks=[lambda run: run.history.to_csv("so_far.csv")])
TensorBoardWriter | left | here, at first | fl.tf.summary.scalar, in a callback
  fl.learning.Options(callbacks=[lambda run: \
[fl.tf.summary.scalar(k, v, run.rounds) for k, v in run.history.last.items()]])

== fedlearn_edu.learning.aggregators
trimmed_mean | merged | here, at first | trim= of fl.learning.aggregators.median
  fl.learning.aggregators.median(trim=0.1)
geometric_median | left | here, at first | fl.learning.aggregators.median
  fl.learning.aggregators.median()
sign | left | here, at first | fl.learning.aggregators.quantize
  fl.learning.aggregators.quantize(bits=2)

== fedlearn_edu.learning.optimizers
OptimizerError | renamed | here, at first | fl.learning.errors.ProcessError
  issubclass(fl.learning.errors.ProcessError, ValueError)

== fedlearn_edu.learning.models
ModelError | renamed | here, at first | fl.learning.errors.ProcessError
  issubclass(fl.learning.errors.ProcessError, ValueError)

== evaluation
loss_per_client | renamed | here, at first | .mean_loss_over_clients
  m = fl.learning.models.softmax_regression(1, 2); \
fl.learning.build_federated_evaluation(m)(m.initialize(0), [[]]).mean_loss_over_clients
accuracy_per_client | renamed | here, at first | .mean_accuracy_over_clients
  m = fl.learning.models.softmax_regression(1, 2); \
fl.learning.build_federated_evaluation(m)(m.initialize(0), [[]])\
.mean_accuracy_over_clients
accuracy_per_class | renamed | here, at first | .balanced_accuracy
  m = fl.learning.models.softmax_regression(1, 2); \
fl.learning.build_federated_evaluation(m)(m.initialize(0), [[]]).balanced_accuracy
calibration_error | left | here, at first | fl.tf.nn.softmax of what a model predicts
  m = fl.learning.models.softmax_regression(1, 2); \
y = fl.tf.nn.softmax(m.predict(m.initialize(0), np.ones([1, 1], np.float32)))
"""
