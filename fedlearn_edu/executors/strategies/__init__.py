# SPDX-License-Identifier: Apache-2.0
"""How federated intrinsics are realized. Read `base.py`, then `resolving.py` (flat)."""
