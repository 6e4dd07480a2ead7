# SPDX-License-Identifier: Apache-2.0
"""Contexts by the names that TFF programs use: `backends.native`."""

from fedlearn_edu.backends import native
from fedlearn_edu.former_names import answering

__all__ = ["native"]

__getattr__ = answering("fedlearn_edu.backends", __all__)
