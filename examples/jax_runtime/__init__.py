# SPDX-License-Identifier: Apache-2.0
"""JAX as leaf code, added from outside; `docs/own_runtime.md` explains each step."""

from examples.jax_runtime.runtime import JAXExecutor, jax_computation

__all__ = ["JAXExecutor", "jax_computation"]
