# SPDX-License-Identifier: Apache-2.0
"""Cases: `federated_mean`, weighted and not, and `federated_weighted_mean`."""

from collections import OrderedDict
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.testing.case import CaseBook, Leaf, gives

AVERAGES = CaseBook()

FLOATS = fl.type_at_clients(np.float32)
DOUBLES = fl.type_at_clients(np.float64)
INTS = fl.type_at_clients(np.int32)
MODEL = fl.to_type(OrderedDict(w=fl.TensorType(np.float32, [2]), b=np.float64))


def model(w: list[float], b: float) -> OrderedDict[str, object]:
    """A value of type MODEL."""
    return OrderedDict(w=np.array(w, np.float32), b=np.float64(b))


@AVERAGES.add(
    one=gives(np.float32(68.5), [68.5]),
    many=gives(np.float32(69.53334), [68.5, 70.3, 69.8]),
    of=[FLOATS],
)
def mean_of_floats(_: Leaf, v: Any) -> Any:
    """Every client counts the same; the mean over one client is its value."""
    return fl.federated_mean(v)


@AVERAGES.add(gives(np.float64(69.53333333333333), [68.5, 70.3, 69.8]), of=[DOUBLES])
def mean_of_doubles(_: Leaf, v: Any) -> Any:
    """The mean has the dtype of the values."""
    return fl.federated_mean(v)


@AVERAGES.add(
    gives(np.complex64(1 + 2j), [0 + 1j, 2 + 3j]), of=[fl.type_at_clients(np.complex64)]
)
def mean_of_complex_numbers(_: Leaf, v: Any) -> Any:
    """Complex numbers can be averaged, too."""
    return fl.federated_mean(v)


@AVERAGES.add(
    one=gives(model([1, 2], 3), [model([1, 2], 3)]),
    many=gives(model([2, 4], 6), [model([1, 2], 3), model([3, 6], 9)]),
    of=[fl.type_at_clients(MODEL)],
)
def mean_of_models(_: Leaf, v: Any) -> Any:
    """A structure is averaged leaf by leaf; its leaves may differ in dtype."""
    return fl.federated_mean(v)


@AVERAGES.add(
    gives(4.0, 4.0, [0, 0, 0]),
    of=[fl.type_at_clients(np.float32, all_equal=True), INTS],
)
def mean_of_equal_values(_: Leaf, v: Any, clients: Any) -> Any:
    """The mean of an all-equal value is that value."""
    return fl.federated_mean(v)


@AVERAGES.add(
    one=gives(5.0, [5.0], [0.25]),
    many=gives(2.25, [1.0, 2.0, 3.0], [1.0, 1.0, 2.0]),
    nothing=gives(np.float32(np.nan), [1.0, 2.0], [0.0, 0.0]),
    of=[FLOATS, FLOATS],
)
def mean_weighted(_: Leaf, v: Any, w: Any) -> Any:
    """Weights that sum to zero give nan."""
    return fl.federated_mean(v, w)


@AVERAGES.add(gives(np.float32(2.25), [1.0, 2.0, 3.0], [1, 1, 2]), of=[FLOATS, INTS])
def mean_with_integer_weights(_: Leaf, v: Any, w: Any) -> Any:
    """Numbers of examples are weights as they are."""
    return fl.federated_mean(v, w)


@AVERAGES.add(gives(np.float64(2.25), [1.0, 2.0, 3.0], [1, 1, 2]), of=[DOUBLES, FLOATS])
def mean_of_doubles_with_float_weights(_: Leaf, v: Any, w: Any) -> Any:
    """A weight need not have the dtype of the values."""
    return fl.federated_mean(v, w)


@AVERAGES.add(
    gives(model([2.5, 5], 7.5), [model([1, 2], 3), model([3, 6], 9)], [1, 3]),
    of=[fl.type_at_clients(MODEL), INTS],
)
def mean_of_models_weighted(_: Leaf, v: Any, w: Any) -> Any:
    """One weight meets every leaf of a model."""
    return fl.federated_mean(v, w)


@AVERAGES.add(
    gives(2.0, [1.0, 2.0, 3.0], 7.0), of=[FLOATS, fl.type_at_server(np.float32)]
)
def mean_with_equal_weights(_: Leaf, v: Any, w: Any) -> Any:
    """An all-equal weight changes nothing."""
    return fl.federated_mean(v, fl.federated_broadcast(w))


@AVERAGES.add(gives(2.25, [1.0, 2.0, 3.0], [1.0, 1.0, 2.0]), of=[FLOATS, FLOATS])
def weighted_mean_is_a_mean_with_weights(_: Leaf, v: Any, w: Any) -> Any:
    """`federated_weighted_mean` is the name in older texts."""
    return fl.federated_weighted_mean(v, w)


@AVERAGES.add(gives([1.5, 15.0], [1.0, 2.0], [10.0, 20.0]), of=[FLOATS, FLOATS])
def mean_of_an_implicit_zip(_: Leaf, v: Any, w: Any) -> Any:
    """A list of federated values is zipped before it is averaged."""
    return fl.federated_mean([v, w])


@AVERAGES.add(gives(7.5, [1, 2, 3, 4]), of=[FLOATS])
def mean_of_mapped_values(leaf: Leaf, v: Any) -> Any:
    """Clients compute, the server averages."""
    triple = leaf(lambda x: x * np.float32(3), np.float32)
    return fl.federated_mean(fl.federated_map(triple, v))
