# SPDX-License-Identifier: Apache-2.0
"""The tree: what tracing builds, the compiler rewrites and executors run.

Read `nodes.py` first (the grammar), then `printing.py` and `traversal.py`.
"""
