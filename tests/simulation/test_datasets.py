# SPDX-License-Identifier: Apache-2.0
"""The embedded digits, where MNIST and Fashion-MNIST come from, and own arrays."""

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.simulation import datasets
from fedlearn_edu.simulation.datasets import sources
from fedlearn_edu.simulation.datasets.dataset import Split


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which MNIST has never been."""
    monkeypatch.delenv("FEDLEARN_EDU_DATA", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    return tmp_path


def write_mnist(folder: Path, examples: int = 2, **replaced: np.ndarray) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    images = np.zeros([examples, 28, 28], np.uint8)
    labels = np.arange(examples, dtype=np.uint8)
    arrays = {"x_train": images, "y_train": labels, "x_test": images, "y_test": labels}
    np.savez(folder / "mnist.npz", **(arrays | replaced))
    return folder / "mnist.npz"


def write_fashion_mnist(keras_home: Path, examples: int = 2) -> Path:
    """The four files in Keras's cache: a header, and bytes."""
    folder = keras_home / "datasets" / "fashion-mnist"
    folder.mkdir(parents=True)
    for split, shift in (("train", 0), ("t10k", 1)):
        images = np.arange(examples * 784, dtype=np.uint32).astype(np.uint8) + shift
        labels = np.arange(examples, dtype=np.uint8) + shift
        sizes = np.array([examples, 28, 28], ">u4").tobytes()
        with gzip.open(folder / f"{split}-images-idx3-ubyte.gz", "wb") as file:
            file.write(b"\0\0\x08\x03" + sizes + images.astype(np.uint8).tobytes())
        with gzip.open(folder / f"{split}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(b"\0\0\x08\x01" + sizes[:4] + labels.tobytes())
    return folder


def test_digits28_are_the_same_bytes_forever() -> None:
    (x_train, y_train), (x_test, y_test) = datasets.load_digits28()
    digest = hashlib.sha256()
    for array in (x_train, y_train, x_test, y_test):
        digest.update(np.ascontiguousarray(array).tobytes())
    assert digest.hexdigest()[:16] == "7334bd348fc8ff99"


def test_digits28_carry_their_attribution() -> None:
    attribution = datasets.load_digits28().attribution
    for part in ("Alpaydin", "Kaynak", "CC BY 4.0", "10.24432/C50P49", "Changes:"):
        assert part in attribution


def test_auto_takes_the_embedded_digits_where_mnist_is_not(nowhere: Path) -> None:
    write_fashion_mnist(nowhere / "keras")
    assert datasets.find_mnist() is None
    assert datasets.load().name == "digits28"


def test_auto_takes_mnist_from_the_named_folder_or_from_the_keras_cache(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = write_mnist(nowhere / "keras" / "datasets", examples=3)
    assert datasets.find_mnist() == cached
    named = write_mnist(nowhere / "data", examples=4)
    monkeypatch.setenv("FEDLEARN_EDU_DATA", str(named.parent))
    assert datasets.find_mnist() == named
    assert repr(datasets.load()) == (
        "Dataset('mnist', train=4 examples, test=4 examples)"
    )


def test_file_that_is_not_mnist_says_which_and_what_to_do(nowhere: Path) -> None:
    path = nowhere / "mnist.npz"

    def refused(match: str) -> str:
        with pytest.raises(datasets.DatasetError, match=match) as caught:
            datasets.read_mnist(path)
        return str(caught.value)

    path.write_bytes(b"not an archive")
    message = refused("cannot be read")
    assert str(path) in message
    assert "delete it" in message
    np.savez(path, x_train=np.zeros([1, 28, 28], np.uint8))
    refused("y_train")
    write_mnist(nowhere, x_test=np.zeros([2, 784], np.float32))
    message = refused("layout of MNIST")
    assert "float32[2,784]" in message
    assert "mnist.npz, test" in message


@pytest.mark.parametrize(
    ("name", "title", "words"),
    [
        ("mnist", "MNIST", ["datasets/mnist.npz", "load_digits28()"]),
        (
            *("fashion_mnist", "Fashion-MNIST"),
            ["datasets/fashion-mnist", "put fashion_mnist.npz into a folder"],
        ),
    ],
)
def test_offline_error_is_one_line_with_all_that_was_tried(
    name: str,
    title: str,
    words: list[str],
    nowhere: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(name: str) -> tuple[Split, Split]:
        raise OSError(f"URL fetch failure for {name}:\n no route")

    monkeypatch.setattr(sources, "fetch_with_keras", refuse)
    with pytest.raises(datasets.DatasetError, match=f"^{title} is not") as caught:
        datasets.load(name)
    message = str(caught.value)
    assert "\n" not in message
    assert str(nowhere / "keras") in message
    tried = ["FEDLEARN_EDU_DATA (not set)", f"URL fetch failure for {name}: no route"]
    assert [word for word in [*words, *tried] if word not in message] == []
    assert isinstance(caught.value, FedLearnError)
    assert isinstance(caught.value, FileNotFoundError)


@pytest.mark.tensorflow
@pytest.mark.slow
def test_download_goes_through_keras(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tensorflow import keras

    images, labels = np.zeros([1, 28, 28], np.uint8), np.zeros([1], np.uint8)
    split: Split = (images, labels)
    monkeypatch.setattr(keras.datasets.mnist, "load_data", lambda: (split, split))
    assert datasets.load_mnist().name == "mnist"

    def fail() -> None:
        raise OSError("no network")

    monkeypatch.setattr(keras.datasets.mnist, "load_data", fail)
    with pytest.raises(datasets.DatasetError, match=r"a download \(no network\)"):
        datasets.load_mnist()


def test_fashion_mnist_is_read_from_the_keras_cache(nowhere: Path) -> None:
    assert datasets.find_fashion_mnist() is None
    folder = write_fashion_mnist(nowhere / "keras")
    assert datasets.find_fashion_mnist() == folder
    data = datasets.load("fashion_mnist")
    (x_train, y_train), (x_test, y_test) = data
    assert data.name == "fashion_mnist"
    assert "Zalando" in data.attribution
    assert x_train.shape == (2, 28, 28)
    assert x_train.dtype == np.uint8
    assert x_train[0, 0, :3].tolist() == [0, 1, 2]
    assert x_train[0, 1, 0] == 28
    assert x_test[0, 0, :3].tolist() == [1, 2, 3]
    assert (y_train.tolist(), y_test.tolist()) == ([0, 1], [1, 2])


def test_fashion_mnist_in_the_named_folder_comes_first(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_fashion_mnist(nowhere / "keras", examples=3)
    path = write_mnist(nowhere / "data").rename(nowhere / "data" / "fashion_mnist.npz")
    monkeypatch.setenv("FEDLEARN_EDU_DATA", str(path.parent))
    assert datasets.find_fashion_mnist() == path
    assert datasets.find_mnist() is None
    assert len(datasets.load_fashion_mnist().train[0]) == 2


def test_fashion_mnist_with_a_file_missing_is_not_there(nowhere: Path) -> None:
    folder = write_fashion_mnist(nowhere / "keras")
    (folder / "t10k-labels-idx1-ubyte.gz").unlink()
    assert datasets.find_fashion_mnist() is None


@pytest.mark.parametrize(
    "content",
    [
        b"no gzip",
        gzip.compress(b""),
        gzip.compress(b"x" * 99)[:20],
        gzip.compress(b"\0\0\x08"),
        gzip.compress(b"\0\0\x08\x01\0"),
        gzip.compress(b"\0\0\x08\x01\0\0\0\x09"),
        gzip.compress(b"\0\0\x0d\x01\0\0\0\0"),
    ],
    # Else the test is called by its bytes, and they hold the time of day.
    ids=["no gzip", "empty", "cut off", "magic", "sizes", "labels", "kind"],
)
def test_damaged_idx_file_says_which_folder(nowhere: Path, content: bytes) -> None:
    folder = write_fashion_mnist(nowhere / "keras")
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(content)
    with pytest.raises(datasets.DatasetError, match="cannot be read") as caught:
        datasets.load_fashion_mnist()
    assert "Fashion-MNIST" in str(caught.value)
    assert str(folder) in str(caught.value)
    assert "train-labels-idx1-ubyte.gz" in str(caught.value)


def test_real_mnist_is_the_one_of_the_tutorial(mnist_folder: Path) -> None:
    mnist = datasets.read_mnist(mnist_folder / "mnist.npz")
    (x_train, y_train), (x_test, y_test) = mnist
    assert (x_train.shape, x_test.shape) == ((60000, 28, 28), (10000, 28, 28))
    assert np.bincount(y_train)[5] == 5421
    assert y_train[:8].tolist() == [5, 0, 4, 1, 9, 2, 1, 3]
    assert np.bincount(y_test).min() == 892


# ------------------------------------------------------------------ arrays of one's own

X, Y = np.zeros([5, 3]), np.arange(5)


def test_arrays_are_not_copied() -> None:
    data = datasets.from_arrays(X, Y, X[:2], Y[:2], name="mine")
    (x_train, y_train), (x_test, y_test) = data
    assert x_train is X
    assert y_train is Y
    assert np.shares_memory(x_test, X)
    assert np.shares_memory(y_test, Y)
    assert repr(data) == "Dataset('mine', train=5 examples, test=2 examples)"


def test_without_test_arrays_the_test_split_is_empty() -> None:
    x_test, y_test = datasets.from_arrays(np.zeros([5, 8, 8], np.uint8), Y).test
    np.testing.assert_array_equal(x_test, np.zeros([0, 8, 8], np.uint8), strict=True)
    np.testing.assert_array_equal(y_test, Y[:0], strict=True)


def test_lists_are_welcome() -> None:
    x, y = datasets.from_arrays([[1.0, 2.0], [3.0, 4.0]], [True, False]).train
    assert x.shape == (2, 2)
    assert y.dtype == np.bool_
