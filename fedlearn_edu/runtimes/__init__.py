# SPDX-License-Identifier: Apache-2.0
"""Leaf code: each runtime has a decorator that makes it, an executor that runs it."""
