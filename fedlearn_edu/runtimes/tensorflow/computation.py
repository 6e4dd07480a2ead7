# SPDX-License-Identifier: Apache-2.0
"""`tf_computation`: a TensorFlow function, traced once into one opaque leaf.

The body runs once, at definition, on symbolic tensors and datasets. Other TensorFlow
computations called in it become part of its graph. The executor beside this file runs
it.
"""

from collections.abc import Callable
from typing import Any

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.decorator import Decorator, call_leaf, check_leaf_parameter
from fedlearn_edu.language.messages.computations import returned_none
from fedlearn_edu.runtimes.tensorflow import RUNTIME
from fedlearn_edu.runtimes.tensorflow.conversion import from_body, to_body
from fedlearn_edu.runtimes.tensorflow.refusals import refusal
from fedlearn_edu.runtimes.tensorflow.tracing import trace
from fedlearn_edu.types import FunctionType, Type


def trace_tensorflow(
    fn: Callable[..., Any], names: tuple[str, ...], type_: Type | None, fn_name: str
) -> Computation:
    """Traces `fn` and returns the computation that runs its graph."""
    check_leaf_parameter(fn_name, type_)

    def body(nested: Any) -> tuple[Type, list[Any]]:
        try:
            result = call_leaf(fn, names, type_, nested, to_body)
        except Exception as error:
            raise (refusal(error, fn_name, type_) or error) from None
        if result is None:
            raise returned_none(fn, fn_name)
        return from_body(result, fn_name)

    code = trace(body, type_, fn_name)
    leaf = ir.Leaf(RUNTIME, code, FunctionType(type_, code.result))
    return Computation(leaf, fn_name, fn.__doc__)


tf_computation = Decorator(
    "tf_computation",
    trace_tensorflow,
    """Makes a computation of a TensorFlow function.

    The body runs once, now, on symbolic tensors; calling the computation runs the
    graph. Sequences are `tf.data.Dataset`s, structures the containers they were
    declared with. Variables and lookup tables made in the body, also by Keras layers,
    live for one call. `tf.function` may be used inside.

    >>> import numpy as np
    >>> from fedlearn_edu import tf_computation
    >>> add = tf_computation(lambda a, b: a + b, np.int32, np.int32)
    >>> print(add.type_signature)
    (<a=int32,b=int32> -> int32)
    >>> int(add(1, 2))
    3

    Source: `tff.tf_computation`.
    """,
)
