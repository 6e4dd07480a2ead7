# SPDX-License-Identifier: Apache-2.0
"""Sequences that are not tuples: read again from their source each time.

`containers.py` hands in a dataset or a function that makes an iterator; executors
receive an object to iterate over, as often as they like. Lists become tuples there, not
here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.structure import Struct
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.definitions import StructType
from fedlearn_edu.types.python_fields import fields_of


@final
@dataclass(frozen=True, eq=False)
class LazySequence:
    """A sequence whose elements are made anew by each reading.

    Attributes:
        make_iterator: returns an iterator over plain elements, as often as called.
        element_type: the type of every element.
    """

    make_iterator: Callable[[], Iterator[Any]]
    element_type: Type

    def __iter__(self) -> Iterator[Any]:
        return iter(self.make_iterator())


@final
@dataclass(frozen=True, eq=False)
class DatasetSequence:
    """A sequence that is still the `tf.data.Dataset` it came as.

    Attributes:
        dataset: the dataset; only TensorFlow's runtime looks at it.
        element_type: the declared type of every element.
    """

    dataset: Any
    element_type: Type

    def __iter__(self) -> Iterator[Any]:
        for element in self.dataset.as_numpy_iterator():
            yield _arranged(element, self.element_type)


def is_dataset(x: object) -> bool:
    """Whether `x` looks like a `tf.data.Dataset`."""
    return hasattr(x, "element_spec") and hasattr(x, "as_numpy_iterator")


def _arranged(element: Any, type_: Type) -> Any:
    """Arrays of a dataset in the structure of the declared type."""
    if not isinstance(type_, StructType):
        return element
    fields = fields_of(element)
    if fields is None:
        raise TypeMismatchError(
            "ragged and sparse elements of a dataset cannot be read one by one",
            expected=type_,
            found=f"a {type(element).__name__}",
            do="hand the whole dataset to a tf_computation",
        )
    # A dict's own order means nothing; every other container is in declared order.
    if fields.container is dict:
        named = dict(fields.pairs)
        values = [named[name] for name in type_.names()]
    else:
        values = [value for _, value in fields.pairs]
    arranged = map(_arranged, values, type_)
    return Struct(zip(type_.names(), arranged, strict=True))
