# SPDX-License-Identifier: Apache-2.0
"""`import fedlearn_edu` is quick and leaves the heavy libraries alone."""

import json

import pytest

from tests.programs import in_another_process

HEAVY = [
    *("tensorflow", "keras", "matplotlib", "ipywidgets", "IPython"),
    *("dask", "distributed", "cloudpickle", "cryptography"),
    *("dp_accounting", "scipy"),
]
MAX_SECONDS = 0.5

PROGRAM = f"""
import json, sys, time
start = time.process_time()
import {{module}}
seconds = time.process_time() - start
heavy = [name for name in {HEAVY!r} if name in sys.modules]
print(json.dumps([seconds, heavy]))
"""


def _import_afresh(module: str) -> tuple[float, list[str]]:
    seconds, heavy = json.loads(in_another_process(PROGRAM.format(module=module)))
    return seconds, heavy


@pytest.mark.parametrize(
    "module",
    [
        *("fedlearn_edu", "fedlearn_edu.backends.native", "fedlearn_edu.course"),
        *("fedlearn_edu.framework", "fedlearn_edu.learning", "fedlearn_edu.attacks"),
    ],
)
def test_importing_a_face_loads_no_heavy_library(module: str) -> None:
    _, heavy = _import_afresh(module)
    assert heavy == []


def test_a_check_loads_the_lesson_of_its_notebook_alone() -> None:
    program = """
import sys
from fedlearn_edu.course import begin, check
begin("01_hello", answers := {})
try:
    check.average_of(answers["average_of"])
except AssertionError:
    print(*[name for name in sys.modules if ".course.lessons." in name])
"""
    *_, loaded = in_another_process(program).splitlines()
    assert loaded == "fedlearn_edu.course.lessons.hello"


@pytest.mark.slow
def test_importing_the_package_takes_less_than_half_a_second() -> None:
    """Of the processor; the best of five, for some find its caches cold."""
    assert min(_import_afresh("fedlearn_edu")[0] for _ in range(5)) < MAX_SECONDS


def test_package_does_without_what_comes_with_tensorflow() -> None:
    """In a browser there is neither; then bfloat16 is no dtype."""
    program = """
import sys; sys.modules["tensorflow"] = sys.modules["ml_dtypes"] = None
import fedlearn_edu as fl
print(fl.parse_type("float16"), "bfloat16" in fl.types.dtypes.DTYPE_NAMES)
"""
    assert in_another_process(program) == "float16 False\n"


def test_cluster_without_dask_says_what_to_install() -> None:
    program = """
import sys; sys.modules["distributed"] = sys.modules["cryptography"] = None
import fedlearn_edu as fl
for ask in (lambda: fl.remote, lambda: fl.framework.remote_executor_factory):
    try:
        ask()
    except ImportError as error:
        print(type(error).__name__, error.found, error.do, sep="; ")
"""
    said = "NotInstalledError; no distributed, no cryptography; pip install distributed"
    first, second = in_another_process(program).splitlines()
    assert first.startswith(said)
    assert second == first
