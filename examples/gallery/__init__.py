# SPDX-License-Identifier: Apache-2.0
"""Draws every picture of `docs/pictures.md`."""
