# SPDX-License-Identifier: Apache-2.0
"""Colors with fixed meanings, the same in figures and in what notebooks show as HTML.

They are those of M. Okabe and K. Ito, "Color Universal Design" (2008), which stay apart
for color-blind readers; the ten digits have those of M. A. Petroff, "Accessible Color
Sequences for Data Visualization" (2021). Nothing relies on color alone: lines carry
labels, digits carry themselves as markers.
"""

SERVER = "#0072B2"
"""Blue: the server, and the one model that lives there."""

CLIENTS = "#E69F00"
"""Orange: the clients, and what each of them holds."""

CLIENTS_EDGE = "#B87A00"
"""The same orange for lines and dots: 3:1 on the page, in either theme."""

TEST = "#009E73"
"""Green: examples no participant has trained on."""

ALARM = "#D55E00"
"""Vermilion: what went wrong."""

INK = "#1A1A1A"
"""Text and axes."""

QUIET = "#767676"
"""What is there for comparison only; text may have no less contrast."""

SIGNED_MAP = "PuOr_r"
"""Purple for less than zero, orange for more, the paper's color at zero."""

MODELS = (SERVER, TEST, "#AA3377", INK, ALARM, QUIET)
"""Up to six models side by side; lines and markers always differ, too."""
