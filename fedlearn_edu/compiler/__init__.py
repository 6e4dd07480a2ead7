# SPDX-License-Identifier: Apache-2.0
"""Rewrites trees before they run. `pipeline.py` lists the passes in order."""
