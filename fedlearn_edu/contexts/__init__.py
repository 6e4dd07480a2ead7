# SPDX-License-Identifier: Apache-2.0
"""What a call means when it runs.

Read `reference.py` (the oracle), then `execution.py` (a call becomes a run) and
`stacks.py` (the executors that it runs on).
"""
