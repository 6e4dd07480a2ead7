# SPDX-License-Identifier: Apache-2.0
"""Which texts lead to addresses, or install from names, that may not be ours."""

import re

from tools.publishing import Project

# A wheel that one has, a clone, or an address that one types is no name in an index.
INSTALLS = re.compile(
    r"pip install (?!--no-index)[^\n`&;]*\bfedlearn[-_]edu\b(?![\w.-]*\.whl|\S* @ )"
)
_PLACES = r"mybinder\.org|colab\.research|github\.(?:com|io)\b|https?://\S*fedlearn"
_PART = r"[^\s()\[\]\"'<>`]"
# From where a word begins: in a picture of a notebook each letter would be tried.
ADDRESSES = re.compile(f"(?<!{_PART}){_PART}*(?:{_PLACES}){_PART}*", re.IGNORECASE)


def strays(text: str, ours: Project) -> list[str]:
    """What is in the text and leads to a place that is not ours, or not yet."""
    installs = [] if ours.published else INSTALLS.findall(text)
    return installs + [
        address
        for address in ADDRESSES.findall(text)
        if not (ours.published and _is_ours(address, ours))
    ]


def _is_ours(address: str, ours: Project) -> bool:
    return address.startswith(ours.site) or f"/{ours.repository}" in address
