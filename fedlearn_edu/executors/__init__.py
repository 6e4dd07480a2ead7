# SPDX-License-Identifier: Apache-2.0
"""Executors run the tree; each interprets one kind of construct and delegates the rest.

Read `base.py` (the contract of five methods), then from the top of a stack downwards:
`reference_resolving.py`, `federating.py` with the flat strategy in `resolving.py`,
`sequence.py`, and the leaves in `runtimes/`.
"""
