# SPDX-License-Identifier: Apache-2.0
"""The log of a run: recorded, replayed without the computation, its bytes counted.

A tape (`executors/recording.py`) has the events; here they are read. Pictures of them
are in `viz/player`.
"""
