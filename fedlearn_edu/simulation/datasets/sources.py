# SPDX-License-Identifier: Apache-2.0
"""MNIST and Fashion-MNIST: from a folder, from the Keras cache, or downloaded.

Only `load_mnist` and `load_fashion_mnist` may open a network connection. Sources:
Y. LeCun, C. Cortes and C. J. C. Burges, "The MNIST database of handwritten digits",
1998; H. Xiao, K. Rasul and R. Vollgraf, "Fashion-MNIST: a Novel Image Dataset for
Benchmarking Machine Learning Algorithms", 2017.
"""

import gzip
import os
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.simulation.datasets.dataset import (
    Dataset,
    DatasetError,
    Split,
    check_split,
)

FOLDER_VARIABLE = "FEDLEARN_EDU_DATA"
_ARRAYS = ("x_train", "y_train", "x_test", "y_test")
_IDX_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
_DAMAGED = (
    OSError,
    ValueError,
    KeyError,
    IndexError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
)


_MNIST_ATTRIBUTION = """\
MNIST: 70,000 handwritten digits, 28x28 pixels, labels 0..9
Authors:  Y. LeCun (Courant Institute, NYU), C. Cortes (Google Labs, New York) and
          C. J. C. Burges (Microsoft Research, Redmond), 1998
Licence:  Creative Commons Attribution-ShareAlike 3.0 (CC BY-SA 3.0)
"""
_FASHION_ATTRIBUTION = """\
Fashion-MNIST: 70,000 pictures of clothes, 28x28 pixels, labels 0..9: T-shirt/top,
          trouser, pullover, dress, coat, sandal, shirt, sneaker, bag, ankle boot
Authors:  H. Xiao, K. Rasul and R. Vollgraf (Zalando Research), 2017
Licence:  MIT License, copyright (c) 2017 Zalando SE
"""


@final
@dataclass(frozen=True)
class Source:
    """One data set in the layout of MNIST, and where it may be.

    Attributes:
        name: what Keras calls it; the file in one's own folder is `<name>.npz`.
        title: what people call it.
        cached: what Keras keeps in its cache: a file, or a folder of four IDX files.
        attribution: whose it is.
    """

    name: str
    title: str
    cached: str
    attribution: str

    def load(self) -> Dataset:
        """Reads it where it is, or lets Keras download it.

        Raises:
            DatasetError: it is nowhere and cannot be downloaded, or is damaged.
        """
        path = self.find()
        if path:
            return self.read(path)
        try:
            train, test = fetch_with_keras(self.name)
        except Exception as error:
            raise self._not_found(str(error)) from None
        return self._checked(train, test, "download")

    def find(self) -> Path | None:
        """Where it already lies on this machine, or `None`; never a download."""
        places = self.places().values()
        return next((path for path in places if path and _is_there(path)), None)

    def places(self) -> dict[str, Path | None]:
        """The places that are looked at, in order, under the names used in messages."""
        folder = os.environ.get(FOLDER_VARIABLE)
        home = os.environ.get("KERAS_HOME")
        keras_home = Path(home) if home else Path.home() / ".keras"
        return {
            FOLDER_VARIABLE: Path(folder) / f"{self.name}.npz" if folder else None,
            "the Keras cache": keras_home / "datasets" / self.cached,
        }

    def read(self, path: Path) -> Dataset:
        """Reads an `.npz` file or a folder of four IDX files, and checks the arrays."""
        try:
            read = _read_idx_folder if path.is_dir() else _read_npz
            x_train, y_train, x_test, y_test = read(path)
        except _DAMAGED as error:
            raise DatasetError(
                f"the {self.title} file cannot be read",
                expected=f"one .npz file with the arrays {', '.join(_ARRAYS)}"
                if not path.is_dir()
                else f"the files {', '.join(_IDX_FILES)}",
                found=f"{type(error).__name__}: {error}",
                where=path,
                do="delete it and load again, or put an intact copy in its place",
            ) from error
        return self._checked((x_train, y_train), (x_test, y_test), str(path))

    def _checked(self, train: Split, test: Split, where: str) -> Dataset:
        check_split(*train, where=f"{where}, train")
        check_split(*test, where=f"{where}, test")
        return Dataset(self.name, train, test, self.attribution)

    def _not_found(self, reason: str) -> DatasetError:
        tried = [
            f"{name} ({f'no {path}' if path else 'not set'})"
            for name, path in self.places().items()
        ]
        return DatasetError(
            f"{self.title} is not here: tried {', '.join(tried)} and a download "
            f"({' '.join(reason.split())}); put {self.name}.npz into a folder and set "
            f"{FOLDER_VARIABLE} to that folder, or take the embedded digits: "
            "load_digits28(), --data digits28"
        )


def _is_there(path: Path) -> bool:
    return path.is_file() or all((path / name).is_file() for name in _IDX_FILES)


def _read_npz(path: Path) -> list[NDArray[Any]]:
    with np.load(path, allow_pickle=False) as file:
        return [file[name] for name in _ARRAYS]


def _read_idx_folder(path: Path) -> list[NDArray[Any]]:
    return [_read_idx(path / name) for name in _IDX_FILES]


def _read_idx(path: Path) -> NDArray[np.uint8]:
    """Bytes behind a header: 0, 0, 8 for bytes, the rank, and each size in 4 bytes."""
    with gzip.open(path, "rb") as file:
        content = bytearray(file.read())
    if content[:3] != b"\0\0\x08":
        raise ValueError(f"{path.name} is not an IDX file of bytes")
    rank = content[3]
    sizes = np.frombuffer(content, ">u4", count=rank, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * rank).reshape(sizes)


def fetch_with_keras(name: str) -> tuple[Split, Split]:
    """Lets Keras fetch the files, check them and keep them in its cache."""
    from fedlearn_edu.runtimes.tensorflow.library import tf

    train, test = getattr(tf.keras.datasets, name).load_data()
    return train, test


_MNIST = Source("mnist", "MNIST", "mnist.npz", _MNIST_ATTRIBUTION)
_FASHION = Source(
    "fashion_mnist", "Fashion-MNIST", "fashion-mnist", _FASHION_ATTRIBUTION
)


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
