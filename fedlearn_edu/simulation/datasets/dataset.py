# SPDX-License-Identifier: Apache-2.0
"""`Dataset`: examples in two splits, as `tf.keras.datasets` returns them.

The loaders beside this file make one, `from_arrays` makes one of your own arrays, and
`simulation.partitions` deals it out to clients.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import FedLearnError, counted, short_traceback

_NUMBERS = "buif"

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
        counts = [len(labels) for _, labels in self]
        train, test = (f"{counted(n, 'example')}" for n in counts)
        return f"Dataset({self.name!r}, train={train}, test={test})"


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


class ExamplesError(FedLearnError, ValueError):
    """Arrays are not examples: x and y do not match, or hold no numbers, or nothing."""


@short_traceback
def from_arrays(
    x: ArrayLike,
    y: ArrayLike,
    x_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    *,
    name: str = "arrays",
) -> Dataset:
    """Makes a data set of arrays of your own, without copying them.

    Args:
        x: Examples of any shape, `[n,…]`: images, or rows of features.
        y: What is to be learned, `[n]` labels or `[n,…]` numbers.
        x_test: Examples to test with. Without them the test split has the same layout
            and no examples.
        y_test: What belongs to them.
        name: What the data set is called.

    >>> data = from_arrays(np.zeros([6, 4]), np.arange(6), name="mine")
    >>> data
    Dataset('mine', train=6 examples, test=0 examples)
    >>> data.test[0].shape
    (0, 4)

    Raises:
        ExamplesError: if x and y are not equally many, hold no numbers, or nothing.
    """
    if isinstance(x, tuple) and isinstance(y, tuple):
        raise ExamplesError(
            "two splits were passed where one is taken apart",
            expected="four arrays: x, y, x_test, y_test",
            found="two tuples, as keras.datasets returns them",
            where=name,
            do="from_arrays(*train, *test)",
        )
    train = check_examples(x, y, f"{name}, train")
    if x_test is None and y_test is None:
        return Dataset(name, train, (train[0][:0], train[1][:0]), "")
    if x_test is None or y_test is None:
        raise ExamplesError(
            "a test split has both examples and labels",
            expected="x_test and y_test, or neither",
            found="x_test only" if y_test is None else "y_test only",
            where=f"{name}, test",
        )
    test = check_examples(x_test, y_test, f"{name}, test")
    for of_train, of_test, array in zip(train, test, "xy", strict=True):
        if of_train.shape[1:] != of_test.shape[1:]:
            raise ExamplesError(
                "the two splits have different layouts",
                expected=f"{array}_test of shape {_shape(of_train)}",
                found=_shape(of_test),
                where=f"{name}, test",
            )
    return Dataset(name, train, test, "")


def _shape(array: NDArray[Any]) -> str:
    return f"[{','.join(['n', *map(str, array.shape[1:])])}]"


def check_examples(x: ArrayLike, y: ArrayLike, where: str) -> Split:
    """Returns x and y as arrays of numbers, at least one example, and equally many."""
    x, y = _array(x, f"{where}, x"), _array(y, f"{where}, y")
    for name, array in (("x", x), ("y", y)):
        if array.ndim == 0 or array.dtype.kind not in _NUMBERS:
            raise ExamplesError(
                "examples are arrays of numbers, one entry per example",
                expected=f"{name} of shape [n, …], of whole numbers or floats",
                found=f"{array.dtype} of shape {list(array.shape)}",
                where=where,
                do="encode names as numbers: np.unique(names, return_inverse=True)[1]"
                if array.dtype.kind in "USO"
                else None,
            )
    if len(x) != len(y):
        raise ExamplesError(
            "the labels do not match the images",
            expected=f"as many entries in y as in x: {len(x):,}",
            found=f"{len(y):,}",
            where=where,
            do="pass the two arrays of one split",
        )
    if not len(x):
        raise ExamplesError(
            "there are no examples",
            expected="at least one example",
            found=f"x of shape {list(x.shape)}",
            where=where,
        )
    return x, y


def _array(values: ArrayLike, where: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ExamplesError(
            "examples have one shape",
            expected="entries of the same shape",
            found="entries of different lengths or depths",
            where=where,
            do="pad or crop them first",
        ) from error
