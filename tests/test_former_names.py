# SPDX-License-Identifier: Apache-2.0
"""Every name people bring along works, or says what to write; one test per row."""

import copy
import importlib
import inspect
import pickle
import re
import sys
from collections.abc import Callable
from functools import reduce
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import FieldError
from fedlearn_edu.former_names import (
    FormerName,
    UnknownNameError,
    answers,
    former_names,
)
from fedlearn_edu.language import context_stack

NEEDS_TENSORFLOW = re.compile(
    r"\bfl\.(tf|learning)\b|\btff\.|EagerTF|\btf_computation|explore_[bdip]"
)
MODULE = "fedlearn_edu."


@fl.federated_computation(fl.type_at_clients(np.float32))
def average(x: Any) -> Any:
    return fl.federated_mean(x)


def _marks(*texts: str) -> list[pytest.MarkDecorator]:
    marks = [pytest.mark.tensorflow] * any(map(NEEDS_TENSORFLOW.search, texts))
    opens_an_explorer = any("explore_" in text for text in texts)
    marks += [pytest.mark.thorough] * opens_an_explorer
    needs_tff = any(re.search(r"\btff\.", text) for text in texts)
    return marks + [pytest.mark.tensorflow] * needs_tff


def client_data() -> Any:
    return fl.simulation.ClientData(np.eye(3), np.arange(3), [[0, 1], [2]])


OBJECTS: dict[str, Callable[[], Any]] = {
    "computation": lambda: average,
    "client_data": client_data,
    "model": lambda: fl.learning.models.softmax_regression(1, 2),
    "process": lambda: fl.learning.build_fed_avg(OBJECTS["model"]()),
    "evaluation": lambda: fl.learning.Evaluation({}, ()),
    "state": lambda: OBJECTS["process"]().initialize(),
    "factory": fl.framework.local_executor_factory,
    "context": fl.framework.ReferenceContext,
    "optimizer": lambda: fl.learning.optimizers.build_sgdm(),
    "aggregator": lambda: fl.learning.aggregators.mean(),
}
ON_BEHALF = ("factory", "context")  # of subclasses that people write


def learning_process() -> Any:
    templates = importlib.import_module("fedlearn_edu.tff.learning.templates")
    return templates.LearningProcess.__new__(templates.LearningProcess)


OBJECTS["tff.LearningProcess"] = learning_process


def _asked(home: str) -> Any:
    return OBJECTS[home]() if home in OBJECTS else importlib.import_module(home)


HOMES: dict[str, list[FormerName]] = {}
for _row in former_names().values():
    HOMES.setdefault(_row.home, []).append(_row)
BY_HOME = [
    pytest.param(home, marks=_marks("fl.learning", f"{home}.".removeprefix(MODULE)))
    for home in HOMES
]
EXAMPLES = {row.example: row for row in former_names().values()}
BY_EXAMPLE = [
    pytest.param(row, id=f"{row.home}.{row.name}", marks=_marks(row.here, row.example))
    for row in EXAMPLES.values()
]


@pytest.fixture
def _default_context_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_stack, "_default", list(context_stack._default))


# ------------------------------------------------------------------ the rows


@pytest.mark.parametrize("home", BY_HOME)
def test_former_names_are_answered(home: str) -> None:
    asked = _asked(home)
    for row in HOMES[home]:
        assert not hasattr(asked, row.name), row
        assert row.name not in dir(asked), row
        with pytest.raises(FieldError) as caught:
            getattr(asked, row.name)
        message = str(caught.value)  # which would cut what is too long
        assert row.name in caught.value.summary
        assert f"expected: {row.here}" in message
        assert f"do:       {row.example}" in message
        if isinstance(asked, ModuleType):
            with pytest.raises(UnknownNameError, match=re.escape(row.example)):
                exec(f"from {home} import {row.name}", {})
        assert row.fate != "renamed" or re.fullmatch(r"(fl|tff)?(\.\w+)+", row.here)


@pytest.mark.usefixtures("_default_context_comes_back")
@pytest.mark.parametrize("row", BY_EXAMPLE)
def test_what_is_answered_is_there_and_its_example_runs(row: FormerName) -> None:
    paths = re.findall(r"\bfl\.([\w.]+)", row.here)
    assert [path for path in paths if not _resolves(path)] == []
    names = {"fl": fl, "np": np}
    if "tff." in row.example:
        names["tff"] = importlib.import_module("fedlearn_edu.tff")
    if ";" in row.example or re.match(r"\w+ = ", row.example):
        exec(row.example, names)
    else:  # a question is answered with yes
        assert eval(row.example, names) is not False


# ------------------------------------------------------------------ the five texts

