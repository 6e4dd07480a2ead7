# SPDX-License-Identifier: Apache-2.0
"""What is said about values that have no type, or do not fit the declared one.

Each function builds an error; whether one is needed is decided by its callers.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fedlearn_edu.errors import (
    CardinalityError,
    FedLearnError,
    ShapeMismatchError,
    StructureError,
    TypeMismatchError,
    counted,
    describe,
)
from fedlearn_edu.types import dtypes
from fedlearn_edu.types.dtypes import Shape, as_dtype, dtype_name, shape_text
from fedlearn_edu.types.messages import (
    SHAPE,
    ZIP,
    Names,
    clip,
    misfit,
    names_cure,
    rank_cure,
)

_MAX_SHOWN = 80


def unfit(
    summary: str, expected: object, value: object, path: str, do: str | None = None
) -> TypeMismatchError:
    """The error for a value that is described."""
    found = "None" if value is None else clip(describe(value))
    return misfit(summary, clip(expected), found, path, do)


def untyped(value: object, do: str) -> TypeMismatchError:
    expected = "numbers, strings, arrays, tensors, datasets, or structures of them"
    summary = "the type of this value cannot be told"
    return misfit(summary, expected, describe(value), do=do)


def not_data(value: object) -> TypeMismatchError:
    return untyped(
        value,
        "decorate the function" if callable(value) else "turn it into one of these",
    )


def not_a_name(key: object) -> TypeMismatchError:
    summary = "the keys of a dictionary are the names of fields"
    return misfit(summary, "strings", repr(key))


def cannot_hold(container: type | None, names: Names) -> StructureError:
    return StructureError(
        f"a {getattr(container, '__name__', '')} cannot hold these fields",
        expected="no names for a list or tuple, all names for other containers",
        found=str(names),
    )


_SAY_IT = (
    "say the type: place(values, CLIENTS, np.float32), "
    "or SequenceType(np.float32) for lists"
)


def nothing_tells() -> TypeMismatchError:
    expected = "one value at least, or a declared type"
    problem = "nothing tells the type: there is no value"
    cure = f"{_SAY_IT}; np.zeros([0], np.float32) has one"
    return misfit(problem, expected, "nothing", do=cure)


def client_without_value(place: str) -> TypeMismatchError:
    cure = "give it a value, or leave the client out"
    return misfit("a value is missing", "a value", "None", place, cure)


def nothing_in_common(
    first: object, second: object, place: str, other: str
) -> TypeMismatchError:
    return misfit(
        f"two values of one group have no type in common: {place} and {other}",
        f"the same type, up to the sizes of dimensions: {first}",
        f"{second}, in {other}",
        do=_SAY_IT,
    )


def no_row(type_: object, place: str) -> TypeMismatchError:
    return misfit(
        "an element of a sequence is a list of different things",
        "numbers, rows of numbers, tuples, dicts",
        f"a list of {type_}",
        place,
        "use tuples or dicts for structures, arrays for tensors",
    )


def no_array(error: type[FedLearnError], found: str) -> FedLearnError:
    return error(
        "a list is no array",
        expected="an array, to compute with all elements at once",
        found=found,
        do="make one of it first: np.asarray(x), or tf.stack(x) in TensorFlow",
    )


RAGGED_ROWS = (
    "pad rows of different lengths, or declare them as a sequence: float32[?]*"
)


def value_missing(type_: object, path: str) -> TypeMismatchError:
    cure = (
        "give it a value, or leave the client out; "
        "a function that made it may lack its return"
    )
    return unfit("a value is missing", type_, None, path, cure)


def function_as_result(type_: object) -> TypeMismatchError:
    cure = "did you forget to call it? put parentheses behind its name"
    summary = "the result is a function, not data"
    return misfit(summary, "data", clip(type_), "the result", cure)


def no_structure(type_: object, value: object, path: str) -> TypeMismatchError:
    cure = "write the fields as a list, tuple, dict or OrderedDict"
    return unfit("a structure is needed", type_, value, path, cure)


def number_of_fields(
    type_: Any, count: int, value: object, path: str
) -> TypeMismatchError:
    summary = "a structure has the wrong number of fields"
    expected = f"{counted(len(type_), 'field')}: {clip(type_)}"
    found = f"{count}, in a {type(value).__name__}"
    return misfit(summary, expected, found, path, "give each field one value, in order")


def names_of_fields(names: Names, given: Names, path: str) -> TypeMismatchError:
    wanted, found = (", ".join(map(str, n)) for n in (names, given))
    order, summary = "in this order: ", "the names of the fields differ"
    cure = names_cure(names, given)
    return misfit(summary, order + wanted, order + found, path, cure)


def keys_of_dict(
    type_: object, names: Names, values: Mapping[Any, Any], path: str
) -> TypeMismatchError:
    missing = [str(name) for name in names if name not in values]
    extra = [str(name) for name in values if name not in names]
    lists = (("missing", missing), ("not expected", extra))
    found = "; ".join(f"{word}: {', '.join(n)}" for word, n in lists if n)
    summary, cure = "the keys of a dict do not fit", "name the keys as the fields"
    expected = f"the keys of {clip(type_)}"
    return misfit(summary, expected, found, path, f"{cure} of the type")


def no_sequence(type_: object, value: object, path: str) -> TypeMismatchError:
    cure = "pass a list, tuple, array, generator function or tf.data.Dataset"
    if "[client" in path:
        cure = "pass one list (or dataset) for each client: [[…], […]]"
    return unfit("a sequence is needed", type_, value, path, cure)


def no_entries(
    who: str, type_: object, value: object, path: str, is_dataset: bool
) -> TypeMismatchError:
    cure = f"pass a list with one entry per {who}, in a fixed order"
    if is_dataset:
        cure = "put the datasets in a list: [dataset], one dataset per client"
    cure = "place it: data.place(batch_size=…)" if hasattr(value, "place") else cure
    return unfit(f"one entry per {who} is needed", type_, value, path, cure)


def bare_value(type_: object) -> str:
    """What to do about a list where one value is equal everywhere."""
    return f"pass the bare value, not a list: {type_} is the same everywhere"


def wrong_shape(shape: tuple[int, ...], type_: Any, path: str) -> ShapeMismatchError:
    return ShapeMismatchError(
        "a tensor has the wrong shape",
        expected=type_,
        found=dtype_name(type_.dtype) + shape_text(shape),
        where=path,
        do=rank_cure(type_, shape) or SHAPE,
    )


def add_rows(error: ShapeMismatchError, item: object, element: Any) -> None:
    """Says of an element that is no scalar how rows are declared."""
    rows = f"{dtype_name(element.dtype)}[{','.join('?' * np.ndim(item))}]"  # type: ignore[arg-type]
    error.found = f"{rows}: {clip(item)}"
    error.do = f"flatten the data, or declare {rows}* if rows are meant"


def no_tensor(value: object, type_: object, path: str, do: str) -> TypeMismatchError:
    found, dtype = describe(value), getattr(value, "dtype", None)
    if len(found) > _MAX_SHOWN or "\n" in found:
        found = found.split(":")[0].strip("<")
    if isinstance(value, np.ndarray) or found == "tf.Tensor":
        shape = shape_text(tuple(getattr(value, "shape", ())))
        found += f" of {as_dtype(dtype) or dtype}{shape}"
    summary = "a value cannot become the declared tensor"
    return misfit(summary, type_, found, path, do)


def cast_tensor(
    value: object, shape: Shape, type_: Any, path: str
) -> TypeMismatchError:
    cure = "cast it first (tf.cast): tensors are never cast by themselves"
    return no_tensor(value, type_, path, rank_cure(type_, shape) or cure)


def not_converted(
    value: object, array: Any, kind: str, type_: Any, path: str
) -> TypeMismatchError:
    wanted = type_.dtype
    cure = rank_cure(type_, array.shape) if kind in dtypes.NUMERIC else None
    if cure is None and callable(value):
        cure = "call the function: its result is the value"
    elif cure is None and array.dtype.kind in "US":
        cure = "turn text into numbers first: int(…), float(…)"
    elif cure is None and (
        dtypes.kind_of(array.dtype) == dtypes.REAL and wanted.kind in dtypes.WHOLE
    ):
        cure = "declare np.float32, or round to whole numbers first"
    cure = cure or f"convert it to {dtype_name(wanted)} first"
    return no_tensor(value, type_, path, cure)


def out_of_range(value: object, type_: Any, path: str) -> TypeMismatchError:
    dtype = type_.dtype
    if dtype.kind in dtypes.WHOLE:
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        cure = f"{dtype} holds {least} to {most}: declare a wider dtype"
    else:
        limit = f"{dtype} holds numbers up to {dtypes.largest(dtype):g}"
        cure = f"{limit}: declare a wider dtype, or scale the data"
    return no_tensor(value, type_, path, cure)


def makes_no_sequence(made: object, path: str) -> TypeMismatchError:
    summary = "a function was passed for a sequence, and it does not make one"
    cure = "write a generator function, with a `yield` for each element"
    return misfit(summary, "elements", describe(made), path, cure)


def placed_for_bare(type_: object, found: object, path: str) -> TypeMismatchError:
    problem = "a value without a placement is needed"
    cure = "take the value out of its placement: x.value"
    return misfit(problem, clip(type_), clip(found), path, cure)


def placed_entry(type_: object, found: object, path: str) -> TypeMismatchError:
    problem = "an entry of a list for the clients is placed already"
    cure = f"the list holds what each client has; {ZIP}"
    return misfit(problem, clip(type_), clip(found), path, cure)


def uncounted(type_: object, found: object, path: str) -> TypeMismatchError:
    problem = "nobody knows how many clients hold this value"
    cure = (
        "pass data with one entry per client, place([…, …], CLIENTS), beside it; "
        "or say the number: local_executor_factory(default_num_clients=3)"
    )
    return misfit(problem, clip(type_), clip(found), path, cure)


def no_end(type_: object) -> TypeMismatchError:
    problem = "all elements of a dataset without end are asked for"
    cure = "say how many: dataset.take(100), or repeat(5) in place of repeat()"
    return misfit(problem, "a dataset with an end", "one without", str(type_), cure)


def no_holder(type_: object) -> CardinalityError:
    return CardinalityError(
        "a value that is equal at all clients has no holder: 0 clients",
        expected="at least one client",
        found=str(type_),
        do="pass default_num_clients to the executor factory",
    )
