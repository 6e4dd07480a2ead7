# SPDX-License-Identifier: Apache-2.0
"""Trees of arrays, flattened to a table by path and rebuilt.

A tree is made of dataclasses, (named) tuples, lists and mappings; anything else is a
leaf. A leaf's path tells where it is: `"weights/bias"`, `"optimizer/0/weights"`.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


def flatten(tree: Any, path: str = "") -> dict[str, Any]:
    """All leaves by their paths, in order.

    >>> flatten({"a": [1, 2], "b": ()})
    {'a/0': 1, 'a/1': 2}
    """
    fields = _fields(tree)
    if fields is None:
        return {path: tree}
    leaves: dict[str, Any] = {}
    for name, value in fields:
        leaves.update(flatten(value, f"{path}/{name}" if path else name))
    return leaves


def rebuild(like: Any, leaves: Mapping[str, Any]) -> Any:
    """The tree with the structure of `like` and these leaves, by their paths.

    >>> rebuild({"a": [0, 0], "b": ()}, {"a/0": 1, "a/1": 2})
    {'a': [1, 2], 'b': ()}
    """
    return _filled(like, iter([leaves[path] for path in flatten(like)]))


def read_only(tree: Any) -> Any:
    """The tree with views of its arrays that cannot be written into.

    >>> read_only([np.zeros(2)])[0][0] = 1
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """
    return rebuild(tree, {path: _view(leaf) for path, leaf in flatten(tree).items()})


def _view(leaf: Any) -> Any:
    if not isinstance(leaf, np.ndarray):
        return leaf
    view = leaf.view()
    view.flags.writeable = False
    return view


def is_finite(tree: Any) -> bool:
    """Whether no leaf holds NaN or infinity; what is no number cannot."""
    return all(map(_is_finite, flatten(tree).values()))


def _is_finite(leaf: Any) -> bool:
    array = np.asarray(leaf)
    return array.dtype.kind in "OSUbiu" or bool(np.isfinite(array).all())


def _fields(tree: Any) -> list[tuple[str, Any]] | None:
    if dataclasses.is_dataclass(tree):
        names = [field.name for field in dataclasses.fields(tree)]
        return [(name, getattr(tree, name)) for name in names]
    if isinstance(tree, Mapping):
        return [(str(name), value) for name, value in tree.items()]
    if hasattr(tree, "_fields"):
        return list(zip(tree._fields, tree, strict=True))
    if isinstance(tree, list | tuple):
        return [(str(position), value) for position, value in enumerate(tree)]
    return None


def _filled(like: Any, leaves: Iterator[Any]) -> Any:
    fields = _fields(like)
    if fields is None:
        return next(leaves)
    names = [name for name, _ in fields]
    values = [_filled(value, leaves) for _, value in fields]
    if isinstance(like, Mapping):
        kind: Any = type(like)
        return kind(zip(like, values, strict=True))
    if dataclasses.is_dataclass(like) or hasattr(like, "_fields"):
        return type(like)(**dict(zip(names, values, strict=True)))
    return type(like)(values)
