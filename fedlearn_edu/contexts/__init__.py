# SPDX-License-Identifier: Apache-2.0
"""What a call means when it runs. Read `reference.py` (the oracle), `execution.py`."""
