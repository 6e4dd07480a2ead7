# SPDX-License-Identifier: Apache-2.0
r"""Gradient inversion: the inputs of a softmax regression, from one step's update.

With scores $z_i = x_i W + b$, shares $p_i = \mathrm{softmax}(z_i)$ and the mean loss
over a batch of B, the two gradients have one factor in common:

$$\frac{\partial L}{\partial b_k} = \frac{1}{B} \sum_i (p_{ik} - [y_i = k]), \qquad
\frac{\partial L}{\partial W_{\cdot k}}
  = \frac{1}{B} \sum_i (p_{ik} - [y_i = k])\, x_i$$

For a batch of one, their quotient is the input, whatever the weights. For a larger one
it is a weighted sum of the inputs, in which those of class k weigh most.

What it assumes: the server sees a single client's update, after a single step of plain
SGD, of a model whose only layer is linear and has a bias. What is left is the rounding
of `float32`: the surer the model is of an example, the smaller the two numbers that are
divided.

Source: L. T. Phong et al., "Privacy-Preserving Deep Learning via Additively Homomorphic
Encryption", IEEE TIFS 2018; labels from signs: B. Zhao et al., "iDLG: Improved Deep
Leakage from Gradients", 2020.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.attacks.errors import AttackError
from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.learning import losses
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.pytree import flatten, rebuild
from fedlearn_edu.rules import number
from fedlearn_edu.simulation.seeded_rng import seeded_rng

__all__ = ["Recovered", "correlation", "recover"]

Floats = NDArray[np.floating[Any]]


@final
@dataclass(frozen=True, eq=False)
class Recovered:
    """What an update gives away.

    Attributes:
        x: `float32[classes,features]`, for each class the input that its column tells;
            0 where the column tells nothing.
        labels: the classes that must be in the batch, the surest one first: their bias
            gradient is negative. At zero weights, with fewer than `classes` examples,
            none is missing; the better the model, the more are.
        bias_gradient: `float32[classes]`; for a batch of one, shares minus one-hot y.
    """

    x: Floats
    labels: tuple[int, ...]
    bias_gradient: Floats

    @property
    def best(self) -> Floats:
        """`float32[features]`: the input of the surest label; exact for one example."""
        best: Floats = self.x[int(self.bias_gradient.argmin())]
        return best


@short_traceback
def recover(model: Model, update: Any, learning_rate: float) -> Recovered:
    """Inputs and labels of the batch behind an update.

    >>> import fedlearn_edu as fl
    >>> model = fl.learning.models.softmax_regression(features=3, classes=2)
    >>> batch = {"x": fl.tf.constant([[0.1, 0.2, 0.7]]), "y": fl.tf.constant([1])}
    >>> gradient, _ = model.mean_gradient(model.initialize(0), batch)
    >>> update = {name: -0.5 * g.numpy() for name, g in gradient.items()}
    >>> found = recover(model, update, learning_rate=0.5)
    >>> found.labels, found.best
    ((1,), array([0.1, 0.2, 0.7], dtype=float32))

    Args:
        model: A softmax regression.
        update: The weights after the step minus those before, in the structure of
            `model.weights_type`.
        learning_rate: Of the step. It makes the update a gradient; the inputs are
            quotients, in which it cancels out.

    Raises:
        AttackError: if the model is not linear with a softmax, the update is not one of
            its updates, or no step was taken.
    """
    _check_linear(model)
    rule, summary = "learning_rate > 0", "a step has a length"
    number(learning_rate, rule, AttackError, summary=summary)
    columns, bias = _gradient(model, update, float(learning_rate))
    if not bias.any():
        raise AttackError(
            "there is nothing in this update",
            expected="the weights after a step minus those before",
            found="a bias that did not change",
            where="update",
        )
    tells = bias != 0
    x = np.where(tells, columns / np.where(tells, bias, 1), 0).T
    surest = np.argsort(bias, kind="stable")
    labels = tuple(int(k) for k in surest if bias[k] < 0)
    return Recovered(x, labels, bias)


@short_traceback
def correlation(found: Any, originals: Any) -> NDArray[np.float64]:
    """For each original its correlation with the most similar of what was found.

    >>> correlation([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]], [[1.0, 3.0, 5.0]])
    array([1.])

    Args:
        found: `float[m,features]`, such as `Recovered.x`. Rows without any contrast are
            similar to nothing.
        originals: `float[n,features]`.
    """
    alike = _unit(originals) @ _unit(found).T
    most: NDArray[np.float64] = alike.max(axis=1).round(12)
    return most


def _unit(rows: Any) -> NDArray[np.float64]:
    """Each row with mean 0 and length 1."""
    centred: NDArray[np.float64] = np.array(rows, np.float64)
    centred -= centred.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    centred /= np.where(length > 0, length, 1.0)
    return centred


def _check_linear(model: Any) -> None:
    """Refuses what is not `x @ W + b` with cross-entropy, by trying it on numbers."""
    if isinstance(model, Model) and _is_linear(model):
        return
    raise AttackError(
        "only a softmax regression is inverted here",
        expected="a softmax regression: scores x @ weights + bias, and cross-entropy",
        found=model.name if isinstance(model, Model) else describe(model),
        where="model",
        do="fl.learning.models.softmax_regression(features, classes)",
    )


def _is_linear(model: Model) -> bool:
    start, classes = model.initialize(0), model.classes
    shapes = [tuple(np.shape(leaf)) for leaf in flatten(start).values()]
    if shapes != [(model.features, classes), (classes,)]:
        return False
    chance = seeded_rng("inversion", 0)
    w, b, x = (
        chance.standard_normal(shape).astype(np.float32)
        for shape in (*shapes, (4, model.features))
    )
    weights = rebuild(start, dict(zip(flatten(start), (w, b), strict=True)))
    scores, y = x @ w + b, np.arange(4, dtype=np.int32) % len(b)
    found = model.predict(weights, x), model.loss(scores, y)
    expected = scores, losses.cross_entropy(scores, y)
    return all(map(partial(np.allclose, rtol=1e-3, atol=1e-3), found, expected))


def _gradient(model: Model, update: Any, rate: float) -> tuple[Floats, Floats]:
    leaves = [np.asarray(leaf) for leaf in flatten(update).values()]
    expected = [(model.features, model.classes), (model.classes,)]
    if [leaf.shape for leaf in leaves] != expected:
        raise AttackError(
            "this is no update of that model",
            expected=str(model.weights_type),
            found=", ".join(str(list(leaf.shape)) for leaf in leaves) or "nothing",
            where="update",
        )
    columns, bias = (-leaf / np.float32(rate) for leaf in leaves)
    return columns, bias
