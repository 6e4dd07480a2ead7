# SPDX-License-Identifier: Apache-2.0
"""A computation as a picture: who computes what, and what travels.

`graph`:   flow.py (nodes and edges), from_ir.py (a tree becomes a flow), captions.py
           (its words), layout.py (where it goes), drawing.py
`passes`:  stages.py (a program between the compiler's passes), passes.py
"""
