# SPDX-License-Identifier: Apache-2.0
"""What a call means when it runs: the reference (read it first), and the stacks."""
