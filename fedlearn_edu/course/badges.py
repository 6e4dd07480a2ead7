# SPDX-License-Identifier: Apache-2.0
"""Links that open a lesson elsewhere, and the cell that installs the package there.

The owner of a package's name decides what `pip install` runs, and the owner of an
address what a link shows. So `make release` writes neither until `pyproject.toml` names
ours. The links are words: pictures would be fetched whenever a lesson is opened.
"""

from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu import __version__


@final
@dataclass(frozen=True)
class Published:
    """Where the package can be found.

    >>> Published("owner/name", "1.0.0", "https://site").tag
    'v1.0.0'

    Attributes:
        repository: its owner and name on GitHub.
        version: which one lessons install, and whose lessons the links open.
        site: address of the documentation, with the lessons for a browser in `lite`.
    """

    repository: str
    version: str
    site: str

    @property
    def tag(self) -> str:
        """The tag of the version."""
        return f"v{self.version}"


# name and addresses: written by `make release` from pyproject.toml
PACKAGE = "fedlearn-edu"
_REPOSITORY = ""
_SITE = ""
# end of name and addresses

PUBLISHED: Published | None = None
"""Where this version is, once its name and its addresses are ours."""

if _REPOSITORY:
    PUBLISHED = Published(_REPOSITORY, __version__, _SITE)


def runs_in_browser(notebook: Any) -> bool:
    """Whether the site has it; its metadata say so if it needs an installation."""
    return bool(notebook.metadata.get("fedlearn_edu", {}).get("browser", True))


def badges(lesson: str, notebook: Any, published: Published) -> str:
    """The links that open a lesson, in Markdown.

    Args:
        lesson: Its folder, as in `04_intrinsics`.
        notebook: The lesson itself.
        published: Where they lead to.
    """
    place, tag, file = published.repository, published.tag, f"{lesson}/{lesson}.ipynb"
    path = f"notebooks/release/{file}"
    lite = f"{published.site}/lite/lab/index.html?path={file}"
    colab = f"https://colab.research.google.com/github/{place}/blob/{tag}/{path}"
    binder = f"https://mybinder.org/v2/gh/{place}/{tag}?urlpath=lab/tree/{path}"
    links = [f"[in the browser]({lite})"] if runs_in_browser(notebook) else []
    links += [f"[in Colab]({colab})", f"[on Binder]({binder})"]
    return f"Open it {' · '.join(links)}"


def install_cell(published: Published) -> str:
    """A cell that installs this version, where there is none.

    >>> print(install_cell(Published("owner/name", "1.0.0", "https://site")))
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
