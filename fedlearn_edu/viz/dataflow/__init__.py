# SPDX-License-Identifier: Apache-2.0
"""A computation as a picture: who computes what, and what travels.

`graph`:   captions.py (the words of a flow, which `fedlearn_edu.dataflow` reads off a
           tree), layout.py (where it goes), drawing.py
`server`:  server_view.py
`passes`:  stages.py (a program between the compiler's passes), passes.py
"""
