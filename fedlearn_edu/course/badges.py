# SPDX-License-Identifier: Apache-2.0
"""What opens a lesson on somebody else's machine: Colab, Binder, and a first cell.

All of it needs names that are ours: whoever owns the name of a package decides what
`pip install` runs, and whoever owns an address what a link shows. So `make release`
writes none of it until `PUBLISHED` says where the package is.

The links are words, not the usual pictures: those are fetched from elsewhere whenever
the lesson is opened, and are missing where there is no network.
"""

from dataclasses import dataclass
from typing import final

PACKAGE = "fedlearn-edu"
"""The name under which package indexes would have it."""


@final
@dataclass(frozen=True)
class Published:
    """Where the public finds the package.

    >>> Published("owner/name", "1.0.0").tag
    'v1.0.0'

    Attributes:
        repository: its owner and name on GitHub.
        version: what the package index has. The lessons of that version are opened,
            those with the tag `v` and the version, and they install that version.
    """

    repository: str
    version: str

    @property
    def tag(self) -> str:
        """What the lessons of the version are found by."""
        return f"v{self.version}"


PUBLISHED: Published | None = None
"""`None`, as neither the name of the package nor an address is ours yet. Once both are,
`Published("owner/name", "0.1.0")` and `make release` bring links and install cells."""


def badges(lesson: str, published: Published) -> str:
    """The two links that open a lesson, in Markdown.

    Args:
        lesson: Its folder, as in `04_intrinsics`.
        published: Where they lead to.
    """
    place, tag = published.repository, published.tag
    file = f"notebooks/release/{lesson}/{lesson}.ipynb"
    colab = f"https://colab.research.google.com/github/{place}/blob/{tag}/{file}"
    binder = f"https://mybinder.org/v2/gh/{place}/{tag}?urlpath=lab/tree/{file}"
    return f"[Open it in Colab]({colab}) · [open it on Binder]({binder})"


def install_cell(published: Published) -> str:
    """It installs this version of this package, and only where there is none.

    >>> print(install_cell(Published("owner/name", "1.0.0")))
    from importlib.util import find_spec
    <BLANKLINE>
    if find_spec("fedlearn_edu") is None:  # on Colab, for example
        %pip install --quiet fedlearn-edu==1.0.0
    """
    return (
        "from importlib.util import find_spec\n\n"
        'if find_spec("fedlearn_edu") is None:  # on Colab, for example\n'
        f"    %pip install --quiet {PACKAGE}=={published.version}"
    )
