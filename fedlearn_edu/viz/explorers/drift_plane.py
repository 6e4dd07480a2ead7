# SPDX-License-Identifier: Apache-2.0
"""How far clients go in one round, and how much of it is left in their mean.

A path has a length and an angle, both in the space of all weights: to the right is
where the mean of the clients' updates goes, up or down is what is away from it. Nothing
of an update is left out, as it would be in a plane of principal components, which shows
a fifth of ten updates that are almost at right angles.
"""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

import fedlearn_edu as fl
from fedlearn_edu.viz.explorers.drift_paths import Paths, begin_weights, digits, flat
from fedlearn_edu.viz.explorers.drift_paths import model as the_model

_TINY = 1e-12

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class DriftPlane:
    """One round of some of the clients; lengths are those of all weights together.

    Attributes:
        updates: `[epochs,clients,weights]`, how far each client is after each pass.
        examples: `[clients]`, what an update weighs in the mean.
        means: `[epochs,weights]`, what the server adds after so many passes.
        losses: `[epochs+1]`, in nats on everybody's examples, of the server's old model
            and of the new one after each number of passes.
    """

    updates: Floats
    examples: NDArray[np.int64]
    means: Floats
    losses: Floats

    def paths(self, epochs: int) -> Floats:
        """`[clients,epochs+1,2]`: along the mean update, and away from it.

        Even clients go up and odd ones down, so that they can be told apart.
        """
        start = np.zeros_like(self.updates[:1])
        walked = np.concatenate([start, self.updates[:epochs]])
        along = walked @ (self.means[epochs - 1] / self.gone(epochs))
        away = np.sqrt(np.maximum((walked**2).sum(axis=2) - along**2, 0.0))
        away *= np.where(np.arange(walked.shape[1]) % 2, -1, 1)
        return np.moveaxis(np.stack([along, away], axis=2), 0, 1)

    def gone(self, epochs: int) -> float:
        """How far the mean of the clients' models is from the old model."""
        return max(float(np.linalg.norm(self.means[epochs - 1])), _TINY)

    def walked(self, epochs: int) -> float:
        """How far the clients are from the old model, on average: by examples."""
        lengths = np.linalg.norm(self.updates[epochs - 1], axis=1)
        return max(float(np.average(lengths, weights=self.examples)), _TINY)

    def angles(self, epochs: int) -> Floats:
        """`[clients]`: degrees between a client's update and the mean of all."""
        ends = self.paths(epochs)[:, -1]
        return np.asarray(np.degrees(np.arctan2(np.abs(ends[:, 1]), ends[:, 0])))

    def cosines(self, epochs: int) -> Floats:
        """`[clients,clients]`: between the clients' updates."""
        update = self.updates[epochs - 1]
        lengths = np.maximum(np.linalg.norm(update, axis=1, keepdims=True), _TINY)
        unit = update / lengths
        return np.asarray(unit @ unit.T)


def find_plane(data: str, paths: Paths, clients: int) -> DriftPlane:
    """The round of the first so many clients; they alone take part in it."""
    updates, examples = paths.updates[:, :clients], paths.examples[:clients]
    moves = _mean_updates(updates, examples)
    new = _losses(data, np.concatenate([np.zeros_like(moves[:1]), moves]))
    return DriftPlane(updates.astype(np.float64), examples, moves, new)


def _mean_updates(updates: NDArray[np.float32], examples: NDArray[np.int64]) -> Floats:
    """`[epochs,weights]`: what the server adds, by examples as in FedAvg."""
    by_client = [np.ascontiguousarray(each) for each in np.moveaxis(updates, 1, 0)]
    mean = _mean(by_client[0].shape)
    found = mean(by_client, examples.astype(np.float32).tolist())
    return np.asarray(found, dtype=np.float64)


@cache
def _mean(shape: tuple[int, ...]) -> Any:
    return fl.federated_computation(
        lambda update, weight: fl.federated_mean(update, weight),
        fl.type_at_clients(fl.TensorType(np.float32, shape)),
        fl.type_at_clients(np.float32),
    )


def _losses(data: str, moves: Floats) -> Floats:
    """`[moves]`: the mean loss on all examples, so far from the server's old model."""
    batches = [batch for client in digits(data) for batch in client.batches(1000)]
    everybody = OrderedDict(
        (name, np.concatenate([batch[name] for batch in batches])) for name in "xy"
    )
    rows = (moves + flat(begin_weights())).astype(np.float32)
    return np.asarray(_evaluation()(rows, everybody), dtype=np.float64)


@cache
def _evaluation() -> Any:
    begin = begin_weights()

    def shaped(row: Any) -> Any:
        weights, start = OrderedDict(), 0
        for name, each in begin.items():
            part = row[start : start + each.size]
            weights[name] = fl.tf.reshape(part, each.shape)
            start += each.size
        return weights

    @fl.tf_computation(
        fl.TensorType(np.float32, [None, len(flat(begin))]), the_model().batch_type
    )
    def evaluate(rows: Any, batch: Any) -> Any:
        def loss(row: Any) -> Any:
            return fl.tf.reduce_mean(the_model().losses(shaped(row), batch))

        return fl.tf.map_fn(loss, rows)

    return evaluate
