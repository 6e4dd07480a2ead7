# SPDX-License-Identifier: Apache-2.0
"""FedAvg of the library and its evaluation, with TensorFlow and without.

Without it, as in a browser, leaf code is NumPy code; a process of its own poses as one.
Nothing is imported here that would load TensorFlow.
"""

from collections import OrderedDict
from dataclasses import replace
from typing import Any

import fedlearn_edu as fl
from benchmarks.models import Loop, Parameters, initial
from benchmarks.processes import Elsewhere, pose_as_browser
from benchmarks.workloads import Workload


def loop(workload: Workload, context: Any, data: Any) -> Loop:
    """FedAvg and its evaluation, which count and report a lot more, on placed data.

    The rates have to be a geometric sequence, as W1's and W2's are.
    """
    names = list(initial())
    model = fl.learning.models.softmax_regression()
    first, second, *_ = workload.rates
    decay = fl.learning.optimizers.exponential_decay(first, second / first)
    process = fl.learning.build_fed_avg(model, decay)
    evaluation = fl.learning.build_federated_evaluation(model)
    with context:
        begin = process.initialize()

    def train(model: Parameters, rate: float) -> Parameters:
        weights = OrderedDict(zip(names, model, strict=True))
        number = workload.rates.index(rate)
        with context:
            state = replace(begin, weights=weights, round_number=number)
            return tuple(process.next(state, data).state.weights.values())

    def evaluate(model: Parameters) -> float:
        with context:
            named = OrderedDict(zip(names, model, strict=True))
            return float(evaluation(named, data).loss_summed_over_batches)

    return Loop(train, evaluate)


def stack(*, fuse: bool = True) -> Any:
    """A stack of executors of its own for each row."""
    return fl.framework.SyncExecutionContext(
        fl.framework.local_executor_factory(support_sequence_ops=True, fuse=fuse)
    )


def without_tensorflow(workload: Workload) -> Loop:
    """The same in a process without TensorFlow."""
    found: Loop = Elsewhere(pose_as_browser).loop(_in_numpy, workload)
    return found


def _in_numpy(workload: Workload) -> Loop:
    type_ = fl.SequenceType(fl.learning.models.softmax_regression().batch_type)
    return loop(workload, stack(), fl.place(workload.batches, fl.CLIENTS, type_))
