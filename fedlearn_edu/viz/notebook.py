# SPDX-License-Identifier: Apache-2.0
"""What notebooks show: figures as pictures, and objects of the package as drawings.

Importing `style` asks for figures, importing the package for objects. Without a running
IPython nothing happens; no magic command and no window is needed, and no global state
of matplotlib is touched.
"""

import sys
from functools import partial
from importlib import import_module
from typing import Any

# From a class to the function that draws its objects, and those of classes derived from
# it, as HTML. Both are only named: nothing is loaded before it is shown.
DISPLAYS = {
    "fedlearn_edu.dataflow.server_view.ServerView": "programs.draw_view",
    "fedlearn_edu.language.federated_value.FederatedValue": "displays.draw_placed",
    "fedlearn_edu.language.computation.Computation": "programs.draw_computation",
    "fedlearn_edu.language.computation.PolymorphicComputation": (
        "programs.draw_polymorphic"
    ),
    "fedlearn_edu.contexts.execution.AsyncExecutionContext": "executors.draw_context",
    "fedlearn_edu.contexts.execution.SyncExecutionContext": "executors.draw_context",
    "fedlearn_edu.contexts.factories.CustomExecutorFactory": "executors.draw_custom",
    "fedlearn_edu.contexts.factories.LocalExecutorFactory": "executors.draw_factory",
    "fedlearn_edu.executors.base.Executor": "executors.draw_executor",
    "fedlearn_edu.errors.FedLearnError": "displays.draw_error",
    "fedlearn_edu.learning.comparison.Comparison": "comparison.comparison_table",
    "fedlearn_edu.learning.history.History": "displays.history_table",
    "fedlearn_edu.learning.run_state.Run": "displays.run_table",
    "fedlearn_edu.remote.cluster.Cluster": "cluster.draw_cluster",
    "fedlearn_edu.remote.records.Traffic": "cluster.traffic_table",
    "fedlearn_edu.simulation.partitions.skew.Skew": "displays.skew_table",
    "fedlearn_edu.learning.process.LearningProcess": "programs.draw_process",
    "fedlearn_edu.types.base.Type": "displays.draw_type",
    "fedlearn_edu.simulation.environments.Environment": "executors.draw_environment",
}
_OF_FIGURES = {"image/png": "pictures.png", "text/html": "pictures.html"}


def hook_in() -> None:
    """Lets the IPython this code runs in, if any, show objects of the package."""
    if (shell := running_shell()) is not None:
        show_objects(shell)


def show_objects(shell: Any) -> None:
    """Teaches an IPython shell to show objects of the classes in `DISPLAYS`."""
    formatter = shell.display_formatter.formatters["text/html"]
    for class_name, drawer in DISPLAYS.items():
        module, name = class_name.rsplit(".", 1)
        formatter.for_type_by_name(module, name, partial(_draw, drawer))


def _draw(drawer: str, thing: object) -> Any:
    module, function = drawer.split(".")
    return getattr(import_module(f"fedlearn_edu.viz.{module}"), function)(thing)


def show_figures(shell: Any) -> None:
    """Teaches an IPython shell to show a `Figure` as a picture, with its words."""
    formatters = shell.display_formatter.formatters
    for format_, drawer in _OF_FIGURES.items():
        draw = partial(_draw, drawer)
        formatters[format_].for_type_by_name("matplotlib.figure", "Figure", draw)


def running_shell() -> Any:
    """The IPython this code runs in, `None` in plain Python."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    return get_ipython()


def publish(html: str, text: str) -> None:
    """Shows HTML in a notebook, with the text for those who cannot; elsewhere the text.

    Outside of a notebook the text goes to stdout.
    """
    if running_shell() is None:
        sys.stdout.write(f"{text}\n")
        return
    from IPython.display import display

    display({"text/html": html, "text/plain": text}, raw=True)  # type: ignore[no-untyped-call]


def show(thing: Any) -> None:
    """Displays an object in a notebook; elsewhere its `text` goes to stdout."""
    if running_shell() is not None:
        from IPython.display import display

        display(thing)  # type: ignore[no-untyped-call]
    elif text := getattr(thing, "text", ""):
        sys.stdout.write(f"{text}\n")