# Every dotted name in code and prose of the five requirement texts: two answers about
# sequences and remote execution, two pages about executors, the second tutorial.
NAMES_IN_THE_TEXTS = """
    tff.CLIENTS tff.FunctionType tff.SERVER tff.SequenceType tff.StructType tff.Type
    tff.federated_averaging.build_weighted_averaging_process tff.federated_broadcast
    tff.federated_computation tff.federated_compute tff.federated_map
    tff.federated_max tff.federated_mean tff.federated_value tff.federated_zip
    tff.framework.FederatingExecutor tff.framework.SyncExecutionContext
    tff.framework.local_executor_factory tff.framework.set_default_context
    tff.learning tff.learning.models.LinearRegression tff.sequence_map
    tff.sequence_reduce tff.sequence_sum tff.simulation
    tff.simulation.build_inprocess_environment tff.simulation.local_executor_factory
    tff.tf_computation tff.to_type tff.type_at_clients tff.type_at_server
"""

# What the two pages name without saying where it is, to be looked for in `framework`.
NAMES_ON_THE_PAGES = """
    executor_base.Executor executor_value_base.ExecutorValue
    intrinsic_defs.IntrinsicDef pb.Computation placement_literals.PlacementLiteral
    Executor FederatedExecutor FederatedStrategy FederatingStrategy
"""

# What the second page lists, and the uris of the first page's intrinsics.
INTRINSICS_ON_THE_PAGES = """
    federated_aggregate federated_apply federated_broadcast federated_collect
    federated_eval federated_map federated_mean federated_reduce federated_sum
    federated_value federated_weighted_mean federated_zip
"""

PATHS = [
    *(name.removeprefix("tff.") for name in NAMES_IN_THE_TEXTS.split()),
    *(f"framework.{name}" for name in NAMES_ON_THE_PAGES.split()),
    *INTRINSICS_ON_THE_PAGES.split(),
]
ANSWERED = {
    "framework.executor_base.Executor",
    "framework.executor_value_base.ExecutorValue",
    "framework.intrinsic_defs.IntrinsicDef",
    "framework.pb.Computation",
    "framework.placement_literals.PlacementLiteral",
    "framework.FederatedStrategy",
}


def _resolves(path: str) -> bool:
    try:
        reduce(getattr, path.split("."), fl)
    except AttributeError:
        return False
    return True


@pytest.mark.tensorflow
def test_names_of_the_texts_work_or_are_answered() -> None:
    assert {path for path in PATHS if not _resolves(path)} == ANSWERED
    examples = {row.example for row in former_names().values()}
    for path in ANSWERED:
        with pytest.raises(FieldError) as caught:
            reduce(getattr, path.split("."), fl)
        assert caught.value.do in examples


# ------------------------------------------------------------------ all other names


def test_from_import_of_a_misspelled_name_gets_the_nearest_one() -> None:
    with pytest.raises(ImportError, match="did you mean federated_mean"):
        exec("from fedlearn_edu import federated_maen", {})


def test_room_that_is_not_loaded_yet_can_be_imported() -> None:
    """As a module that is being imported is not an attribute of its package yet."""
    half_loaded = module_from_spec(ModuleSpec("fedlearn_edu.half_loaded", None))
    names: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "fedlearn_edu.half_loaded", half_loaded)
        exec("from fedlearn_edu import half_loaded", names)
    assert names["half_loaded"] is half_loaded


# ------------------------------------------------------------------ computations


def test_computation_that_was_never_filled_can_be_asked() -> None:
    """Copying and unpickling look at objects before they have their attributes."""
    empty = object.__new__(fl.Computation)
    with pytest.raises(AttributeError, match="no attribute '__name__'"):
        _ = empty.__name__


def test_python_and_notebooks_find_no_protocol_on_a_computation() -> None:
    for name in ("__array__", "__wrapped__", "__iter__", "_repr_html_", "shape"):
        assert not hasattr(average, name)
    assert "args" in inspect.signature(average).parameters
    assert np.asarray(average).dtype == object


# ------------------------------------------------------------------ all objects


@pytest.mark.tensorflow
@pytest.mark.parametrize("home", OBJECTS)
def test_objects_are_still_copied_and_pickled(home: str) -> None:
    thing = _asked(home)
    if home in ON_BEHALF:
        return
    if home not in ("model", "process", "optimizer", "aggregator"):  # hold functions
        assert type(pickle.loads(pickle.dumps(thing))) is type(thing)
    assert type(copy.copy(thing)) is type(thing)
    assert not hasattr(thing, "_repr_html_")
    assert getattr(thing, "xyzzy", 3) == 3


def test_classes_answer_names_of_their_own() -> None:
    with pytest.raises(FieldError, match="from_clients_and_fn is in fedlearn"):
        fl.simulation.ClientData.from_clients_and_fn  # noqa: B018
    assert not hasattr(fl.simulation.ClientData, "from_clients_and_fn")
    assert fl.simulation.ClientData.__abstractmethods__ == frozenset()


def test_what_a_property_raises_is_not_hidden() -> None:
    @answers("thing")
    class Thing:
        @property
        def part(self) -> int:
            return None.count  # type: ignore[attr-defined, no-any-return]

    with pytest.raises(AttributeError, match="'NoneType' object has no attribute"):
        _ = Thing().part
    with pytest.raises(FieldError, match="did you mean part"):
        _ = Thing().prat  # type: ignore[attr-defined]
