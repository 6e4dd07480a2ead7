# SPDX-License-Identifier: Apache-2.0
"""Notebooks show environments, factories, contexts and executors, for every reader."""

from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu import simulation
from fedlearn_edu.simulation import Environment
from fedlearn_edu.viz import colors, notebook
from fedlearn_edu.viz.executors import (
    Layer,
    draw_context,
    draw_custom,
    draw_environment,
    draw_executor,
    draw_factory,
    layer_of,
)
from tests.extension.own_strategy import OneRoomStrategy
from tests.programs import in_another_process
from tests.viz.html_reader import Reader, check_html

# Environments: what a plan builds.

fw = fl.framework
WITH = simulation.build_inprocess_environment(3)
WITHOUT = simulation.local_executor_factory()


def boxes(environment: Environment) -> list[str]:
    found = Reader(draw_environment(environment)).boxes
    return [box.replace("\N{NO-BREAK SPACE}", " ") for box in found]


def test_every_layer_and_every_group_has_a_box() -> None:
    assert boxes(WITH) == [
        "ReferenceResolving names and functions",
        "Federating placements, federated_*",
        "SERVER × 1",
        "CLIENTS × n[Thread]",
        "unplaced × 1",
        "ReferenceResolving names and functions",
        "Sequence sequence_map, sequence_reduce",
        "ReferenceResolving names and functions",
        "leaf NumPy or TensorFlow code",
    ]


def test_only_the_clients_are_a_pile() -> None:
    assert draw_environment(WITH).count("box-shadow") == 1


def test_a_missing_layer_is_said_and_drawn_with_dashes() -> None:
    assert "no Sequence sequence_map, sequence_reduce are refused" in boxes(WITHOUT)
    assert "dashed" in draw_environment(WITHOUT)
    assert "dashed" not in draw_environment(WITH)


@pytest.mark.parametrize(("environment", "answer"), [(WITH, "yes"), (WITHOUT, "no")])
def test_words_answer_whether_sequence_operators_run(
    environment: Environment, answer: str
) -> None:
    reader = Reader(draw_environment(environment))
    assert f"Environment, sequence operators: {answer}" in reader.text
    (label,) = [value for _, name, value in reader.attributes if name == "aria-label"]
    assert (
        label == f"Stack of executors of an environment, sequence operators: {answer}"
    )
    assert reader.tags["figure"] == reader.tags["figcaption"] == 1


def test_a_closed_environment_says_so() -> None:
    with simulation.local_executor_factory() as environment:
        assert "closed" not in draw_environment(environment)
    assert "Environment, closed, sequence" in Reader(draw_environment(environment)).text


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
            assert f"{group.name} × {group.count}{''.join(group.on_top)}" in picture
        layers = picture.partition("n: one client")[0]
        for word, what in outline.remarks:
            assert f"{word}: {what}" in picture
            # (these two are of the stack as a whole)
            assert word in layers or word in ("strategy", "tape"), word


def test_it_can_be_read_on_white_on_black_and_on_a_phone() -> None:
    reader = check_html(draw_environment(WITH))
    styles = [value for _, name, value in reader.attributes if name == "style"]
    pairs = [part.split(":") for style in styles for part in style.split(";")]
    values: dict[str, set[str]] = {name: set() for name, _ in pairs}
    for name, value in pairs:
        values[name].add(value)
    see_through = {f"{c}1f" for c in (colors.SERVER, colors.CLIENTS, colors.QUIET)}
    line = colors.QUIET
    assert values["background"] == {*see_through, line}
    assert values["width"] == {"2px"}  # of a line; everything else shrinks
    assert "min-width" not in values
    assert "white-space" not in values


def test_names_of_yours_are_only_text() -> None:
    def leaf() -> Any:
        return fw.NumPyExecutor()

    leaf.__name__ = "<script>alert(1)</script>"
    html = draw_environment(Environment(fw.local_executor_factory(leaf=leaf)))
    assert "<script>" not in html
    assert "what <script>alert(1)</script> makes" in Reader(html).text


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


