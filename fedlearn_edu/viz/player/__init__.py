# SPDX-License-Identifier: Apache-2.0
"""The execution player: step through a recorded run.

tape → Timeline   plain data: who did what when, for whom, and how many bytes moved
     → Listing    the program as text, with the node an event is about
     → Player     the widget; `draw_tape` the static picture
"""
