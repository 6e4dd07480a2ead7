# SPDX-License-Identifier: Apache-2.0
"""Displays of stacks tell the truth, and hook in where the package is imported.

What is read of them, also of those built by hand, is in `test_displays.py`.
"""

from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.simulation import Environment
from fedlearn_edu.viz import notebook
from fedlearn_edu.viz.executors import draw_environment
from tests.extension.own_strategy import OneRoomStrategy
from tests.programs import in_another_process
from tests.viz.html_reader import Reader

fw = fl.framework


def test_the_picture_says_what_the_text_says() -> None:
    options: list[Any] = [
        fw.local_executor_factory(7, 20, support_sequence_ops=True),
        fw.sizing_executor_factory(leaf="numpy"),
        fw.local_executor_factory(strategy=OneRoomStrategy, tape=fw.Tape()),
    ]
    for environment in map(Environment, options):
        picture = Reader(draw_environment(environment)).text
        outline = environment.outline
        for layer in (*outline.shared, *outline.own):
            assert f"{layer.name} {layer.task}" in picture
        for group in outline.groups:
            assert str(group) in picture
        layers = picture.partition("n: one client")[0]
        for word, what in outline.remarks:
            assert f"{word}: {what}" in picture
            # (these are of the stack as a whole)
            assert word in layers or word in ("strategy", "tape", "sizing")


@pytest.mark.parametrize("class_name", notebook.DISPLAYS)
def test_what_can_be_shown_exists(class_name: str) -> None:
    """Classes and functions are only named there: names must not go stale."""
    module, name = class_name.rsplit(".", 1)
    found = getattr(__import__(module, fromlist=[name]), name)
    assert f"{found.__module__}.{found.__qualname__}" == class_name
    room, drawer = notebook.DISPLAYS[class_name].split(".")
    viz_module = __import__(f"fedlearn_edu.viz.{room}", fromlist=[drawer])
    assert callable(getattr(viz_module, drawer))


IN_A_NOTEBOOK = """
import sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)

def heavy():
    return [name for name in ("matplotlib", "tensorflow") if name in sys.modules]

cell = "import fedlearn_edu; from fedlearn_edu.simulation import *; "
result = shell.run_cell(cell + "environment = build_inprocess_environment()")
result.raise_error()
drawn = "fedlearn_edu.viz.executors" in sys.modules
data, _ = shell.display_formatter.format(shell.user_ns["environment"])
print(heavy(), drawn, sorted(data), "operators" in data["text/html"])
shell.run_cell("p = fedlearn_edu.place([1.0, 2.0], fedlearn_edu.CLIENTS)")
data, _ = shell.display_formatter.format(shell.user_ns["p"])
print(heavy(), sorted(data), data["text/html"].count("<td"))

from fedlearn_edu import viz
figure = viz.draw_client_accuracy({"after": [0.5, 1.0]})
print(heavy(), sorted(shell.display_formatter.format(figure)[0]))
"""


def test_the_package_hooks_in_where_it_is_imported_in_a_notebook(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    assert in_another_process(IN_A_NOTEBOOK).splitlines() == [
        "[] False ['text/html', 'text/plain'] True",
        "[] ['text/html', 'text/plain'] 2",
        "['matplotlib'] ['image/png', 'text/html', 'text/plain']",
    ]


IN_A_SCRIPT = """
import sys
import fedlearn_edu
print([name for name in sys.modules if name.startswith("fedlearn_edu.viz")])
import IPython
import fedlearn_edu.viz.notebook
fedlearn_edu.viz.notebook.hook_in()
print("matplotlib" in sys.modules)
"""


def test_a_script_has_no_use_for_displays() -> None:
    assert in_another_process(IN_A_SCRIPT) == "[]\nFalse\n"
