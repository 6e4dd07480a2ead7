# SPDX-License-Identifier: Apache-2.0
"""Who computes what in a program, and what travels, read off its tree.

flow.py (nodes and edges), from_ir.py (a tree becomes a flow), server_view.py (what of
it the server sees). `viz` draws them.
"""
