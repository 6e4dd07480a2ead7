# SPDX-License-Identifier: Apache-2.0
"""Python functions on NumPy arrays. `executor.py` is the smallest complete executor."""

RUNTIME = "numpy"
