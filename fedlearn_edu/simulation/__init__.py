# SPDX-License-Identifier: Apache-2.0
"""Everything a simulation needs around a computation: data, and who holds which."""

from fedlearn_edu.simulation import datasets, partitions

__all__ = ["datasets", "partitions"]
