# SPDX-License-Identifier: Apache-2.0
"""Where the repository's files are: shared by the tests of its shape."""

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "fedlearn_edu"
_BINARY = {".npz", ".png", ".gif", ".jpg", ".ico", ".pdf"}
_GENERATED = {"build", "dist", "node_modules"}


@cache
def text_files() -> tuple[Path, ...]:
    """Every text file that is, or is about to be, under version control."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listing = subprocess.run(
            command, cwd=ROOT, capture_output=True, check=True, text=True
        )
        files = [ROOT / name for name in listing.stdout.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):  # a downloaded archive
        files = [path for path in ROOT.rglob("*") if not _is_hidden(path)]
    return tuple(
        sorted(f for f in set(files) if f.is_file() and f.suffix not in _BINARY)
    )


def pages() -> list[Path]:
    """What people read: not the templates of the site, nor what tests hand in."""
    beside = (ROOT / "tests", ROOT / "tools" / "docs" / "templates")
    return [
        file
        for file in text_files()
        if file.suffix == ".md" and not any(map(file.is_relative_to, beside))
    ]


def package_files() -> list[Path]:
    """Every Python file of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def named(path: Path) -> str:
    """How a message calls a file."""
    return path.relative_to(ROOT).as_posix()


def _is_hidden(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return any(part.startswith((".venv", "__pycache__")) for part in parts) or bool(
        _GENERATED.intersection(parts)
    )
