# SPDX-License-Identifier: Apache-2.0
"""The same in plain NumPy, and small data: with these, mistakes are worked out.

A usual mistake is recognized by the number it gives, so it has to be made on purpose.
"""

from collections import OrderedDict
from functools import cache
from typing import Any

import numpy as np

PIXELS, DIGITS = 784, 10


@cache
def a_model(seed: int) -> Any:
    """A model that has learned something, no matter what; 0 is the one of zeros."""
    random = np.random.default_rng(seed)
    scale = 0.05 if seed else 0.0
    return OrderedDict(
        weights=(scale * random.standard_normal([PIXELS, DIGITS])).astype(np.float32),
        bias=(10 * scale * random.standard_normal(DIGITS)).astype(np.float32),
    )


def a_batch(*labels: int) -> Any:
    """One image for each label, a tenth of it ink."""
    random = np.random.default_rng(sum(labels))
    ink = random.random([len(labels), PIXELS])
    return OrderedDict(
        x=np.where(ink > 0.9, ink, 0).astype(np.float32),
        y=np.asarray(labels, np.int32).reshape(-1),
    )


def scores(model: Any, batch: Any) -> Any:
    """`[images,10]`, as float64."""
    images, weights = (
        np.asarray(each, np.float64) for each in (batch["x"], model["weights"])
    )
    return images @ weights + model["bias"]


def belief(model: Any, batch: Any) -> Any:
    """`[images,10]`: the softmax of the scores."""
    powers = np.exp(scores(model, batch))
    return powers / powers.sum(axis=1, keepdims=True)


def right(batch: Any) -> Any:
    """`[images,10]`: a one at the digit that is there."""
    return np.eye(DIGITS)[np.asarray(batch["y"])]


def in_right(model: Any, batch: Any) -> Any:
    """`[images]`: the belief in the digit that is there."""
    return (right(batch) * belief(model, batch)).sum(axis=1)


def loss(model: Any, batch: Any) -> Any:
    """The mean over the images of -ln(belief in the right digit)."""
    return -np.mean(np.log(in_right(model, batch)))


def slopes(model: Any, batch: Any) -> Any:
    """The gradient of the loss."""
    too_much = (belief(model, batch) - right(batch)) / len(batch["y"])
    weights = np.float64(batch["x"]).T @ too_much
    return OrderedDict(weights=weights, bias=too_much.sum(axis=0))


def moved(model: Any, step: Any, by: float) -> Any:
    """The model, plus so many times a step."""
    return OrderedDict((name, model[name] + by * step[name]) for name in model)


def trained(model: Any, rate: float, batches: Any) -> Any:
    """The model after one step downhill for each batch."""
    for batch in batches:
        model = moved(model, slopes(model, batch), -rate)
    return model


def summed(model: Any, batches: Any) -> float:
    """The losses of all batches, added up."""
    return float(sum(loss(model, batch) for batch in batches))
