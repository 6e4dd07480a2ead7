# SPDX-License-Identifier: Apache-2.0
"""How placements and federated intrinsics are realized: flat, or in groups."""
