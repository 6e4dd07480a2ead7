# SPDX-License-Identifier: Apache-2.0
"""Names for parametrized cases that are the same in every process."""

import re


def plain(value: object) -> str:
    """The text of a value without memory addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
