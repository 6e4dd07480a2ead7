# SPDX-License-Identifier: Apache-2.0
"""How placements and federated intrinsics are realized: flat, or in groups.

Read `base.py` (the contract), then `resolving.py` (one executor per participant).
"""
