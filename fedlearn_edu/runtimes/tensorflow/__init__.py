# SPDX-License-Identifier: Apache-2.0
"""TensorFlow functions as leaf code: see `computation.py`, `graph.py`, `executor.py`."""

RUNTIME = "tensorflow"
