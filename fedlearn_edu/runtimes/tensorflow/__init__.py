# SPDX-License-Identifier: Apache-2.0
"""TensorFlow functions as leaf code: `computation.py`, `graph.py`, `executor.py`."""

import sys

from fedlearn_edu.language.context_stack import Context

RUNTIME = "tensorflow"


def context_of_graph() -> Context | None:
    """In a `tf.function` outside of all computations, a call is part of its graph."""
    # Not imported, or not to its end, it traces nothing.
    is_eager = getattr(sys.modules.get("tensorflow"), "executing_eagerly", None)
    if is_eager is None or is_eager():
        return None
    from fedlearn_edu.runtimes.tensorflow.computation import TensorFlowTracingContext

    return TensorFlowTracingContext()
