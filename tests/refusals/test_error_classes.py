# SPDX-License-Identifier: Apache-2.0
"""What a Python programmer may catch instead of each error of the upper floors."""

import importlib
from collections.abc import Callable

import pytest

from fedlearn_edu.errors import FedLearnError
from tests.architecture.repository import PACKAGE

FLOORS = (
    *("simulation", "learning", "attacks", "remote", "testing", "dataflow", "viz"),
    *("course", "demo"),
)


@pytest.mark.tensorflow
def test_every_error_is_also_one_of_pythons(golden: Callable[[str, str], None]) -> None:
    found: dict[str, str] = {}
    for file in sorted(f for floor in FLOORS for f in (PACKAGE / floor).rglob("*.py")):
        if file.stem == "__main__":
            continue
        name = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
        module = importlib.import_module(name.removesuffix(".__init__"))
        for each in vars(module).values():
            if isinstance(each, type) and issubclass(each, FedLearnError):
                bases = [c for c in each.__mro__ if c.__module__ == "builtins"]
                found[each.__qualname__] = bases[0].__name__
    golden("error_classes.txt", "\n".join(f"{n}: {found[n]}" for n in sorted(found)))
