# SPDX-License-Identifier: Apache-2.0
"""Links that open a lesson on somebody else's machine: Binder and Colab.

A fork changes `REPOSITORY`, and nothing else. The pictures are links too: nothing is
fetched by this package, and where there is no network their words stand in their place.
"""

from urllib.parse import quote

REPOSITORY = "fedlearn-edu/fedlearn-edu"
"""Owner and name on GitHub."""

BRANCH = "main"

INSTALL = """\
try:
    import fedlearn_edu as fl
except ModuleNotFoundError:  # on Colab: this package, and nothing else
    %pip install --quiet fedlearn-edu
    import fedlearn_edu as fl
"""
"""The beginning of the first code cell of a lesson. It installs nothing where the
package is there already, which is everywhere but on Colab."""

_BADGE = "[![Open this lesson {where}]({picture})]({target})"


def badges(lesson: str) -> str:
    """The line of Markdown below the title of a lesson.

    Args:
        lesson: Its folder, as in `04_intrinsics`.

    >>> "04_intrinsics/04_intrinsics.ipynb" in badges("04_intrinsics")
    True
    """
    path = f"notebooks/release/{lesson}/{lesson}.ipynb"
    binder = _BADGE.format(
        where="on Binder",
        picture="https://mybinder.org/badge_logo.svg",
        target=f"https://mybinder.org/v2/gh/{REPOSITORY}/{BRANCH}"
        f"?urlpath={quote(f'lab/tree/{path}', safe='')}",
    )
    colab = _BADGE.format(
        where="in Colab",
        picture="https://colab.research.google.com/assets/colab-badge.svg",
        target=f"https://colab.research.google.com/github/{REPOSITORY}"
        f"/blob/{BRANCH}/{path}",
    )
    return f"{binder} {colab}"