# Executors built by hand, factories and contexts.

NUMPY = Layer("NumPyExecutor", "Runs NumPy leaf code on plain data.")
NAMES = "Interprets names, functions, blocks, calls and structures."
PARTICIPANT = Layer("ReferenceResolvingExecutor", NAMES, (("target", 1, NUMPY),))


def participant() -> Any:
    return fw.ReferenceResolvingExecutor(fw.NumPyExecutor())


def by_hand(num_clients: int) -> Any:
    targets: dict[Any, Any] = {  # the server is drawn first nevertheless
        fl.CLIENTS: [participant() for _ in range(num_clients)],
        fl.SERVER: participant(),
    }
    strategy = fw.FederatedResolvingStrategy.factory(targets)
    return fw.FederatingExecutor(strategy, participant())


def test_what_an_executor_holds_is_below_it() -> None:
    assert layer_of(participant()) == PARTICIPANT
    layer = layer_of(by_hand(3))
    assert layer.name == "FederatingExecutor"
    assert layer.below == (
        ("SERVER", 1, PARTICIPANT),
        ("CLIENTS", 3, PARTICIPANT),
        ("unplaced", 1, PARTICIPANT),
    )


def test_groups_of_clients_are_seen_through() -> None:
    stack = fw.local_executor_factory(max_fanout=3).create_executor({fl.CLIENTS: 7})
    ((_, _, federating),) = layer_of(stack).below
    assert [(word, count) for word, count, _ in federating.below] == [
        ("SERVER", 1),
        ("group of clients", 2),
        ("group of clients", 1),
        ("unplaced", 1),
    ]


def test_clients_are_one_pile() -> None:
    reader = check_html(draw_executor(by_hand(100)))
    assert "CLIENTS × 100" in reader.text
    assert reader.tags["li"] == 3
    assert draw_executor(by_hand(100)).count("box-shadow") == 1
    assert "box-shadow" not in draw_executor(by_hand(1))


def test_executors_and_strategies_of_your_own_are_shown() -> None:
    strategy = OneRoomStrategy.factory({fl.SERVER: participant(), fl.CLIENTS: []})
    layer = layer_of(fw.FederatingExecutor(strategy, participant()))
    assert [(count, held) for _, count, held in layer.below] == [
        (1, PARTICIPANT),
        (1, PARTICIPANT),
    ]

    class Mine(fw.NumPyExecutor):  # type: ignore[misc]
        """Does <nothing> new.

        And this is not shown.
        """

        def __init__(self) -> None:
            self.itself = self

    assert layer_of(Mine()) == Layer("Mine", "Does <nothing> new.")
    assert "Mine Does <nothing> new." in check_html(draw_executor(Mine())).text


def test_factories_and_contexts_show_the_stacks_they_build() -> None:
    factory = fw.local_executor_factory()
    text = check_html(draw_factory(factory)).text
    assert text.startswith("Executor factory, sequence operators: no")
    waiting = check_html(draw_context(fw.SyncExecutionContext(factory))).text
    awaited = check_html(draw_context(fw.AsyncExecutionContext(factory))).text
    same = text.removeprefix("Executor factory")
    assert waiting == f"Context that waits for results{same}"
    assert awaited == f"Context that is awaited{same}"


def test_of_a_factory_built_by_hand_its_intrinsics_are_said() -> None:
    factory = fw.CustomExecutorFactory(lambda _: by_hand(1), ["federated_map"])
    assert check_html(draw_custom(factory)).text == (
        "Executor factory, built by hand: CustomExecutorFactory"
        "implements federated_map; others are expanded"
    )
    context = check_html(draw_context(fw.SyncExecutionContext(factory))).text
    assert context.startswith("Context that waits for results, built by hand")
