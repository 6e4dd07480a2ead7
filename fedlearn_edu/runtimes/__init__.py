# SPDX-License-Identifier: Apache-2.0
"""Leaf code: a decorator makes it, an executor runs it. Read `numpy/executor.py`."""
