# SPDX-License-Identifier: Apache-2.0
"""`tff.types`: types, and what TFF calls `to_type` since 0.68."""

from typing import Any

from fedlearn_edu import types
from fedlearn_edu.types import *  # noqa: F403 (all of its public names)
from fedlearn_edu.types import to_type as tensorflow_to_type

__all__ = types.__all__ + ["tensorflow_to_type"]  # noqa: RUF005 (Ruff reads it)


def __getattr__(name: str) -> Any:
    return getattr(types, name)
