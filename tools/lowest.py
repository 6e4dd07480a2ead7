# SPDX-License-Identifier: Apache-2.0
"""Tests TensorFlow code on the lowest versions that `pyproject.toml` allows.

`python3.11 -m tools.lowest` makes an environment in `build/lowest` (6 minutes). A
version stands for the last release of its line: `numpy>=1.26` for `numpy==1.26.*`.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = [
    f"tests/{name}" for name in ("runtimes", "conformance", "sequences", "learning")
]


def main() -> None:
    """Installs, and tests; the exit status is that of what failed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lowest = [each.partition(";")[0] for each in project["dependencies"]]
    venv = ROOT / "build" / "lowest"
    python = [str(venv / "bin" / "python"), "-m"]
    subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
    pins = venv / "pins.txt"
    pins.write_text("\n".join(f"{each.replace('>=', '==')}.*" for each in lowest))
    install = [*python, "pip", "install", "--quiet", "-c", str(pins), "-e", ".[test]"]
    subprocess.run(install, cwd=ROOT, check=True)
    marks = ["-m", "tensorflow and not thorough and not slow"]
    sys.exit(subprocess.run([*python, "pytest", *marks, *TESTS], cwd=ROOT).returncode)


if __name__ == "__main__":
    main()
