# SPDX-License-Identifier: Apache-2.0
"""Clients as they are in the data: a writer, a hospital, a speaker each."""

from collections.abc import Hashable, Iterable, Mapping, Set

import numpy as np

from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.simulation.partitions.arguments import Indices, PartitionError


@short_traceback
def by_id(ids: Iterable[Hashable]) -> dict[str, Indices]:
    """Gives each client the examples that have its id, and the id as its name.

    Clients come in the order in which their ids first appear, examples in the order
    of the data. Ids that read alike, such as 7 and "7", are those of one client.

    Args:
        ids: Whose each example is, `[n]`: texts, numbers, or tuples of them.

    >>> by_id(["Ann", "Bob", "Ann", "Eve"])
    {'Ann': array([0, 2]), 'Bob': array([1]), 'Eve': array([3])}

    Raises:
        PartitionError: if an id is missing (`None`, NaN), or these are no ids.
    """
    listed = ids.tolist() if hasattr(ids, "tolist") else ids
    if isinstance(listed, str | Mapping | Set) or not isinstance(listed, Iterable):
        raise _no_id(ids, "ids", "pass a list of them")
    held: dict[str, list[int]] = {}
    for position, id_ in enumerate(listed):
        if not isinstance(id_, Hashable):
            cure = "pass one id per example: ids[:, 0], for example"
            raise _no_id(id_, f"example {position}", cure)
        if id_ is None or str(id_ == id_) != "True":  # NaN, and the NA of pandas
            cure = "leave examples without an id out of x, y and ids"
            raise _no_id(id_, f"example {position}", cure)
        held.setdefault(_named(id_), []).append(position)
    return {name: np.array(of, np.intp) for name, of in held.items()}


def _named(id_: Hashable) -> str:
    if isinstance(id_, bytes):  # in whatever encoding
        return id_.decode(errors="backslashreplace")
    return str(id_)


def _no_id(found: object, where: str, do: str) -> PartitionError:
    return PartitionError(
        "each example is one client's",
        expected="one id per example: a text, a number, or a tuple of them",
        found=describe(found),
        where=where,
        do=do,
    )
