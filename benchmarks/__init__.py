# SPDX-License-Identifier: Apache-2.0
"""How long federated rounds take, beside the same by hand: `make bench`."""
