# SPDX-License-Identifier: Apache-2.0
"""TFF's published data sets: a table of serialized examples in an SQLite file.

    examples           split_name, client_id, serialized_example_proto
    client_metadata    client_id, split_name, num_examples

A file is looked for, and fetched only when that is asked for; LZMA checks what it
unpacks. Examples are read when they are wanted, those of one client at a time.
"""

import lzma
import os
import sqlite3
import sys
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.simulation.datasets import DatasetError
from fedlearn_edu.simulation.datasets.sources import FOLDER_VARIABLE
from fedlearn_edu.tff.simulation.client_data import ClientData

_CHUNK = 2**20
_PUBLISHED = "https://storage.googleapis.com/tff-datasets-public"


def find(name: str, cache_dir: str | None) -> Path | None:
    """The SQLite file of a data set; one that is packed is unpacked beside itself."""
    for folder in places(cache_dir).values():
        if folder is None:
            continue
        if (folder / name).is_file():
            return folder / name
        packed = folder / f"{name}.lzma"
        if packed.is_file():
            return _unpacked(packed, folder / name)
    return None


def _unpacked(packed: Path, into: Path) -> Path:
    try:
        with packed.open("rb") as source:
            return _unpack(source, into)
    except (OSError, lzma.LZMAError) as error:
        raise DatasetError(
            "the file cannot be unpacked",
            found=f"{type(error).__name__}: {error}",
            where=packed,
            do="delete it, and put an intact copy in its place",
        ) from None


def places(cache_dir: str | None) -> dict[str, Path | None]:
    """Where a file may lie, under the names used in messages."""
    folder = os.environ.get(FOLDER_VARIABLE)
    keras = Path(os.environ.get("KERAS_HOME") or Path.home() / ".keras")
    return {
        "cache_dir": Path(cache_dir) if cache_dir else None,
        FOLDER_VARIABLE: Path(folder) if folder else None,
        "the cache of TFF": Path.home() / ".tff",
        "the Keras cache": keras / "datasets",
    }


def load(name: str, cache_dir: str | None, *, fetch: bool) -> Path:
    """Where the file of a data set is.

    Raises:
        DatasetError: if it is nowhere, and is not to be fetched or cannot be.
    """
    found = find(name, cache_dir)
    if found is not None:
        return found
    reason = "fetch=True would fetch it"
    if fetch:
        into = Path(cache_dir) if cache_dir else Path.home() / ".tff"
        try:
            return _fetched(f"{_PUBLISHED}/{name}.lzma", into / name)
        except (OSError, lzma.LZMAError) as error:
            reason = f"a download: {type(error).__name__}: {error}"
    tried = [
        f"{place} ({f'no {folder / name}' if folder else 'not set'})"
        for place, folder in places(cache_dir).items()
    ]
    raise DatasetError(
        f"{name} is not here",
        expected=f"{name} or {name}.lzma in a folder that {FOLDER_VARIABLE} names",
        found="tried " + ", ".join([*tried, reason]),
        do="load_data(fetch=True) fetches it once; get_synthetic() needs no file",
    )


def _fetched(origin: str, into: Path) -> Path:
    into.parent.mkdir(parents=True, exist_ok=True)
    with urlopen(origin) as source:
        size = int(source.headers.get("content-length") or 0)
        return _unpack(source, into, size)


def _unpack(source: Any, into: Path, size: int = 0) -> Path:
    """Unpacks into a file beside, which takes its name when it is whole."""
    unpacker, read, partial = lzma.LZMADecompressor(), 0, into.with_suffix(".part")
    with partial.open("wb") as target:
        while chunk := source.read(_CHUNK):
            target.write(unpacker.decompress(chunk))
            read += len(chunk)
            if size:
                sys.stdout.write(f"\r{into.name}: {read / size:.0%}")
    if size:
        sys.stdout.write("\n")
    if not unpacker.eof:
        raise lzma.LZMAError("the file ends too early")
    partial.replace(into)
    return into


def clients_of(
    path: Path, split: str, features: Mapping[str, Any], dtypes: Mapping[str, Any]
) -> ClientData:
    """The clients of a split; examples are mappings with these features.

    Args:
        path: of the SQLite file.
        split: such as `"train"`.
        features: `tf.io.FixedLenFeature`s by name.
        dtypes: what a feature is cast to, if it is.

    Raises:
        DatasetError: if the file has not these tables, or no such split.
    """
    query = "SELECT DISTINCT client_id FROM client_metadata WHERE split_name = ?"
    try:
        with closing(sqlite3.connect(path)) as connection:
            names = sorted(row[0] for row in connection.execute(query, (split,)))
    except sqlite3.DatabaseError as error:
        raise DatasetError(
            "the file cannot be read",
            expected="an SQLite file with the tables examples and client_metadata",
            found=f"{type(error).__name__}: {error}",
            where=path,
            do="delete it, and load again",
        ) from None
    if not names:
        raise DatasetError(f"the file has no split {split}", where=path)

    def parse(serialized: Any) -> Any:
        found = tf.io.parse_example(serialized, dict(features))
        return OrderedDict(
            (
                name,
                tf.cast(found[name], dtypes[name]) if name in dtypes else found[name],
            )
            for name in features
        )

    def make(client_id: Any) -> Any:
        parts = [
            "SELECT serialized_example_proto FROM examples WHERE client_id = '",
            tf.strings.regex_replace(client_id, "'", "''"),
            f"' AND split_name = '{split}'",
        ]
        rows = tf.data.experimental.SqlDataset(
            "sqlite", str(path), tf.strings.join(parts), tf.string
        )
        return rows.map(parse, num_parallel_calls=tf.data.AUTOTUNE)

    return ClientData(names, make)
