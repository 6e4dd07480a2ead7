# SPDX-License-Identifier: Apache-2.0
"""The real MNIST: from a folder, from the Keras cache, or downloaded when asked.

Only `load_mnist` may open a network connection; `find_mnist` never does.
Source: Y. LeCun, C. Cortes and C. J. C. Burges, "The MNIST database of handwritten
digits", 1998.
"""

from pathlib import Path

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.simulation.datasets.record import Dataset
from fedlearn_edu.simulation.datasets.sources import Source

_ATTRIBUTION = """\
MNIST: 70,000 handwritten digits, 28x28 pixels, labels 0..9
Authors:  Y. LeCun (Courant Institute, NYU), C. Cortes (Google Labs, New York) and
          C. J. C. Burges (Microsoft Research, Redmond), 1998
Licence:  Creative Commons Attribution-ShareAlike 3.0 (CC BY-SA 3.0)
"""
_MNIST = Source("mnist", "MNIST", "mnist.npz", _ATTRIBUTION)


@short_traceback
def load_mnist() -> Dataset:
    """Returns MNIST: 60,000 images to train on and 10,000 to test with.

    Looks for `mnist.npz` in the folder that the environment variable
    `FEDLEARN_EDU_DATA` names, then in the Keras cache; then Keras downloads 11 MB,
    checks them against their checksum, and keeps them in its cache.

    Raises:
        DatasetError: it is nowhere and cannot be downloaded, or the file is damaged.
    """
    return _MNIST.load()


@short_traceback
def find_mnist() -> Path | None:
    """Returns where MNIST already lies on this machine, or `None`."""
    return _MNIST.find()


@short_traceback
def read_mnist(path: Path) -> Dataset:
    """Reads a file in the layout of Keras's `mnist.npz` and checks its arrays."""
    return _MNIST.read(path)
