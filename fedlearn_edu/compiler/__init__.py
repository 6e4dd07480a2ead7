# SPDX-License-Identifier: Apache-2.0
"""Rewrites trees before they run. Read `pipeline.py`: the passes, in order."""
