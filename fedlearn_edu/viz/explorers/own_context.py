# SPDX-License-Identifier: Apache-2.0
"""Where explorers run programs of their own: not on whatever stack the reader tries."""

from functools import lru_cache

from fedlearn_edu import framework


@lru_cache(maxsize=1)
def own_context() -> framework.SyncExecutionContext:
    """One context for all explorers, which keeps what it compiled."""
    factory = framework.local_executor_factory(support_sequence_ops=True)
    return framework.SyncExecutionContext(factory)
