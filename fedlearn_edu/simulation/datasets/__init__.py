# SPDX-License-Identifier: Apache-2.0
"""Examples to learn from: embedded digits, MNIST, Fashion-MNIST, arrays of your own.

All come as a `Dataset`, which unpacks like what `tf.keras.datasets` returns.
"""

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.former_names import answering
from fedlearn_edu.simulation.datasets.dataset import (
    Dataset,
    DatasetError,
    ExamplesError,
    from_arrays,
)
from fedlearn_edu.simulation.datasets.digits28 import load_digits28
from fedlearn_edu.simulation.datasets.sources import (
    find_fashion_mnist,
    find_mnist,
    load_fashion_mnist,
    load_mnist,
    read_fashion_mnist,
    read_mnist,
)

NAMES = ("auto", "digits28", "mnist", "fashion_mnist")
"""What `load` takes; `"auto"` is MNIST if it is on this computer, else the digits."""


@short_traceback
def load(name: str = "auto") -> Dataset:
    """Loads a data set by name; the record's `name` says which one it is.

    Args:
        name: One of `NAMES`. `"mnist"` and `"fashion_mnist"` are downloaded if need be,
            `"auto"` never is.

    >>> load("digits28")
    Dataset('digits28', train=1,437 examples, test=360 examples)
    """
    match name:
        case "auto":
            path = find_mnist()
            return read_mnist(path) if path else load_digits28()
        case "digits28":
            return load_digits28()
        case "mnist":
            return load_mnist()
        case "fashion_mnist":
            return load_fashion_mnist()
        case _:
            raise DatasetError(
                "no data set has this name",
                expected=" or ".join(repr(known) for known in NAMES),
                found=repr(name),
                do="choose one of them",
            )


__all__ = [
    "NAMES",
    "Dataset",
    "DatasetError",
    "ExamplesError",
    "find_fashion_mnist",
    "find_mnist",
    "from_arrays",
    "load",
    "load_digits28",
    "load_fashion_mnist",
    "load_mnist",
    "read_fashion_mnist",
    "read_mnist",
]

__getattr__ = answering("fedlearn_edu.simulation.datasets", __all__)
