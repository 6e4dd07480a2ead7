# SPDX-License-Identifier: Apache-2.0
"""A computation as a picture: who computes what, and what travels.

Read `record.py` (what a picture is made of), `reading.py` (a tree becomes that),
`rows.py` (where everything goes), `drawing.py` (ink).
"""
