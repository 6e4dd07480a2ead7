# SPDX-License-Identifier: Apache-2.0
"""Plain forms of tensors, and of sequences that are not tuples.

`containers.py` hands in what Python code has at a tensor's place (numbers, nested
lists, arrays, TensorFlow tensors) and receives a NumPy scalar or array of exactly the
declared dtype. A dataset, or a function that makes an iterator, becomes an object that
is read again from its source each time.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedlearn_edu.errors import FedLearnError, TypeMismatchError, add_place, describe
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import dtypes
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.data_types import StructType, TensorType
from fedlearn_edu.types.dtypes import STRING, DType, dtype_name, shape_text
from fedlearn_edu.types.failures import unwrapped
from fedlearn_edu.types.mismatch import ROOT, SHAPE, misfit
from fedlearn_edu.types.python_fields import fields_of

_MAX_SHOWN, _MAX_PLACES = 80, 3
_ROWS = "pad rows of different lengths, or declare them as a sequence: float32[?]*"
# Which kinds of numbers become which: NumPy's letters, `b` for bool.
_CONVERTS = {"i": "biu", "u": "biu", "f": "biuf", "c": "biufc"}


@final
class ShapeMismatchError(TypeMismatchError):
    """An array has another shape than declared."""


@final
class ExhaustedError(FedLearnError, ValueError):
    """A generator was asked for its elements a second time."""


def to_plain_tensor(value: Any, type_: TensorType, path: str) -> Any:
    """Converts `value` to the declared dtype and checks its shape.

    Numbers convert as they do when TensorFlow makes a tensor of them: integers become
    floats, never the other way round. One that is too large is refused; infinity is one
    already.
    """
    dtype = type_.dtype
    is_numpy = type(value) is np.ndarray or isinstance(value, np.generic)
    if not is_numpy or value.dtype != dtype or dtype == STRING:
        value = _to_array(value, type_, path)
    if not dtypes.fits(type_.shape, value.shape):
        raise ShapeMismatchError(
            "a tensor has the wrong shape",
            expected=type_,
            found=dtype_name(dtype) + shape_text(value.shape),
            where=path,
            do=_rank_cure(value, type_) or SHAPE,
        )
    return value if value.shape else value[()]


def _rank_cure(array: Any, type_: TensorType) -> str | None:
    whole = type_.dtype.kind in dtypes.WHOLE
    return dtypes.rank_cure(type_.shape, array.shape, whole)


def _to_array(value: Any, type_: TensorType, path: str) -> Any:
    wanted = type_.dtype
    is_tf = dtypes.is_tf_dtype(getattr(value, "dtype", None)) and hasattr(
        value, "numpy"
    )
    # As objects, else NumPy would read ["a", 1] as two strings.
    dtype = STRING if wanted == STRING else None
    try:
        array = np.asarray(value.numpy() if is_tf else value, dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise _refusal(value, type_, path, _ROWS) from error
    if wanted == STRING:
        return _to_strings(array, value, type_, path)
    if array.dtype == wanted:
        return array
    if is_tf:
        cure = "cast it first (tf.cast): tensors are never cast by themselves"
        raise _refusal(value, type_, path, _rank_cure(array, type_) or cure)
    is_huge = array.size and all(type(number) is int for number in array.flat)
    kind = "i" if is_huge else dtypes.kind_of(array.dtype)
    if array.size and kind not in _CONVERTS.get(dtypes.kind_of(wanted), ""):
        usual = _rank_cure(array, type_) if kind in dtypes.NUMERIC else None
        raise _refusal(value, type_, path, usual or _cure(value, array.dtype, wanted))
    try:
        with np.errstate(over="raise"):
            is_rounded = is_huge and wanted.kind not in dtypes.WHOLE
            converted = (array.astype(float) if is_rounded else array).astype(wanted)
    except (FloatingPointError, OverflowError):
        raise _refusal(value, type_, path, _limits(wanted)) from None
    if wanted.kind in dtypes.WHOLE and not np.array_equal(converted, array):
        raise _refusal(value, type_, path, _limits(wanted))
    return converted


def _limits(dtype: DType) -> str:
    if dtype.kind in dtypes.WHOLE:
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        return f"{dtype} holds {least} to {most}: declare a wider dtype"
    limit = f"{dtype} holds numbers up to {dtypes.largest(dtype):g}"
    return f"{limit}: declare a wider dtype, or scale the data"


def _to_strings(array: Any, value: Any, type_: TensorType, path: str) -> Any:
    flat = np.empty(array.size, dtype=object)
    for i, item in enumerate(array.flat):
        if not isinstance(item, str | bytes):
            raise _refusal(value, type_, path, "write text as str or bytes")
        # Rid of np.str_ and np.bytes_ as well: the plain form of a string is `bytes`.
        flat[i] = item.encode() if isinstance(item, str) else bytes(item)
    return flat.reshape(array.shape)


def _cure(value: Any, found: DType, wanted: DType) -> str:
    """What to do about a value that does not convert."""
    if callable(value):
        return "call the function: its result is the value"
    if found.kind in "US":
        return "turn text into numbers first: int(…), float(…)"
    if dtypes.kind_of(found) == dtypes.REAL and wanted.kind in dtypes.WHOLE:
        return "declare np.float32, or round to whole numbers first"
    return f"convert it to {dtype_name(wanted)} first"


def _refusal(value: Any, type_: TensorType, path: str, do: str) -> TypeMismatchError:
    found, dtype = describe(value), getattr(value, "dtype", None)
    if len(found) > _MAX_SHOWN or "\n" in found:
        found = found.split(":")[0].strip("<")
    if isinstance(value, np.ndarray) or found == "tf.Tensor":
        found += (
            f" of {dtypes.as_dtype(dtype) or dtype}{shape_text(tuple(value.shape))}"
        )
    summary = "a value cannot become the declared tensor"
    return misfit(summary, type_, found, path, do)


@final
@dataclass(frozen=True, eq=False)
class LazySequence:
    """Elements that `make_iterator` makes anew, in plain form, for each reading.

    Unless `once`: then there is one reading, and the next one is refused.

    Attributes:
        length: how many they are, if they are made of elements that can be counted.
        source: the iterator they are read from, if that can be done only once.
        path: where that was passed.
    """

    make_iterator: Callable[[], Iterator[Any]]
    element_type: Type
    length: int | None = None
    source: Iterator[Any] | None = None
    path: str = ROOT

    @property
    def once(self) -> bool:
        """Whether there is only one reading."""
        return self.source is not None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.make_iterator())


# Set while elements are taken from a generator of the user's, whatever thread it is on.
reading: ContextVar[bool] = ContextVar("reading", default=False)


def taken(source: Any, path: str) -> Iterator[Any]:
    """The elements of an iterable of the user's, or of what a function returns."""
    iterator = _iterator(_run(source, path) if callable(source) else source, path)
    for index in itertools.count():
        try:
            yield _run(iterator.__next__, f"{path}, when element {index} was asked for")
        except StopIteration:
            return


