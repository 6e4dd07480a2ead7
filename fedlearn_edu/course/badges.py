# SPDX-License-Identifier: Apache-2.0
"""Links that open a lesson on Colab or Binder, and the cell that installs the package.

The owner of a package's name decides what `pip install` runs, and the owner of an
address what a link shows. So `make release` writes neither until `PUBLISHED` names
ours. The links are words: pictures would be fetched whenever a lesson is opened.
"""

from dataclasses import dataclass
from typing import final

PACKAGE = "fedlearn-edu"
"""Its name in a package index."""


@final
@dataclass(frozen=True)
class Published:
    """Where the package can be found.

    >>> Published("owner/name", "1.0.0").tag
    'v1.0.0'

    Attributes:
        repository: its owner and name on GitHub.
        version: which one lessons install, and whose lessons the links open.
    """

    repository: str
    version: str

    @property
    def tag(self) -> str:
        """The tag of the version."""
        return f"v{self.version}"


PUBLISHED: Published | None = None
"""`Published("owner/name", "0.1.0")`, once the name and an address are ours."""


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
    """A cell that installs this version, where there is none.

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
