# SPDX-License-Identifier: Apache-2.0
"""Contexts by the names that TFF programs use: `backends.native`."""

from typing import Any

from fedlearn_edu.backends import native
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.former_names import unknown

__all__ = ["native"]


@short_traceback
def __getattr__(name: str) -> Any:
    raise unknown("fedlearn_edu.backends", name, __all__)
