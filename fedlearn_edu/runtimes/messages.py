# SPDX-License-Identifier: Apache-2.0
"""The errors of leaf code: what a body returns, calls and uses, in either runtime."""

import re
from typing import Any, final

from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.errors import (
    ComputationFailedError,
    ContextError,
    FedLearnError,
    TracingError,
    describe,
    line_of,
)
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.types import Type

_SAY_IT = "say the type of the result: np_computation(…, result=np.float32)"


def not_callable_inside(
    computation: Computation, kind: str, runtime: str, found: str
) -> ContextError:
    return ContextError(
        f"{computation.__name__} cannot be called inside {kind}",
        expected=f"a computation of {runtime} code and sequence intrinsics",
        found=found,
        where=str(computation),
        do="call both from a federated_computation",
    )


@final
class NoTensorFlowError(FedLearnError, ImportError):
    """TensorFlow was asked for where it is not installed."""


def no_tensorflow() -> NoTensorFlowError:
    where, do = "this Python", "python -m pip install tensorflow, then start again"
    if is_browser():
        where = "Python in a browser, for which there is none"
        do = "write it in NumPy, as an np_computation; or work on your own computer"
    return NoTensorFlowError(
        "this needs TensorFlow", expected="TensorFlow, installed", found=where, do=do
    )


# -------------------------------------------------------------------------------- NumPy


def not_leaf_data(fn_name: str, found: Type, *, is_said: bool) -> TracingError:
    cures = "did you forget to call a computation?", "say the type of one member"
    return TracingError(
        f"{fn_name} returned something leaf code cannot return",
        expected="tensors, structures and sequences",
        found=str(found),
        do=cures[is_said],
    )


def failed_on_ones(
    error: Exception, fn_name: str, sample_type: Type | None
) -> TracingError:
    return TracingError(
        f"{fn_name} failed when it was tried on ones to find out its result type",
        expected=f"a result for ones of type {sample_type}",
        found=f"{type(error).__name__}: {error}",
        where=line_of(error) or fn_name,
        do=f"correct it, or {_SAY_IT}, then it is not tried",
    )


def follows_the_size(
    fn_name: str, sizes: tuple[int, int], found: tuple[Type, Type]
) -> TracingError:
    return TracingError(
        f"the type of {fn_name}'s result depends on the size of its input",
        expected=f"always the same, as for {sizes[0]} elements: {found[0]}",
        found=f"for {sizes[1]} elements: {found[1]}",
        where=f"{fn_name}'s result",
        do="return one array in place of a list: np.array(…), or say that it is a "
        "sequence: result=fl.SequenceType(np.float32)",
    )


def unlike_on_ones(error: Any, fn_name: str, on_ones: Type) -> None:
    """Lets the error of a result say that its type was found on ones."""
    error.summary = f"{fn_name} was tried on ones and gave another type"
    error.expected, error.do = f"{on_ones}, as for ones", _SAY_IT


# --------------------------------------------------------------------------- TensorFlow


def not_a_tensor(name: str, result: object, *, is_composite: bool) -> TracingError:
    return TracingError(
        f"{name} returned something TensorFlow code cannot return",
        expected="tensors, numbers, strings, datasets, or containers of these",
        found=describe(result),
        where=f"{name}'s result",
        do="make it dense: x.to_tensor(), or tf.sparse.to_dense(x)"
        if is_composite
        else "return what the rest of the program needs, as a tensor",
    )


# What makes tensors of elements, by the kind of their spec, and its ragged rank.
_DENSE = {
    "Sparse": "make them dense first: data.map(tf.sparse.to_dense), say",
    "RaggedTensorSpec0": "make tensors of the rows first: data.map(lambda x: x)",
    "Ragged": "make them dense first: data.map(lambda x: x.to_tensor()), say",
    "Dataset": "take data.batch(2), say, in place of data.window(2)",
}


def no_type_of_elements(name: str, spec: object) -> TracingError:
    kind = f"{type(spec).__name__}{getattr(spec, 'ragged_rank', '')}"
    return TracingError(
        f"{name} returned a dataset whose elements have no type here",
        expected="elements made of tensors",
        found=str(spec),
        do=next(
            (cure for words, cure in _DENSE.items() if words in kind),
            "let the body return what it makes of them: tensors, or one dataset",
        ),
    )


def made_outside(name: str, kind: str, cure: str) -> TracingError:
    return TracingError(
        f"{name} uses a {kind} that was made outside of it",
        expected=f"{kind}s made inside, everything else passed in",
        found=f"a {kind}",
        where=f"the body of {name}",
        do=f"make it in the body{cure}, or make its value a parameter",
    )


def no_tables(name: str) -> TracingError:
    return TracingError(
        f"{name} uses a lookup table, wherever it is made",
        expected="tensors, datasets, and variables made in the body",
        found="a lookup table, or another resource of TensorFlow",
        where=f"the body of {name}",
        do="look among all keys: tf.argmax(tf.cast(keys == x, tf.int32))",
    )


def no_variables(version: str) -> TracingError:
    return TracingError(
        "with this TensorFlow, no variables can be made in a tf_computation",
        expected="a release in which variables may live for one call",
        found=f"TensorFlow {version}",
        do="install another release, or pass values along instead of variables",
    )


def no_graph(name: str, found: str, place: str | None, cure: str) -> TracingError:
    return TracingError(
        f"TensorFlow cannot make a graph of {name}",
        expected="TensorFlow code: it runs once, on tensors that have no values yet",
        found=found,
        where=place,
        do=f"write {cure}",
    )


# Of `tf.debugging.Assert(…, [summary, "expected: …", "found: …", "do: …"])`.
_ASSERTED = re.compile(
    r"assertion failed: \[(?P<summary>[^]]*)\] \[expected: (?P<expected>[^]]*)\]"
    r" \[found: (?P<found>[^]]*)\] \[do: (?P<do>[^]]*)\]"
)
# What TensorFlow's reason says, and what to do about it; for all others, see below.
_CURES = {
    "outside the valid range of [0, ": (
        "count labels from 0, or make a model of more classes (classes=…)"
    ),
    "must have the same first dimension": "give x and y one row each for every example",
}


def graph_failed(error: Exception, reason: str, place: str) -> ComputationFailedError:
    if asserted := _ASSERTED.fullmatch(reason):
        return ComputationFailedError(**asserted.groupdict())
    return ComputationFailedError(
        f"TensorFlow reported an error {place}",
        found=f"{type(error).__name__}: {reason}",
        do=next(
            (cure for words, cure in _CURES.items() if words in reason),
            "run the function by itself on one client's data to see more",
        ),
    )
