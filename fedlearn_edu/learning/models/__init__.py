# SPDX-License-Identifier: Apache-2.0
"""Models to train: pure functions of weights and a batch, with types.

`networks` has those of the lessons and papers, `keras_models` makes one of a Keras
model, `linear_regression` is the one in the style of Keras that old programs ask for.
"""

from fedlearn_edu.former_names import answering
from fedlearn_edu.learning.models.keras_models import from_keras_model
from fedlearn_edu.learning.models.linear_regression import LinearRegression
from fedlearn_edu.learning.models.model import Model
from fedlearn_edu.learning.models.networks import (
    convolutional_network,
    linear_regression,
    multilayer_perceptron,
    softmax_regression,
)

__all__ = [
    "LinearRegression",
    "Model",
    "convolutional_network",
    "from_keras_model",
    "linear_regression",
    "multilayer_perceptron",
    "softmax_regression",
]

__getattr__ = answering("fedlearn_edu.learning.models", __all__)
