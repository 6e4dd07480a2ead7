# SPDX-License-Identifier: Apache-2.0
"""The log of a run: recorded, replayed without the computation, its bytes counted.

A tape (`executors/recording.py`) has the events; here they are read. Pictures of them
are in `viz/player`.
"""

from fedlearn_edu.simulation.log.recorded import record
from fedlearn_edu.simulation.log.replaying import results_of
from fedlearn_edu.simulation.log.traffic import bytes_by_edge, transfers

__all__ = ["bytes_by_edge", "record", "results_of", "transfers"]
