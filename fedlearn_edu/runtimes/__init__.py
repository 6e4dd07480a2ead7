# SPDX-License-Identifier: Apache-2.0
"""Leaf code: each runtime has a decorator that makes it and an executor that runs it.

Read `numpy/computation.py` and `numpy/executor.py` first.
"""