def _run(code: Callable[[], Any], place: str) -> Any:
    """Runs code of the user's, which may well call computations itself."""
    token = reading.set(True)
    try:
        return code()
    except StopIteration:
        raise
    except Exception as error:
        add_place(error, place)
        raise
    finally:
        reading.reset(token)


def _iterator(made: Any, path: str) -> Iterator[Any]:
    try:
        return iter(made)
    except TypeError:
        summary = "a function was passed for a sequence, and it does not make one"
        cure = "write a generator function, with a `yield` for each element"
        raise misfit(summary, "elements", describe(made), path, cure) from None


def read_once(
    source: Iterator[Any], elements: Iterator[Any], type_: Type, path: str
) -> LazySequence:
    """A sequence of the `elements` of a `source`, which cannot be read once more."""
    if getattr(source, "gi_frame", source) is None:
        raise _used_up("a generator that has ended is passed for a sequence", path)
    unread = [elements]

    def take() -> Iterator[Any]:
        if not unread:
            raise _used_up("a sequence was read a second time", path)
        return unread.pop()

    return LazySequence(take, type_, source=source, path=path)


def check_unshared(sources: Iterable[tuple[Any, str]]) -> None:
    """Refuses one iterator in several places.

    Raises:
        ExhaustedError: the first reader would leave nothing for the others.
    """
    places: dict[int, list[str]] = {}
    for source, path in sources:
        if isinstance(source, Iterator):
            places.setdefault(id(source), []).append(path)
    for shared in places.values():
        if len(shared) > 1:
            raise ExhaustedError(
                "one iterator is passed for several sequences",
                expected="each with elements of its own: an iterator is read once",
                found=f"the same iterator in {len(shared)} places",
                where=", ".join(shared[:_MAX_PLACES]),
                do="pass a list, list(iterator), or the generator function itself",
            )


def _used_up(summary: str, path: str) -> ExhaustedError:
    return ExhaustedError(
        f"{summary}, and its generator is used up",
        expected="a sequence that can be read again",
        found="a generator or another iterator",
        where=path,
        do="pass a list, a dataset, or the generator function itself",
    )


@final
@dataclass(frozen=True, eq=False)
class DatasetSequence:
    """Still the `tf.data.Dataset` it came as; only TensorFlow's runtime looks at it.

    Attributes:
        explain: what an error becomes that TensorFlow reports at some place.
    """

    dataset: Any
    element_type: Type
    explain: Callable[[Exception, str], Exception] = unwrapped

    def __iter__(self) -> Iterator[Any]:
        elements = self.dataset.as_numpy_iterator()
        for index in itertools.count():
            try:
                element = next(elements)
            except StopIteration:
                return
            except Exception as error:
                raise self.explain(error, f"in element {index} of a dataset") from None
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
        summary = "ragged and sparse elements of a dataset cannot be read one by one"
        cure = "hand the whole dataset to a tf_computation"
        raise misfit(summary, type_, f"a {type(element).__name__}", do=cure)
    values = [value for _, value in fields.pairs]
    # A dict's own order means nothing; every other container is in declared order.
    if fields.container is dict:
        values = [element[name] for name in type_.names()]
    arranged = map(_arranged, values, type_)
    return Struct(zip(type_.names(), arranged, strict=True))
