# SPDX-License-Identifier: Apache-2.0
"""The catalog of learner's slips: what is said, how long, in a script and a notebook.

Every slip has a golden file with its whole message. Read them as a beginner would, and
refresh them with `pytest --update-golden` after changing a message.
"""

import importlib
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import fedlearn_edu
from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.language import intrinsic
from tests.slips.slip import CATALOG, Slip, whole_message

SUBJECTS = (
    *("writing_types", "bodies", "defining", "data", "running", "in_tensorflow"),
    *("learning", "clusters"),
)
for _subject in SUBJECTS:
    importlib.import_module(f"tests.slips.{_subject}")

MAX_LINES = 12
PACKAGE = str(Path(fedlearn_edu.__file__).parent)
SLIPS = [
    pytest.param(slip, id=slip.name, marks=[pytest.mark.tensorflow] * slip.tensorflow)
    for _, slip in sorted(CATALOG.items())
]
each_slip = pytest.mark.parametrize("slip", SLIPS)


@pytest.fixture(autouse=True)
def only_intrinsics_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lessons, pages and other slips define is in no message."""
    known = intrinsic._registry.items()
    ours = {n: d for n, d in known if n.startswith(("federated_", "sequence_"))}
    monkeypatch.setattr(intrinsic, "_registry", ours)


@cache
def error_of(slip: Slip) -> Exception:
    return slip.error()


@each_slip
def test_slip_gets_the_message_of_its_golden_file(
    slip: Slip, golden: Callable[[str, str], None]
) -> None:
    message = re.sub(r"line \d+ of", "line N of", whole_message(error_of(slip)))
    golden(f"slips/{slip.name}.txt", message)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        # The shell takes the place of this module; AutoGraph looks into it for sources.
        patch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "nocolor"
        make_shell: Any = InteractiveShell
        yield make_shell(config=config)


@each_slip
def test_slip_is_told_shortly_and_in_the_learners_words(
    slip: Slip, shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    error = error_of(slip)
    _check_error(slip, error)
    _check_message(slip, whole_message(error))
    shell.user_ns["commit_the_slip"] = slip.commit
    result = shell.run_cell("commit_the_slip()")
    shown = capsys.readouterr().out.strip().splitlines()
    assert isinstance(result.error_in_exec, slip.builtin)
    if slip.theirs:
        assert len(shown) <= 3 * MAX_LINES
        return
    assert len(shown) <= MAX_LINES
    assert re.match(r"line \d+: ", shown[0])
    assert shown[1].startswith(type(result.error_in_exec).__name__)


def _check_error(slip: Slip, error: Exception) -> None:
    """It can be caught as a programmer expects, and shows the learner's lines only."""
    assert isinstance(error, slip.builtin)
    assert isinstance(error, FedLearnError) != slip.theirs
    frames = traceback.extract_tb(error.__traceback__)
    assert [f"{f.filename}:{f.name}" for f in frames if PACKAGE in f.filename] == []
    assert error.__cause__ is None


def _check_message(slip: Slip, message: str) -> None:
    """It names what the learner must know, is short, and knows no machine."""
    assert [name for name in slip.names if name not in message] == []
    labels = re.findall(r"^  (expected|found|where|do):", message, re.MULTILINE)
    assert slip.theirs or ("found" in labels and len(labels) >= 3)
    assert len(message.splitlines()) <= MAX_LINES
    assert max(map(len, message.splitlines())) <= 260
    assert not re.search(r"0x[0-9a-f]{6}|/\w+/\w+|\\\\", message)


def test_catalog_is_large_and_every_golden_file_belongs_to_a_slip() -> None:
    folder = Path(__file__).parents[1] / "golden" / "slips"
    golden = {file.stem for file in folder.iterdir()}
    assert len(CATALOG) >= 45
    assert golden == {slip.name for slip in CATALOG.values()}
