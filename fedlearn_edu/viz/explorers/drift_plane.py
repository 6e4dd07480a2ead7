# SPDX-License-Identifier: Apache-2.0
"""The plane in which clients drift apart, and the loss of everybody's data in it.

Its axes are the first two principal components of the clients' updates after the most
passes; the server's old model is its origin. What of an update is outside of the plane
is not seen in it, and `share` says how much is.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

import fedlearn_edu as fl
from fedlearn_edu.viz.explorers.drift_paths import (
    MOST_EPOCHS,
    Paths,
    begin_weights,
    digits,
    flat,
    model,
)

_GRID = 23
_MARGIN = 0.25
_TINY = 1e-12

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class DriftPlane:
    """One round of some of the clients, seen in a plane.

    Attributes:
        steps: for each client `[steps+1,2]`, its path in the plane.
        batches: `[clients]`, how many of these steps make up one pass.
        means: `[epochs,2]`, the server's new model after so many passes and one more.
        cosines: `[epochs,clients,clients]` between the clients' updates.
        shares: `[epochs]`, how much of the squared length of the updates is seen here.
        side: `[points]`, where the grid's points are, along both axes from `corner`.
        corner: the lower left corner of the grid.
        losses: `[points,points]`, on everybody's examples in nats, row by row.
        new_losses: `[epochs+1]`, of the server's old model and of the new ones.
    """

    steps: tuple[Floats, ...]
    batches: NDArray[np.int64]
    means: Floats
    cosines: Floats
    shares: Floats
    side: Floats
    corner: Floats
    losses: Floats
    new_losses: Floats

    @property
    def lowest(self) -> Floats:
        """`[2]`: the point of the grid with the lowest loss; `nan` if on its edge."""
        row, column = np.unravel_index(np.argmin(self.losses), self.losses.shape)
        if {row, column} & {0, len(self.side) - 1}:
            return np.full(2, np.nan)
        return np.asarray(self.corner + self.side[[column, row]])


def find_plane(data: str, paths: Paths, clients: int) -> DriftPlane:
    """The plane of the first so many clients; they alone take part in the round."""
    updates = paths.updates[:, :clients].astype(np.float64)
    _, _, components = np.linalg.svd(updates[-1], full_matrices=False)
    moves = _mean_updates(paths.updates[:, :clients], paths.examples[:clients])
    # A component has no sign: here the mean goes to the right, and up.
    axes = components[:2] * np.where(components[:2] @ moves[-1] < 0, -1, 1)[:, None]
    inside = paths.basis.astype(np.float64) @ axes.T
    steps = tuple(np.asarray(each @ inside) for each in paths.steps[:clients])
    means = moves @ axes.T
    corner, side = _square([*steps, means])
    along, up = np.meshgrid(side + corner[0], side + corner[1])
    points = np.stack([along.ravel(), up.ravel()], axis=1)
    losses = _losses(data, points, axes).reshape(along.shape)
    new = _losses(data, np.eye(MOST_EPOCHS + 1)[:, 1:], moves)
    lengths = np.maximum((updates**2).sum(axis=(1, 2)), _TINY)
    shares = ((updates @ axes.T) ** 2).sum(axis=(1, 2)) / lengths
    return DriftPlane(
        steps,
        paths.batches[:clients],
        means,
        _cosines(updates),
        shares,
        side,
        corner,
        losses,
        new,
    )


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


def _cosines(updates: Floats) -> Floats:
    lengths = np.maximum(np.linalg.norm(updates, axis=2, keepdims=True), _TINY)
    unit = updates / lengths
    return np.asarray(unit @ np.moveaxis(unit, 1, 2))


def _square(points: Sequence[Floats]) -> tuple[Floats, Floats]:
    """The corner and the side of a square with room for all points."""
    both = np.concatenate(points)
    low, high = both.min(axis=0), both.max(axis=0)
    half = max(float((high - low).max()) / 2 * (1 + _MARGIN), _TINY)
    return (low + high) / 2 - half, np.linspace(0.0, 2 * half, _GRID)


def _losses(data: str, points: Floats, directions: Floats) -> Floats:
    """`[points]`: the mean loss on all examples, so far along these directions."""
    batches = [batch for client in digits(data) for batch in client.batches(1000)]
    everybody = OrderedDict(
        (name, np.concatenate([batch[name] for batch in batches])) for name in "xy"
    )
    evaluate, kind = _evaluation(len(directions)), np.float32
    rows = points.astype(kind), directions.astype(kind), flat(begin_weights())
    found = evaluate(*rows, everybody)
    return np.asarray(found, dtype=np.float64)


@cache
def _evaluation(count: int) -> Any:
    begin = begin_weights()
    size = len(flat(begin))

    def shaped(row: Any) -> Any:
        weights, start = OrderedDict(), 0
        for name, each in begin.items():
            part = row[start : start + each.size]
            weights[name] = fl.tf.reshape(part, each.shape)
            start += each.size
        return weights

    @fl.tf_computation(
        fl.TensorType(np.float32, [None, count]),
        fl.TensorType(np.float32, [count, size]),
        fl.TensorType(np.float32, [size]),
        model().batch_type,
    )
    def evaluate(points: Any, directions: Any, origin: Any, batch: Any) -> Any:
        def loss(point: Any) -> Any:
            row = origin + fl.tf.linalg.matvec(directions, point, transpose_a=True)
            return fl.tf.reduce_mean(model().losses(shaped(row), batch))

        return fl.tf.map_fn(loss, points)

    return evaluate
