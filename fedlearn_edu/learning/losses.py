# SPDX-License-Identifier: Apache-2.0
"""Losses as pure functions: one number per example, never an average.

How examples are averaged is said where it is done: in `local_training` for gradients,
in `evaluation` for what is reported.
"""

from typing import Any

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.learning.arrays import tf
from fedlearn_edu.learning.errors import ProcessError


def cross_entropy(outputs: Any, y: Any) -> Any:
    r"""$-\log p_y$ in nats, from the scores of all classes before the softmax.

    `<float32[n,classes],int32[n]> -> float32[n]`; of a sequence, `float32[n,t,classes]`
    and `int32[n,t]`, it is the mean over its places.

    >>> import numpy as np
    >>> cross_entropy(np.zeros([1, 10], np.float32), np.array([3])).numpy()
    array([2.3025851], dtype=float32)
    """
    find_each = tf.nn.sparse_softmax_cross_entropy_with_logits
    found = find_each(labels=y, logits=outputs)
    places = tuple(range(1, found.ndim or 1))
    return tf.reduce_mean(found, places) if places else found


def squared_error(outputs: Any, y: Any) -> Any:
    r"""$(f(x) - y)^2$. `<float32[n],float32[n]> -> float32[n]`.

    >>> import numpy as np
    >>> squared_error(np.float32([1, 2]), np.float32([1, 4])).numpy()
    array([0., 4.], dtype=float32)
    """
    return tf.square(outputs - y)


NAMES = {
    "cross_entropy": cross_entropy,
    "sparse_categorical_crossentropy": cross_entropy,
    "squared_error": squared_error,
    "mean_squared_error": squared_error,
    "mse": squared_error,
}
"""Ours, and what Keras calls them."""


@short_traceback
def find(name: str) -> Any:
    """The loss of this name, ours or Keras's.

    Raises:
        ProcessError: there is none.
    """
    if name not in NAMES:
        raise ProcessError(
            "no loss has this name",
            expected=" or ".join(map(repr, NAMES)),
            found=repr(name),
            do="choose one of them, or pass a function of outputs and y",
        )
    return NAMES[name]
