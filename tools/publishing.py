# SPDX-License-Identifier: Apache-2.0
"""What is ours: name, version and addresses, from `pyproject.toml` to all other places.

`make release` runs this. Between two comments that name a block, it writes what the
table `[tool.fedlearn-edu.publishing]` says; nothing leads anywhere until that table has
`published = true`. The words are in `publishing.toml`; how to get there is in
`docs/install.md`.
"""

import argparse
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

ROOT = Path(__file__).resolve().parents[1]


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


def project(root: Path = ROOT) -> Project:
    """Reads `pyproject.toml`; addresses that are not published are left out."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    name, version = settings["project"]["name"], settings["project"]["version"]
    ours = dict(settings["tool"]["fedlearn-edu"]["publishing"])
    published = ours.pop("published")
    return Project(name, version, **ours) if published else Project(name, version)


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


def blocks(ours: Project) -> Iterator[tuple[str, str, str]]:
    """File, name and lines of what depends on what is ours, but for the lessons."""
    said = vars(ours) | {
        "code": f"https://github.com/{ours.repository}",
        "wheel": f"{ours.name.replace('-', '_')}-{ours.version}-py3-none-any.whl",
        "cite": f" · [cite it](https://doi.org/{ours.doi})" * bool(ours.doi),
        "cff": f'doi: "{ours.doi}"\n' * bool(ours.doi),
    }
    words = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    for block in tomllib.loads(words)["block"]:
        chosen = block.get("after" if ours.published else "before", block["before"])
        yield block["file"], block["name"], chosen.format(**said)


def write(root: Path) -> None:
    """Writes all blocks of the repository in this folder."""
    for file, name, lines in blocks(project(root)):
        text = renewed((root / file).read_text(encoding="utf-8"), name, lines)
        (root / file).write_text(text, encoding="utf-8", newline="\n")


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
