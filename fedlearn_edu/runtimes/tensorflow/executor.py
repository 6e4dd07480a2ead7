# SPDX-License-Identifier: Apache-2.0
"""TensorFlow at the bottom of a stack: graphs are called on eager tensors.

Sequences stay as they are until a graph wants a dataset. `executors/layer.py` has the
contract's five methods.
"""

from typing import Any, final

import numpy as np

from fedlearn_edu.executors.layer import LeafExecutor
from fedlearn_edu.executors.recording import note
from fedlearn_edu.ir.operations import Operation
from fedlearn_edu.runtimes.tensorflow import RUNTIME
from fedlearn_edu.runtimes.tensorflow.conversion import explained, tf_dtype, to_plain
from fedlearn_edu.runtimes.tensorflow.evaluation import OPERATIONS
from fedlearn_edu.runtimes.tensorflow.graph import GraphCode
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.runtimes.tensorflow.rows import run_in_memory
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    FunctionType,
    SequenceType,
    StructType,
    TensorType,
    Type,
    normalize,
)


@final
class EagerTFExecutor(LeafExecutor):
    """Runs TensorFlow leaf code on eager tensors.

    Source: `tff.framework.EagerTFExecutor`.
    """

    runtime = RUNTIME
    lazy_sequences = True

    def embed(self, plain: Any, type_: Type) -> Any:
        """Data as eager tensors."""
        if not isinstance(type_, SequenceType):
            note("convert", type_)
        return to_tensors(plain, type_)

    def run(self, code: Any, argument: Any, type_: FunctionType) -> Any:
        """Calls a graph, or an operation that all runtimes know.

        Raises:
            ComputationFailedError: if TensorFlow reports an error.
        """
        try:
            if isinstance(code, GraphCode):
                found = run_in_memory(code, argument)
                return code.run_nested(argument) if found is None else found
            return _run_operation(code, argument, type_)
        except tf.errors.OpError as error:
            raise explained(error, f"in {code.name}") from None

    def extract(self, data: Any, type_: Type) -> Any:
        """Data in plain form."""
        return to_plain(data, type_)


def to_tensors(value: Any, type_: Type) -> Any:
    """Data as eager tensors, nested in Structs; sequences stay plain."""
    match type_:
        case TensorType(dtype=dtype):
            if not isinstance(value, np.ndarray | np.generic) or value.dtype != dtype:
                value = normalize(value, type_)
            return tf.constant(value, tf_dtype(dtype))
        case StructType():
            fields = value if isinstance(value, Struct) else normalize(value, type_)
            return type_._with_values(map(to_tensors, fields, type_))
        case SequenceType() if isinstance(value, tuple):
            return value
        case _:
            return normalize(value, type_)


def _run_operation(code: Operation, argument: Any, type_: FunctionType) -> Any:
    if code.name in OPERATIONS:
        return OPERATIONS[code.name](argument[0], argument[1])
    assert type_.parameter is not None
    plain = code(to_plain(argument, type_.parameter))
    return to_tensors(plain, type_.result)
