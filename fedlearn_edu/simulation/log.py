# SPDX-License-Identifier: Apache-2.0
"""The log of a run under its former name: see `contexts/execution.py`.

The bytes on each edge are counted in `executors/traffic.py`.
"""

from fedlearn_edu.contexts.execution import record
from fedlearn_edu.executors.traffic import bytes_by_edge, transfers

__all__ = ["bytes_by_edge", "record", "transfers"]
