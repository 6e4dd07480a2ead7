# SPDX-License-Identifier: Apache-2.0
"""Fashion-MNIST: from a folder, from the Keras cache, or downloaded when asked.

Only `load_fashion_mnist` may open a network connection. Source: H. Xiao, K. Rasul and
R. Vollgraf, "Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning
Algorithms", 2017.
"""

from pathlib import Path

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.simulation.datasets.record import Dataset
from fedlearn_edu.simulation.datasets.sources import Source

_ATTRIBUTION = """\
Fashion-MNIST: 70,000 pictures of clothes, 28x28 pixels, labels 0..9: T-shirt/top,
          trouser, pullover, dress, coat, sandal, shirt, sneaker, bag, ankle boot
Authors:  H. Xiao, K. Rasul and R. Vollgraf (Zalando Research), 2017
Licence:  MIT License, copyright (c) 2017 Zalando SE
"""
_FASHION = Source("fashion_mnist", "Fashion-MNIST", "fashion-mnist", _ATTRIBUTION)


@short_traceback
def load_fashion_mnist() -> Dataset:
    """Returns Fashion-MNIST: 60,000 images to train on and 10,000 to test with.

    Looks for `fashion_mnist.npz` in the folder that the environment variable
    `FEDLEARN_EDU_DATA` names, with the arrays of Keras's `mnist.npz`, then for the four
    files in the Keras cache; then Keras downloads 31 MB and keeps them in its cache.

    Raises:
        DatasetError: it is nowhere and cannot be downloaded, or a file is damaged.
    """
    return _FASHION.load()


@short_traceback
def find_fashion_mnist() -> Path | None:
    """Returns where Fashion-MNIST already lies: a file, a folder, or `None`."""
    return _FASHION.find()


@short_traceback
def read_fashion_mnist(path: Path) -> Dataset:
    """Reads an `.npz` file, or Keras's folder of four files, and checks the arrays."""
    return _FASHION.read(path)
