# SPDX-License-Identifier: Apache-2.0
"""What every loader returns: a named data set in the layout of `tf.keras.datasets`.

The loaders beside this file fill it in; `simulation.partitions` deals it out to
clients.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.errors import FedLearnError

Images = NDArray[np.uint8]
"""Grey values 0..255, `uint8[n,28,28]`; 0 is paper, 255 is ink."""

Labels = NDArray[np.uint8]
"""The digit each image shows, `uint8[n]`, 0..9."""

Split = tuple[NDArray[Any], NDArray[Any]]
"""Examples and what they show, equally many: `[n,…]` and `[n]`."""


class DatasetError(FedLearnError, FileNotFoundError):
    """A data set is not where it was looked for, or is not what it should be."""


@final
@dataclass(frozen=True, eq=False)
class Dataset:
    """Examples in two splits, and where they come from.

    It unpacks as what `tf.keras.datasets.mnist.load_data()` returns:

    >>> import numpy as np
    >>> images, labels = np.zeros([3, 28, 28], np.uint8), np.zeros([3], np.uint8)
    >>> tiny = Dataset("tiny", (images, labels), (images[:1], labels[:1]), "nobody")
    >>> (x_train, y_train), (x_test, y_test) = tiny
    >>> x_train.shape, y_test.shape
    ((3, 28, 28), (1,))
    >>> tiny
    Dataset('tiny', train=3 examples, test=1 example)
    """

    name: str
    train: Split
    test: Split
    attribution: str

    def __iter__(self) -> Iterator[Split]:
        return iter((self.train, self.test))

    def __repr__(self) -> str:
        train, test = (_count(len(labels)) for _, labels in self)
        return f"Dataset({self.name!r}, train={train}, test={test})"


def _count(examples: int) -> str:
    return f"{examples:,} example{'' if examples == 1 else 's'}"


def check_split(images: Any, labels: Any, where: str) -> None:
    """Raises `DatasetError` unless the arrays have the layout of an MNIST split."""
    fits = (
        getattr(images, "dtype", None) == np.uint8
        and getattr(labels, "dtype", None) == np.uint8
        and images.shape == (len(labels), 28, 28)
    )
    if not fits:
        raise DatasetError(
            "an array does not have the layout of MNIST",
            expected="images uint8[n,28,28] and labels uint8[n]",
            found=f"images {_layout(images)} and labels {_layout(labels)}",
            where=where,
            do="take what load_data() of tf.keras.datasets downloads",
        )


def _layout(array: Any) -> str:
    sizes = ",".join(str(size) for size in array.shape)
    return f"{array.dtype}[{sizes}]"
