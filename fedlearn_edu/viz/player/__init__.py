# SPDX-License-Identifier: Apache-2.0
"""The execution player: a recorded run, to be stepped through and looked at.

tape → Story   plain data: who did what when, for whom, inside of what, how many bytes
     → Lanes   one per participant, with a bar for each event
     → Listing the program as text, with the node an event is about
     → Player  the widget; `draw_tape` the static picture
"""
