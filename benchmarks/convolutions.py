# SPDX-License-Identifier: Apache-2.0
"""The convolutional network in NumPy, forth and back: products of unfolded patches."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.models import Parameters

Array = NDArray[Any]
_FIELD = 5


def forward(model: Parameters, x: Array) -> tuple[Array, Any]:
    """Inputs to scores, and what the way back needs."""
    kernel_1, bias_1, kernel_2, bias_2, weights_3, bias_3, weights_4, bias_4 = model
    first, seen_1 = _layer(x.reshape(-1, 28, 28, 1), kernel_1, bias_1)
    second, seen_2 = _layer(first, kernel_2, bias_2)
    flat = second.reshape(len(x), -1)
    hidden = np.maximum(flat @ weights_3 + bias_3, 0)
    return hidden @ weights_4 + bias_4, (seen_1, seen_2, flat, hidden)


def backward(model: Parameters, seen: Any, error: Array) -> Parameters:
    """From the gradient of the scores to those of all arrays."""
    kernel_2, weights_3, weights_4 = model[2], model[4], model[6]
    seen_1, seen_2, flat, hidden = seen
    of_hidden = error @ weights_4.T * (hidden > 0)
    of_second = (of_hidden @ weights_3.T).reshape(-1, 7, 7, kernel_2.shape[-1])
    kernel_2_gradient, bias_2_gradient, of_columns = _layer_back(
        of_second, kernel_2, seen_2
    )
    of_first = _folded(of_columns, kernel_2.shape[2])
    kernel_1_gradient, bias_1_gradient, _ = _layer_back(of_first, model[0], seen_1)
    return (
        *(kernel_1_gradient, bias_1_gradient),
        *(kernel_2_gradient, bias_2_gradient),
        *(flat.T @ of_hidden, of_hidden.sum(axis=0)),
        *(hidden.T @ error, error.sum(axis=0)),
    )


def _layer(images: Array, kernel: Array, bias: Array) -> tuple[Array, Any]:
    """Convolution, ReLU, and max pooling two by two."""
    columns = _unfolded(images)
    height = images.shape[1]
    values = np.maximum(columns @ kernel.reshape(-1, kernel.shape[-1]) + bias, 0)
    blocks = _blocks(values.reshape(len(images), height, height, -1))
    largest = blocks.argmax(axis=3)[:, :, :, None]
    pooled = np.take_along_axis(blocks, largest, axis=3)
    return pooled[:, :, :, 0], (columns, largest, pooled > 0)


def _layer_back(
    gradient: Array, kernel: Array, seen: Any
) -> tuple[Array, Array, Array]:
    """From the gradient of the result to those of kernel, bias and patches."""
    columns, largest, alive = seen
    count, half, _, channels = gradient.shape
    blocks = np.zeros([count, half, half, 4, channels], gradient.dtype)
    np.put_along_axis(blocks, largest, gradient[:, :, :, None] * alive, axis=3)
    squares = blocks.reshape(count, half, half, 2, 2, channels)
    rows = squares.transpose(0, 1, 3, 2, 4, 5).reshape(-1, channels)
    flat_kernel = kernel.reshape(-1, channels)
    kernel_gradient = (columns.T @ rows).reshape(kernel.shape)
    return kernel_gradient, rows.sum(axis=0), rows @ flat_kernel.T


def _unfolded(images: Array) -> Array:
    """One row for each pixel: the patch around it, zeros beyond the edges (im2col)."""
    edge = _FIELD // 2
    padded = np.pad(images, [(0, 0), (edge, edge), (edge, edge), (0, 0)])
    patches = np.lib.stride_tricks.sliding_window_view(
        padded, (_FIELD, _FIELD), axis=(1, 2)
    )
    return patches.transpose(0, 1, 2, 4, 5, 3).reshape(-1, _FIELD**2 * images.shape[3])


def _folded(columns: Array, channels: int, height: int = 14) -> Array:
    """Adds up the patches at each pixel: the transpose of `_unfolded` (col2im)."""
    edge = _FIELD // 2
    patches = columns.reshape(-1, height, height, _FIELD, _FIELD, channels)
    wide = height + 2 * edge
    padded = np.zeros([len(patches), wide, wide, channels], columns.dtype)
    for i in range(_FIELD):
        for j in range(_FIELD):
            padded[:, i : i + height, j : j + height] += patches[:, :, :, i, j]
    return padded[:, edge:-edge, edge:-edge]


def _blocks(values: Array) -> Array:
    """`[n,h,h,c]` to `[n,h/2,h/2,4,c]`."""
    count, height, _, channels = values.shape
    half = height // 2
    squares = values.reshape(count, half, 2, half, 2, channels)
    return squares.transpose(0, 1, 3, 2, 4, 5).reshape(count, half, half, 4, channels)
