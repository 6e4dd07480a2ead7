# SPDX-License-Identifier: Apache-2.0
"""Links that open a lesson on somebody else's machine: Colab and Binder.

A fork changes `REPOSITORY`, and nothing else. They are words, not the usual pictures:
those are fetched from elsewhere whenever the lesson is opened, and are missing where
there is no network.
"""

REPOSITORY = "fedlearn-edu/fedlearn-edu"
"""Owner and name on GitHub."""

BRANCH = "main"

INSTALL = """\
from importlib.util import find_spec

if find_spec("fedlearn_edu") is None:  # on Colab, for example
    %pip install --quiet fedlearn-edu"""
"""The first code cell of a lesson. It installs this package and nothing else, and not
even that where it is there already."""


def badges(lesson: str) -> str:
    """The two lines of Markdown below the title of a lesson.

    Args:
        lesson: Its folder, as in `04_intrinsics`.

    >>> "04_intrinsics/04_intrinsics.ipynb" in badges("04_intrinsics")
    True
    """
    colab, binder = colab_address(lesson), binder_address(lesson)
    return f"[Open this lesson in Colab]({colab}) ·\n[open it on Binder]({binder})"


def colab_address(lesson: str) -> str:
    """Where Colab opens the release of a lesson."""
    place = f"https://colab.research.google.com/github/{REPOSITORY}/blob/{BRANCH}"
    return f"{place}/{_release(lesson)}"


def binder_address(lesson: str) -> str:
    """Where Binder opens it."""
    place = f"https://mybinder.org/v2/gh/{REPOSITORY}/{BRANCH}"
    return f"{place}?urlpath=lab/tree/{_release(lesson)}"


def _release(lesson: str) -> str:
    return f"notebooks/release/{lesson}/{lesson}.ipynb"
