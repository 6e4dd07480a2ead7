# SPDX-License-Identifier: Apache-2.0
"""TensorFlow functions as leaf code. Only this package imports TensorFlow to run it.

Read `computation.py` (the decorator), `graph.py` (a traced function) and `executor.py`.
"""

RUNTIME = "tensorflow"
