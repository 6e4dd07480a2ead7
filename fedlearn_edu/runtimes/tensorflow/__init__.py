# SPDX-License-Identifier: Apache-2.0
"""TensorFlow functions as leaf code: `computation.py`, `graph.py`, `executor.py`."""

RUNTIME = "tensorflow"
