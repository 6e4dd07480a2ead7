# SPDX-License-Identifier: Apache-2.0
"""What every test may ask for: real MNIST if it is there, golden files, quiet runs.

Test folders mirror the source and are namespace packages (no `__init__.py`); a test
that needs a helper imports it as `from tests.some_folder.some_module import ...`.
"""

import difflib
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Before anything imports TensorFlow or matplotlib.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("MPLBACKEND", "agg")
# No test writes into the home of whoever runs it; those of progress name a file.
os.environ["FEDLEARN_EDU_PROGRESS"] = "off"
# Each program that a test starts would compile the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell lets what it begins in the background ignore Ctrl-C, and some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest
from hypothesis import settings

GOLDEN = Path(__file__).parent / "golden"

# Derandomized: a law that fails here fails everywhere, and tomorrow too.
settings.register_profile("fast", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=200, deadline=None, derandomize=True)
settings.load_profile("fast")  # `--hypothesis-profile=thorough` takes precedence


def pytest_addoption(parser: pytest.Parser) -> None:
    """Define the one way golden files are refreshed."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the files in tests/golden instead of comparing with them",
    )


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Take examples from the package alone, not from what tests import."""
    helper = collection_path.suffix == ".py" and not collection_path.match("test_*.py")
    return (helper and collection_path.is_relative_to(GOLDEN.parent)) or None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what each notebook took: `record_property("took", line)`, on any worker."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports(
        "failed"
    )
    took = [dict(report.user_properties).get("took") for report in reports]
    if lines := sorted(filter(None, took)):
        terminalreporter.section("what notebooks took")
        terminalreporter.write("\n".join([*lines, ""]))


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)` compares the text with the file of that name."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(name: str, text: str) -> None:
        file, found = GOLDEN / name, text.rstrip("\n") + "\n"
        if update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(found, encoding="utf-8")
            return
        expected = file.read_text(encoding="utf-8") if file.exists() else ""
        if found != expected:
            lines = (expected.splitlines(), found.splitlines())
            diff = "\n".join(
                difflib.unified_diff(*lines, "golden", "found", lineterm="")
            )
            pytest.fail(
                f"{name} differs from its golden file:\n{diff}\n"
                "If that is what you want: pytest --update-golden, and read the diff.",
                pytrace=False,
            )

    return compare


@pytest.fixture
def intrinsics_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test defines is known to no other test."""
    from fedlearn_edu.language import intrinsic

    monkeypatch.setattr(intrinsic, "_registry", dict(intrinsic._registry))


@pytest.fixture(scope="session")
def mnist_folder() -> Path:
    """The folder that holds the real `mnist.npz`; without one, the test is skipped."""
    keras_home = Path(os.environ.get("KERAS_HOME", Path.home() / ".keras"))
    named = os.environ.get("FEDLEARN_EDU_DATA")
    for folder in [*([Path(named)] if named else []), keras_home / "datasets"]:
        if (folder / "mnist.npz").is_file():
            return folder
    pytest.skip(
        "no mnist.npz: name the folder that holds it in FEDLEARN_EDU_DATA "
        f"(tried {named or 'that, unset'} and the Keras cache)"
    )


_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# The second half keeps the browser from asking anybody for anything by itself.
_FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--headless=new", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--no-first-run", "--disable-sync", "--disable-default-apps"),
    "--disable-features=AutofillServerCommunication",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, as it is installed. Where tests have to be complete it has to be.

    There is one for all tests: a process can drive no second one.
    """
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        told = "no chromium: apt-get install chromium, then run this again"
        if os.environ.get("CI"):
            pytest.fail(told)
        pytest.skip(told)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=_FLAGS)
        yield chromium
        chromium.close()
