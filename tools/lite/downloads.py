# SPDX-License-Identifier: Apache-2.0
"""Files from elsewhere: fetched once, kept, and held against their hash."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

from tools.lite.errors import LiteError

_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def verified(content: bytes, expected: str, name: str) -> bytes:
    """The content itself.

    Raises:
        LiteError: if its sha256 is another one.

    >>> verified(b"abc", sha256(b"abc"), "letters.txt")
    b'abc'
    """
    if (found := sha256(content)) != expected:
        raise LiteError(
            f"{name} is not the file that was published",
            expected=f"sha256 {expected}",
            found=f"sha256 {found}",
            where=name,
            do="remove it, and run make lite again; if it stays, take another source",
        )
    return content


def pip_download(requirements: Path, into: Path, python: str) -> list[Path]:
    """The wheels of a file of requirements with hashes, by pip unless they are there.

    Raises:
        LiteError: if pip cannot get one, or its hash is another one.
    """
    wanted = _HASH.findall(requirements.read_text(encoding="utf-8"))
    if len(found := _with_hashes(into, wanted)) < len(wanted):
        _run_pip(requirements, into, python)
        found = _with_hashes(into, wanted)
    return found


def _with_hashes(folder: Path, wanted: list[str]) -> list[Path]:
    return [w for w in sorted(folder.glob("*.whl")) if sha256(w.read_bytes()) in wanted]


def _run_pip(requirements: Path, into: Path, python: str) -> None:
    chosen = ["--no-deps", "--only-binary=:all:", "--python-version", python]
    command = [sys.executable, "-m", "pip", "download", "--quiet", *chosen]
    command += ["--require-hashes", "-r", str(requirements), "-d", str(into)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        told = [line for line in done.stderr.splitlines() if "ERROR" in line]
        raise LiteError(
            f"pip could not download what {requirements.name} lists",
            expected="a package index that pip reaches, with files of these hashes",
            found=" ".join(told) or done.stderr,
            where=requirements.name,
            do="run make lite again with a network; downloads are kept in build",
        )
