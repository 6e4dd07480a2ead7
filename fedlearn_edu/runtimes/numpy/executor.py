# SPDX-License-Identifier: Apache-2.0
"""NumPy at the bottom of a stack: data stay in plain form, code is a Python function.

The smallest runtime: read this one first, with `executors/layer.py` beside it.
"""

from typing import Any, final

from fedlearn_edu.executors.layer import LeafExecutor
from fedlearn_edu.runtimes.numpy import RUNTIME
from fedlearn_edu.types import FunctionType, Type, normalize


@final
class NumPyExecutor(LeafExecutor):
    """Runs NumPy leaf code on plain data."""

    runtime = RUNTIME

    def embed(self, plain: Any, type_: Type) -> Any:
        """Plain data, checked once more because a student may hand in anything."""
        return normalize(plain, type_)

    def run(self, code: Any, argument: Any, type_: FunctionType) -> Any:
        """Calls the function."""
        return code(argument)

    def extract(self, data: Any, type_: Type) -> Any:
        """The data as they are."""
        return data
