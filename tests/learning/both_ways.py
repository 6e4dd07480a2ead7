# SPDX-License-Identifier: Apache-2.0
"""Rounds, aggregators, evaluations and attacks, in TensorFlow and in NumPy.

`python -m tests.learning.both_ways found.npz` writes them down, and what is told of a
network where there is no TensorFlow. Cases whose name begins with "drawn" are random.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu import attacks, learning
from fedlearn_edu.learning import aggregators
from fedlearn_edu.learning.arrays import leaf_computation, tf
from fedlearn_edu.learning.pytree import flatten
from fedlearn_edu.simulation import ClientData, ClientSampling

CHANCE = np.random.default_rng(5)
SOFTMAX = learning.models.softmax_regression(5, 3)
LOGARITHM = learning.models.softmax_regression(5, 3, log_of_softmax=True)
LINE = learning.models.linear_regression(5)
SIGN = learning.models.Model(
    "sign of one score",
    LINE.initialize,
    LINE.predict,
    lambda score, y: tf.maximum(0.0, 1.0 - (tf.cast(y, tf.float32) - 1.0) * score),
    features=5,
    classes=(0, 2),
    gradient=LINE.gradient,
)
RATE = learning.optimizers.exponential_decay(0.5, 0.5)

BUILDERS: dict[str, Callable[[], learning.LearningProcess]] = {
    "FedSGD": lambda: learning.build_fed_sgd(SOFTMAX),
    "FedAvg": lambda: learning.build_fed_avg(LOGARITHM, RATE, local_epochs=2),
    "line": lambda: learning.build_fed_avg(LINE, weighting="uniform"),
    "FedProx": lambda: learning.build_fed_prox(SOFTMAX, proximal_strength=0.5),
    "FedAvgM": lambda: learning.build_fed_avg_m(LINE),
    "FedAdagrad": lambda: learning.build_fed_adagrad(SOFTMAX),
    "FedAdam": lambda: learning.build_fed_adam(SOFTMAX),
    "FedYogi": lambda: learning.build_fed_yogi(SOFTMAX),
    "SCAFFOLD": lambda: learning.build_scaffold(SOFTMAX, num_clients=5),
}
AGGREGATORS = [
    aggregators.clipping(aggregators.mean(), norm=1.0),
    aggregators.clipping(aggregators.mean(), quantile=0.5),
    aggregators.zeroing(aggregators.mean(), norm=10.0),
    aggregators.median(),
    aggregators.median(trim=0.2),
    aggregators.multi_krum(0),
    aggregators.secure_mean(clip=2.0),
    aggregators.gaussian(1.0, 0.0, 5),
    aggregators.gaussian_adaptive(0.0, 5),
    aggregators.top_k(0.3, error_feedback=True),
]
ALONE = AGGREGATORS[::3]  # a factory that takes one tensor takes one in the same way
DRAWN = [aggregators.gaussian(1.0, 0.5, 5), aggregators.quantize(8)]


def examples(count: int, classes: int | None = 3) -> Any:
    x = CHANCE.standard_normal([count, 5]).astype(np.float32)
    if classes is None:
        return {"x": x, "y": CHANCE.standard_normal(count).astype(np.float32)}
    return {"x": x, "y": CHANCE.integers(0, classes, count).astype(np.int32)}


# Nobody, an empty batch, and batches of other sizes.
SIZES = ((), (4, 0), (3,), (2, 5, 1), (6, 6))
CLASSES = [[examples(size) for size in sizes] for sizes in SIZES]
SPOILT = [[{**b, "x": np.nan * b["x"]} for b in batches] for batches in CLASSES]
NUMBERS = [[examples(size, None) for size in sizes] for sizes in SIZES]
UPDATES = [
    {"weights": CHANCE.standard_normal([5, 3]), "bias": CHANCE.standard_normal(3)}
    for _ in range(5)
]
UPDATES = [{n: x.astype(np.float32) for n, x in each.items()} for each in UPDATES]
# Leaves of every type; one is empty, one is a number.
MIXED = {
    "nothing": np.zeros([0, 2], np.float32),
    "one": np.float32(0.5),
    "half": np.ones(2, np.float16),
    "whole": np.ones([1], np.float64),
}


def rounds(process: learning.LearningProcess) -> Any:
    """The weights and the metrics after two rounds."""
    data = NUMBERS if process.model is LINE else CLASSES
    kept: Any = ()
    if process.initialize_client is not None:
        kept = ([process.initialize_client()] * len(data),)
    state = process.initialize()
    for _ in range(2):
        state, metrics, *kept = process.next(state, data, *kept)
    return state.weights, metrics


def aggregated(factory: Any, like: Any = UPDATES[0]) -> Any:
    made = factory(fl.types.infer_type(like))
    weights = [3.0, 1.0, 0.0, 2.0, 5.0]
    updates: Any = UPDATES if like is UPDATES[0] else [like] * 5
    kept = [made.initialize_client()] * 5 if made.initialize_client else None
    output = made.next(made.initialize(), updates, weights, *([kept] if kept else []))
    for path, leaf in flatten(like).items():
        found = flatten(output.update)[path]
        assert (found.dtype, found.shape) == (leaf.dtype, leaf.shape), (factory, path)
    return output


def evaluated(model: learning.models.Model, data: Any) -> Any:
    weights: Any = {
        n: x if model is SOFTMAX else x[..., 0] for n, x in UPDATES[0].items()
    }
    return learning.build_federated_evaluation(model)(weights, data).total


def attacked(attack: attacks.Attack) -> Any:
    process = attacks.poison(learning.build_fed_avg(SOFTMAX), attack.on([1, 3]))
    options = learning.Options(progress=False)
    return learning.run(process, CLASSES, rounds=2, options=options).weights


def steep() -> Any:
    """Gradients where the softmax rounds to 0, and of labels that no class has."""
    model, (batch, _) = LOGARITHM, CLASSES[1]
    gradient = leaf_computation(
        lambda weights, batch: model.sum_gradient(weights, batch)[0],
        model.weights_type,
        model.batch_type,
    )
    large = {name: 1000.0 * x for name, x in UPDATES[0].items()}
    return gradient(large, batch), gradient(UPDATES[0], {**batch, "y": batch["y"] + 2})


def run_with_sampling() -> Any:
    """What a whole run learns, of a part of its clients in each round."""
    x, y = np.concatenate([UPDATES[k]["weights"] for k in range(5)]), np.arange(25) % 2
    data = ClientData(np.tile(x, 2)[:, :5], y, np.split(np.arange(25), 5))
    learned = learning.run(
        learning.build_fed_avg(SOFTMAX),
        data,
        rounds=3,
        batch_size=2,
        client_sampling=ClientSampling(count=3, seed=1),
        options=learning.Options(progress=False),
    )
    return learned.weights, learned.history["loss_per_example"]


def found() -> Iterator[tuple[str, Any]]:
    for name, build in BUILDERS.items():
        yield name, rounds(build())
    for factory in AGGREGATORS:
        yield repr(factory), aggregated(factory)
        yield f"{factory!r} of any type", aggregated(factory, MIXED)
    for factory in ALONE:
        yield f"{factory!r} of one weight", aggregated(factory, MIXED["one"])
    for factory in DRAWN:
        yield f"drawn: {factory!r}", aggregated(factory)
        yield f"drawn: {factory!r} of any type", aggregated(factory, MIXED)
    yield "evaluation of classes", evaluated(SOFTMAX, CLASSES)
    yield "evaluation of numbers", evaluated(LINE, NUMBERS)
    yield "evaluation of one score", evaluated(SIGN, CLASSES)
    for model in (SOFTMAX, SIGN):
        yield f"evaluation of NaN, {model.name}", evaluated(model, SPOILT)
    for attack in (
        attacks.label_flip(),
        attacks.sign_flip(times=3.0),
        attacks.model_replacement(UPDATES[0], total_weight=20),
    ):
        yield repr(attack), attacked(attack)
    yield "steep", steep()
    yield "drawn: noise", attacked(attacks.gaussian(times=1.0))
    yield "run", run_with_sampling()


def leaves() -> dict[str, Any]:
    """All numbers, by case and path."""
    return {
        f"{name} / {path}": np.asarray(leaf)
        for name, result in found()
        for path, leaf in flatten(result).items()
    }


def told_of(call: Callable[[], Any]) -> str:
    try:
        call()
    except fl.FedLearnError as error:
        return str(error)
    return "nothing"


if __name__ == "__main__":
    network = learning.models.multilayer_perceptron([4], 5, 3)
    wrong = [[{"x": np.ones([2, 5], np.float32), "y": np.array([0, 7], np.int32)}]]
    np.savez(
        sys.argv[1],
        **leaves(),
        network=told_of(lambda: learning.build_fed_avg(network)),
        label=told_of(lambda: learning.build_fed_avg(SOFTMAX)(wrong)),
        loaded="tensorflow" in sys.modules,
        threads=threading.active_count() - 1,
    )
