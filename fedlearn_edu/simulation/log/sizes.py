# SPDX-License-Identifier: Apache-2.0
"""How large a value is, as far as its type says."""

import math

import numpy as np

from fedlearn_edu.types import FederatedType, StructType, TensorType, Type


def size_of(type_: Type) -> int | None:
    """How many bytes the numbers of one value have; `None` if the type does not say.

    >>> import fedlearn_edu as fl
    >>> size_of(fl.parse_type("<w=float32[784,10],b=float32[10]>"))
    31400
    >>> print(size_of(fl.parse_type("float32[?]")))
    None
    """
    match type_:
        case FederatedType(member=member):
            return size_of(member)
        case StructType():
            sizes = [size_of(part) for part in type_]
            known = [size for size in sizes if size is not None]
            return sum(known) if len(known) == len(sizes) else None
        case TensorType() if type_.has_static_shape and type_.dtype != np.dtype(object):
            dtype = np.dtype(type_.dtype)
            return int(dtype.itemsize * math.prod(type_.shape or ()))  # type: ignore[arg-type]
        case _:
            return None
