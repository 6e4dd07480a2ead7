# SPDX-License-Identifier: Apache-2.0
"""The matrix: what is done × to which elements × with which capture × in which form.

    operation   sum, map, reduce, reduce of map, map of map, returned to Python, passed
                on to leaf code, and a whole reduction nested under `federated_map`
    elements    ragged, empty, one, structures, strings, 10,000
    capture     none, a scalar, a model (a structure of arrays)
    form        list, tuple, generator function, NumPy array, dataset

`operate` is recorded in the body of a computation, and `meaning` says what must come
out.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import product
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.types import infer_type, normalize, restore
from tests.sequences.elements import FIELDS, NUMBER, ROW, TEXT, Kind, Leaves, leaves

OPERATIONS = (
    "sum",
    "map",
    "reduce",
    "reduce of map",
    "map of map",
    "returned",
    "passed on",
    "nested",
)
CAPTURES = ("no capture", "captured scalar", "captured model")
FORMS = ("list", "tuple", "generator function", "array", "dataset")
MANY = "10,000"


@dataclass(frozen=True, eq=False)
class Elements:
    """Some elements of one kind."""

    name: str
    kind: Kind
    values: tuple[Any, ...]


ELEMENTS = (
    Elements("ragged", ROW, tuple(np.ones(n, np.float32) * n for n in (3, 0, 1))),
    Elements("empty", NUMBER, ()),
    Elements("one", NUMBER, (5.0,)),
    Elements(
        "structures", FIELDS, tuple(OrderedDict(y=2.0 * i, x=1.0 + i) for i in range(3))
    ),
    Elements("strings", TEXT, (b"a", b"", b"bc")),
    Elements(MANY, NUMBER, tuple(float(i % 7) for i in range(10_000))),
)


@dataclass(frozen=True, eq=False)
class Cell:
    """One cell of the matrix, for all forms."""

    operation: str
    elements: Elements
    capture: str

    def __str__(self) -> str:
        return f"{self.operation}-{self.elements.name}-{self.capture}"

    @property
    def kind(self) -> Kind:
        """The kind of the elements."""
        return self.elements.kind

    @property
    def is_long(self) -> bool:
        """Whether there are so many elements that it takes a while."""
        return self.elements.name == MANY

    @property
    def captured(self) -> Any:
        """The captured value."""
        return self.kind.captures[self.capture]

    def forms(self, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        """The elements in every form that makes sense, and the name of the form."""
        for name in names:
            if why_not_form(name, self) is None:
                yield name, in_form(name, self.elements)

    def expected(self) -> Any:
        """What comes out."""
        # With Python's numbers NumPy 1 would compute in float64.
        type_ = self.kind.sequence
        values = restore(normalize(self.elements.values, type_), type_)
        return meaning(self.operation, values, self.kind, self.capture)


def why_not(operation: str, elements: Elements, capture: str) -> str | None:
    """Why there is no such cell, if there is none."""
    if operation == "sum" and capture != "no capture":
        return "a sum has no function that could capture anything"
    if operation == "sum" and elements.kind.add_up is None:
        return "strings, and rows of unknown length, cannot be added up"
    if elements.name == MANY and capture != "no capture":
        return "what is captured has nothing to do with how many elements there are"
    return None


def why_not_form(form: str, cell: Cell) -> str | None:
    """Why elements do not come in this form, if they do not."""
    if form == "array" and not cell.kind.is_flat:
        return "rows of several lengths, and structures, make no array"
    if cell.is_long and form != "generator function":
        return "the length matters most where nobody knows it beforehand"
    return None


CELLS = tuple(
    Cell(*cell)
    for cell in product(OPERATIONS, ELEMENTS, CAPTURES)
    if why_not(*cell) is None
)


def in_form(form: str, elements: Elements) -> Any:
    """The same elements in another form."""
    values, kind = elements.values, elements.kind

    def generate() -> Iterator[Any]:
        yield from values

    match form:
        case "generator function":
            return generate
        case "array":
            return np.array(values, object if kind is TEXT else kind.element)
        case "dataset":
            return dataset(elements)
    return {"list": list, "tuple": tuple}[form](values)


@cache
def dataset(elements: Elements) -> Any:
    """The elements as a dataset."""
    make, values = fl.tf.data.Dataset, elements.values
    if elements.kind is ROW:
        spec = fl.tf.TensorSpec([None], np.float32)
        return make.from_generator(lambda: iter(values), output_signature=spec)
    if elements.kind is FIELDS:
        columns = [(name, [value[name] for value in values]) for name in "yx"]
        return make.from_tensor_slices(OrderedDict(columns))
    return make.from_tensor_slices(in_form("array", elements))


def meaning(operation: str, values: Sequence[Any], kind: Kind, capture: str) -> Any:
    """The oracle."""
    k = kind.captures[capture]
    if capture == "captured model":
        k = k["w"][1] + k["b"]
    mapped = [kind.change(x, k) for x in values]
    match operation:
        case "sum":
            assert kind.add_up is not None
            return kind.add_up(values)
        case "map":
            return mapped
        case "map of map":
            return [kind.change(x, k) for x in mapped]
        case "returned":
            return [list(values), mapped]
        case _:
            return reduce(kind.fold, mapped, kind.zero)


def operate(operation: str, sequence: Any, fn: Any, kind: Kind, leaf: Leaves) -> Any:
    """One operation; on a federated sequence it happens at every client."""
    match operation:
        case "sum":
            return fl.sequence_sum(sequence)
        case "map":
            return fl.sequence_map(fn, sequence)
        case "reduce":
            return fl.sequence_reduce(sequence, kind.zero, _folding(fn, kind, leaf))
        case "map of map":
            return fl.sequence_map(fn, fl.sequence_map(fn, sequence))
        case "returned":
            return [sequence, fl.sequence_map(fn, sequence)]
    mapped = fl.sequence_map(fn, sequence)
    if operation == "passed on":
        return leaf.read(mapped)
    return fl.sequence_reduce(mapped, kind.zero, leaf.fold)


def _folding(fn: Any, kind: Kind, leaf: Leaves) -> Any:
    """Changes and folds in one function, which captures what `fn` captures."""
    return fl.federated_computation(
        lambda s, x: leaf.fold(s, fn(x)), kind.state, kind.element
    )


def element_function(capture: str, captured: Any, kind: Kind, leaf: Leaves) -> Any:
    """The function of a map, closed over a value of the body around it."""
    if capture == "no capture":
        return leaf.constant
    if capture == "captured scalar":
        return fl.federated_computation(
            lambda x: leaf.change(x, captured), kind.element
        )
    return fl.federated_computation(
        lambda x: leaf.change(x, leaf.strength(captured)), kind.element
    )


@cache
def program(operation: str, kind: Kind, capture: str, runtime: str) -> Any:
    """The operation as a computation of a sequence, and of what is captured."""
    leaf = leaves(kind, runtime)

    def body(sequence: Any, captured: Any) -> Any:
        fn = element_function(capture, captured, kind, leaf)
        return operate(operation, sequence, fn, kind, leaf)

    captured = infer_type(kind.captures[capture])
    return fl.federated_computation(body, kind.sequence, captured)


@cache
def program_at_clients(operation: str, kind: Kind, capture: str, runtime: str) -> Any:
    """The same for what every client holds: `{T*}@CLIENTS`, used directly."""
    leaf = leaves(kind, runtime)

    def body(data: Any, captured: Any) -> Any:
        fn = element_function(capture, captured, kind, leaf)
        if operation == "nested":
            whole = fl.federated_computation(
                lambda s: operate("reduce of map", s, fn, kind, leaf), kind.sequence
            )
            return fl.federated_map(whole, data)
        if operation == "passed on":
            return fl.federated_map(leaf.read, fl.sequence_map(fn, data))
        return operate(operation, data, fn, kind, leaf)

    captured = infer_type(kind.captures[capture])
    return fl.federated_computation(body, fl.type_at_clients(kind.sequence), captured)
