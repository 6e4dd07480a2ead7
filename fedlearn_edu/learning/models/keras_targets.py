# SPDX-License-Identifier: Apache-2.0
"""What the y of a Keras model is, by its loss, and whether its outputs fit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import fedlearn_edu as fl
from fedlearn_edu.errors import describe, is_whole_number
from fedlearn_edu.learning import losses
from fedlearn_edu.learning.errors import ProcessError


def own_loss(loss: Any) -> Any:
    """The loss, unless it is one of Keras, which takes y before the outputs."""
    module: str = getattr(loss, "__module__", None) or type(loss).__module__
    if not callable(loss) or "keras" in module.partition(".")[0]:
        raise ProcessError(
            "a loss is a name, or a function of outputs and y",
            expected=" or ".join(map(repr, losses.NAMES)),
            found=describe(loss),
            where="loss",
            do="Keras's own losses take y first, and many return a mean: take a name",
        )
    return loss


def targets_of(
    loss: Any, targets: Any, outputs: NDArray[np.float32], *, is_open: bool
) -> tuple[Any, Any]:
    """The model's classes, and the type of the y of one example."""
    places, count = outputs.shape[1:-1], outputs.shape[-1]
    if isinstance(loss, str):
        fixed = np.float32 if losses.find(loss) is losses.squared_error else "classes"
        if targets not in (None, fixed):
            raise ProcessError(
                "the loss says what y is",
                expected=f"no targets, or targets={_shown(fixed)}",
                found=f"loss={loss!r}, and targets={_shown(targets)}",
                where="targets",
                do="leave them out, or pass a loss of your own, a function",
            )
        targets = fixed
    is_classes = isinstance(targets, str) and targets == "classes"
    if targets is None or (isinstance(targets, str) and not is_classes):
        raise ProcessError(
            "a loss of your own does not say what y is",
            expected="classes, the labels of two classes, or the type of a number",
            found=f"loss={getattr(loss, '__name__', loss)}, targets={targets!r}",
            where="targets",
            do="from_keras_model(…, targets='classes'), or (-1, 1), or np.float32",
        )
    is_pair = isinstance(targets, tuple | list) and all(
        is_whole_number(label) for label in targets
    )
    if not is_pair and not is_classes:
        return None, fl.to_type(targets)
    if (is_pair and not len(targets) == 2 > count) or (count == 1 and places):
        raise ProcessError(
            "the targets do not fit the outputs",
            expected="one score for two labels, or a score for each class",
            found=f"targets={targets!r}, outputs of shape {list(outputs.shape[1:])}",
            where="targets",
            do="labels of more classes are counted from 0: targets='classes'",
        )
    sizes = [None if is_open else size for size in places]
    classes = tuple(map(int, targets)) if is_pair else 2 if count == 1 else count
    return classes, fl.TensorType(np.int32, sizes)


def _shown(targets: Any) -> str:
    return "np.float32" if targets is np.float32 else repr(targets)


def check_outputs(keras_model: Any, loss: str, outputs: NDArray[np.float32]) -> None:
    """Refuses outputs from which the loss can be computed, but not meaningfully."""
    is_regression = losses.find(loss) is losses.squared_error
    numbers = int(np.prod(outputs.shape[1:]))
    if numbers != 1 if is_regression else outputs.shape[-1] == 1:
        raise ProcessError(
            "the outputs do not fit the loss",
            expected="one number" if is_regression else "a score for each class",
            found=f"outputs of shape {list(outputs.shape[1:])}, and loss={loss!r}",
            where=f"the last layer of {keras_model.name}",
            do="cross_entropy is for classes, mse for one number, and a loss of your "
            "own, a function, for others",
        )
    sums = outputs.sum(axis=-1)
    if not is_regression and (outputs >= 0).all() and np.allclose(sums, 1, atol=1e-3):
        # A look at the layers would miss a softmax in an inner model.
        raise ProcessError(
            "the model ends in a softmax, which this loss takes itself",
            expected="scores before the softmax",
            found="outputs of at least 0 that add up to 1",
            where=f"the last layer of {keras_model.name}",
            do="leave out activation='softmax'; as it is, it would hardly learn",
        )
