# SPDX-License-Identifier: Apache-2.0
"""The embedded data set: 1,797 real digits that need no network.

They are the digits scikit-learn ships (E. Alpaydin and C. Kaynak, "Optical Recognition
of Handwritten Digits", UCI, 1998, CC BY 4.0), stored as 8x8 pixels, digit by digit.
"""

from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.simulation.datasets.dataset import Dataset, Images

_FOLDER = files("fedlearn_edu.simulation") / "data"
_STORED_INK = 16
_DIGIT_SIZE = 20
_FIELD_SIZE = 28
_ONE_TEST_EXAMPLE_IN = 5


@short_traceback
def load_digits28() -> Dataset:
    """Returns the embedded digits: 1,437 to train on and 360 to test with.

    The layout is that of MNIST: a digit of at most 20x20 pixels in the middle of a
    28x28 field. The split is always the same and has every digit in the same share.

    >>> (x_train, y_train), (x_test, y_test) = load_digits28()
    >>> x_train.shape, x_train.dtype, y_train.shape, y_train.dtype
    ((1437, 28, 28), dtype('uint8'), (1437,), dtype('uint8'))
    >>> np.bincount(y_test).tolist()
    [36, 36, 36, 36, 37, 36, 36, 36, 35, 36]
    """
    with (_FOLDER / "digits28.npz").open("rb") as file, np.load(file) as arrays:
        stored, labels = arrays["images"], arrays["labels"]
    by_digit = np.argsort(labels, kind="stable")
    images = enlarge(np.moveaxis(stored, -1, 0))[np.argsort(by_digit)]
    is_test = np.isin(np.arange(len(labels)), by_digit[::_ONE_TEST_EXAMPLE_IN])
    return Dataset(
        name="digits28",
        train=(images[~is_test], labels[~is_test]),
        test=(images[is_test], labels[is_test]),
        attribution=(_FOLDER / "digits28_ATTRIBUTION.txt").read_text("utf-8"),
    )


def enlarge(stored: NDArray[np.uint8]) -> Images:
    """Turns `uint8[n,8,8]` of 0..16 into `uint8[n,28,28]` of 0..255.

    Bilinear: a pixel of the result is a weighted mean of its four nearest pixels.
    Ink keeps about the share of the field it has in MNIST (16 % here, 13 % there), so
    the same learning rates suit both.

    >>> enlarge(np.full([1, 8, 8], 16, np.uint8)).sum() == 255 * 20 * 20
    np.True_
    """
    across = interpolation_weights(stored.shape[-1], _DIGIT_SIZE)
    ink = across @ stored.astype(np.int64) @ across.T
    full = _STORED_INK * (2 * _DIGIT_SIZE) ** 2
    grey = (255 * ink + full // 2) // full
    margin = (_FIELD_SIZE - _DIGIT_SIZE) // 2
    border = ((0, 0), (margin, margin), (margin, margin))
    return np.pad(grey.astype(np.uint8), border)


def interpolation_weights(old: int, new: int) -> NDArray[np.int64]:
    """Returns the `[new,old]` weights that stretch `old` pixels over `new` ones.

    Each row weighs the two nearest old pixel centers, in whole parts of `2 * new`, so
    that every machine finds the same bytes.

    >>> interpolation_weights(2, 4).tolist()
    [[8, 0], [6, 2], [2, 6], [0, 8]]
    """
    step = 2 * new
    centers = np.clip((2 * np.arange(new) + 1) * old - new, 0, step * (old - 1))
    distance = np.abs(centers[:, None] - step * np.arange(old))
    weights: NDArray[np.int64] = np.maximum(0, step - distance)
    return weights
