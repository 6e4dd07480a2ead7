# SPDX-License-Identifier: Apache-2.0
"""The real MNIST: from a folder, from the Keras cache, or downloaded when asked.

Only `load_mnist` may open a network connection; `find_mnist` never does.
Source: Y. LeCun, C. Cortes and C. J. C. Burges, "The MNIST database of handwritten
digits", 1998.
"""

import os
import zipfile
from pathlib import Path

import numpy as np

from fedlearn_edu.simulation.datasets.record import (
    Dataset,
    DatasetError,
    Split,
    check_split,
)

FOLDER_VARIABLE = "FEDLEARN_EDU_DATA"
_FILE = "mnist.npz"
_ARRAYS = ("x_train", "y_train", "x_test", "y_test")
_ATTRIBUTION = """\
MNIST: 70,000 handwritten digits, 28x28 pixels, labels 0..9
Authors:  Y. LeCun (Courant Institute, NYU), C. Cortes (Google Labs, New York) and
          C. J. C. Burges (Microsoft Research, Redmond), 1998
Licence:  Creative Commons Attribution-ShareAlike 3.0 (CC BY-SA 3.0)
"""


def load_mnist() -> Dataset:
    """Returns MNIST: 60,000 images to train on and 10,000 to test with.

    Looks for `mnist.npz` in the folder that the environment variable
    `FEDLEARN_EDU_DATA` names, then in the Keras cache; then Keras downloads 11 MB,
    checks them against their checksum, and keeps them in its cache.

    Raises:
        DatasetError: it is nowhere and cannot be downloaded, or the file is damaged.
    """
    path = find_mnist()
    return read_mnist(path) if path else _download()


def find_mnist() -> Path | None:
    """Returns where MNIST already lies on this machine, or `None`."""
    return next((path for path in _places().values() if path and path.is_file()), None)


def read_mnist(path: Path) -> Dataset:
    """Reads a file in the layout of Keras's `mnist.npz` and checks its arrays."""
    try:
        with np.load(path, allow_pickle=False) as file:
            x_train, y_train, x_test, y_test = (file[name] for name in _ARRAYS)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DatasetError(
            "the MNIST file cannot be read",
            expected=f"one .npz file with the arrays {', '.join(_ARRAYS)}",
            found=f"{type(error).__name__}: {error}",
            where=path,
            do="delete it and load again, or put an intact copy in its place",
        ) from error
    return _checked((x_train, y_train), (x_test, y_test), str(path))


def _checked(train: Split, test: Split, where: str) -> Dataset:
    check_split(*train, where=f"{where}, train")
    check_split(*test, where=f"{where}, test")
    return Dataset("mnist", train, test, _ATTRIBUTION)


def _places() -> dict[str, Path | None]:
    """The places that are looked at, in order, under the names used in messages."""
    folder = os.environ.get(FOLDER_VARIABLE)
    home = os.environ.get("KERAS_HOME")
    keras_home = Path(home) if home else Path.home() / ".keras"
    return {
        FOLDER_VARIABLE: Path(folder) / _FILE if folder else None,
        "the Keras cache": keras_home / "datasets" / _FILE,
    }


def _download() -> Dataset:
    """Lets Keras fetch the file, check it and keep it in its cache."""
    from fedlearn_edu.runtimes.tensorflow.library import tf

    try:
        train, test = tf.keras.datasets.mnist.load_data()
    except Exception as error:
        raise _not_found(str(error)) from error
    return _checked(train, test, "download")


def _not_found(reason: str) -> DatasetError:
    tried = [
        f"{name} ({f'no {path}' if path else 'not set'})"
        for name, path in _places().items()
    ]
    return DatasetError(
        f"MNIST is not here: tried {', '.join(tried)} and a download "
        f"({' '.join(reason.split())}); put {_FILE} into a folder and set "
        f"{FOLDER_VARIABLE} to that folder, or take the embedded digits: "
        "load_digits28(), --data digits28"
    )
