# SPDX-License-Identifier: Apache-2.0
"""What is ours: name, version and addresses, from `pyproject.toml` to all other places.

`make release` runs this. Between two comments that name a block, it writes what the
table `[tool.fedlearn-edu.publishing]` says; nothing leads anywhere until that table has
`published = true`. How to get there: `docs/install.md`.
"""

import argparse
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from fedlearn_edu.errors import FedLearnError

ROOT = Path(__file__).resolve().parents[1]

Block = tuple[str, str, str]
"""A file, the name of a block in it, and the lines to be there."""


@final
class NotPublishableError(FedLearnError, ValueError):
    """`pyproject.toml` says that all is published, and does not say where."""


@final
@dataclass(frozen=True)
class Project:
    """What `pyproject.toml` says is ours; the addresses are empty until they are.

    Attributes:
        name: in a package index.
        version: the one of this commit.
        repository: owner and name on GitHub.
        site: address of the documentation, without a slash at its end.
        doi: of all versions together; it can come later than the other two.
    """

    name: str
    version: str
    repository: str = ""
    site: str = ""
    doi: str = ""

    @property
    def published(self) -> bool:
        """Whether anything may lead there."""
        return bool(self.repository)

    @property
    def code(self) -> str:
        """Where the code is."""
        return f"https://github.com/{self.repository}"

    @property
    def citation(self) -> str:
        """Where the DOI leads."""
        return f"https://doi.org/{self.doi}"


def project(root: Path = ROOT) -> Project:
    """Reads `pyproject.toml`; addresses that are not published are left out.

    Raises:
        NotPublishableError: if it is published, and an address is not there, or no
            address.
    """
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    name, version = settings["project"]["name"], settings["project"]["version"]
    ours = dict(settings["tool"]["fedlearn-edu"]["publishing"])
    if not ours.pop("published"):
        return Project(name, version)
    for key, form in _FORMS.items():
        if not re.fullmatch(form, ours[key]):
            raise NotPublishableError(
                f"{key} is not an address",
                expected=f"something of the form {form}",
                found=repr(ours[key]),
                where="pyproject.toml, [tool.fedlearn-edu.publishing]",
                do="write it down, or set published = false",
            )
    return Project(name, version, **ours)


_FORMS = {
    "repository": r"[\w.-]+/[\w.-]+",
    "site": r"https://[^\s/]+(/[^\s/]+)*",
    "doi": r"(10\.\d+/\S+)?",
}


def renewed(text: str, name: str, lines: str) -> str:
    r"""The text with these lines between the two comments that name a block.

    >>> print(renewed("# v: written by `make release`\n1\n# end of v", "v", "2\n"))
    # v: written by `make release`
    2
    # end of v

    Raises:
        ValueError: if there is not just one such block.
    """
    begin = rf"(?m:^\S+ {name}: written by `make release`.*\n)"
    block = re.compile(rf"({begin})(?s:.*?)((?m:^)\S+ end of {name}\b)")
    new, found = block.subn(lambda marks: f"{marks[1]}{lines}{marks[2]}", text)
    if found != 1:
        raise ValueError(f"{found} blocks named {name}, and there is to be one")
    return new


def blocks(ours: Project) -> Iterator[Block]:
    """All that depends on what is ours, but for the lessons and their table."""
    yield "fedlearn_edu/__init__.py", "version", f'__version__ = "{ours.version}"\n'
    yield "fedlearn_edu/course/badges.py", "name and addresses", _addresses(ours)
    yield "pyproject.toml", "addresses", _urls(ours)
    yield "CITATION.cff", "version and addresses", _citation(ours)
    yield "README.md", "links", _links(ours)
    yield "docs/install.md", "install", f"\n{_install(ours)}\n"
    yield "docs/teaching.md", "elsewhere", f"\n{_elsewhere(ours)}\n"


def _addresses(ours: Project) -> str:
    lines = {"PACKAGE": ours.name, "_REPOSITORY": ours.repository, "_SITE": ours.site}
    return "".join(f'{name} = "{value}"\n' for name, value in lines.items())


def _urls(ours: Project) -> str:
    if not ours.published:
        return ""
    changes = f"{ours.code}/blob/v{ours.version}/CHANGELOG.md"
    return (
        f'[project.urls]\nDocumentation = "{ours.site}/"\n'
        f'Repository = "{ours.code}"\nChangelog = "{changes}"\n'
    )


def _citation(ours: Project) -> str:
    lines = f"version: {ours.version}\n"
    if ours.published:
        lines += f'repository-code: "{ours.code}"\nurl: "{ours.site}/"\n'
    return lines + (f'doi: "{ours.doi}"\n' if ours.doi else "")


def _links(ours: Project) -> str:
    if not ours.published:
        return ""
    cite = f" · [cite it]({ours.citation})" if ours.doi else ""
    return (
        f"\n[Open the lessons in the browser]({ours.site}/lite/), nothing to install · "
        f"[read the documentation]({ours.site}/){cite}\n\n"
    )


def _install(ours: Project) -> str:
    wheel = f"{ours.name.replace('-', '_')}-{ours.version}-py3-none-any.whl"
    made = f'`pip install "{wheel}[lab]"`; `make dist` in a clone makes one'
    if not ours.published:
        return (
            "The package is in no registry yet. Without a clone, in an environment of "
            "your own (ADDRESS is that of the repository):\n\n"
            f"- from a wheel, lessons inside: {made}\n"
            f'- from a tag: `pip install "{ours.name}[lab] @ git+ADDRESS@TAG"`\n'
        )
    tag = f"git+{ours.code}@v{ours.version}"
    return (
        "Without a clone, in an environment of your own:\n\n"
        f'- by name: `pip install "{ours.name}[lab]"`, then `fedlearn-edu start`\n'
        f"- from a wheel, lessons inside: {made}\n"
        f'- from a tag: `pip install "{ours.name}[lab] @ {tag}"`\n'
    )


def _elsewhere(ours: Project) -> str:
    if not ours.published:
        return (
            "Lessons open on your machine: the package has no address and no name in "
            "an index yet, so no lesson links\nto itself elsewhere or installs "
            "anything. If your fork has both, see "
            "[publishing](install.md#publishing).\n"
        )
    return (
        f"Lessons open on your machine, or [in a browser]({ours.site}/lite/). Each "
        "begins with links that open it elsewhere, and with a\ncell that installs this "
        "version there. For links of a fork, see [publishing](install.md#publishing).\n"
    )


def write(root: Path) -> None:
    """Writes all blocks of the repository in this folder.

    Raises:
        NotPublishableError: if `pyproject.toml` does not say where.
    """
    for file, name, lines in blocks(project(root)):
        path = root / file
        text = renewed(path.read_text(encoding="utf-8"), name, lines)
        path.write_text(text, encoding="utf-8", newline="\n")


def main() -> None:
    """Writes everything; with `--status`, says what is ours, one `key=value` a line."""
    parser = argparse.ArgumentParser(prog="python -m tools.publishing")
    parser.add_argument("--status", action="store_true")
    if not parser.parse_args().status:
        write(ROOT)
        return
    ours = project()
    print(f"published={str(ours.published).lower()}")
    print(f"repository={ours.repository}\nversion={ours.version}")


if __name__ == "__main__":
    main()
