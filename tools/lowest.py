# SPDX-License-Identifier: Apache-2.0
"""Print the lowest versions of what the package depends on, for `make test-lowest`.

A version of `pyproject.toml` stands for the last release of its line: `numpy>=1.26` for
`numpy==1.26.*`.
"""

import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def main() -> None:
    project = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]
    for dependency in project["dependencies"]:
        name, _, lowest = dependency.partition(";")[0].partition(">=")
        print(f"{name}=={lowest}.*")


if __name__ == "__main__":
    main()
