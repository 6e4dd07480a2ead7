# SPDX-License-Identifier: Apache-2.0
"""JAX as leaf code, added from outside: the same meaning, the same FedAvg."""

import ast
import doctest
import re
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from examples.softmax import make_clients
from fedlearn_edu.framework import SyncExecutionContext, local_executor_factory
from fedlearn_edu.runtimes.registry import RUNTIMES, Runtime
from fedlearn_edu.testing import Case, assert_conforms, cases
from tests.architecture.repository import ROOT

pytest.importorskip("jax", reason="an optional extra: pip install fedlearn_edu[jax]")
jax_fed_avg = pytest.importorskip("examples.jax_runtime.fed_avg")
runtime = pytest.importorskip("examples.jax_runtime.runtime")

pytestmark = pytest.mark.thorough
RUNTIMES.pop(runtime.RUNTIME)  # other tests know the runtimes of the package only

FOLDER = ROOT / "examples" / "jax_runtime"
FACES = {"fedlearn_edu", "fedlearn_edu.framework"}
FLOAT = np.float32
STACKS = {"only JAX": {"leaf": "jax"}, "all runtimes": {}, "groups": {"max_fanout": 2}}


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RUNTIMES, runtime.RUNTIME, Runtime(runtime.JAXExecutor))


def _needs_text(case: Case) -> bool:
    try:
        case.computation  # noqa: B018 (traced here)
    except fl.errors.TypeMismatchError as error:
        return "takes numbers" in str(error)
    return False


@pytest.mark.parametrize("options", STACKS.values(), ids=STACKS)
def test_leaf_code_conforms(options: dict[str, Any]) -> None:
    """All cases that the other runtimes share, but for those with text."""
    every = cases(runtime.jax_computation)
    numbers = [case for case in every if not _needs_text(case)]
    assert 0 < len(every) - len(numbers) <= 12
    factory = local_executor_factory(support_sequence_ops=True, **options)
    report = assert_conforms(SyncExecutionContext(factory), numbers)
    assert len(report.agreed) == len(numbers)


@pytest.mark.tensorflow
@pytest.mark.parametrize("classes", [3, None])
def test_fed_avg_finds_the_weights_of_the_library(classes: int | None) -> None:
    models = fl.learning.models
    model = models.softmax_regression(3, 3) if classes else models.linear_regression(3)
    label = np.int32 if classes else np.float32
    clients = [
        [{"x": x, "y": y.astype(label)} for x, y in client] for client in make_clients()
    ]
    process = fl.learning.build_fed_avg(model, 0.1)
    state, ours = process.initialize(), model.initialize(0)
    next_round = jax_fed_avg.build_fed_avg(model, 0.1)
    for _ in range(3):
        state, ours = process.next(state, clients).state, next_round(ours, clients)
        for name, weights in state.weights.items():
            np.testing.assert_allclose(ours[name], weights, rtol=1e-5, atol=1e-6)
    assert np.abs(ours["weights"]).max() > 0.01


def test_types_are_as_wide_as_they_say() -> None:
    """JAX would make 32 bits of all numbers, if it was not told otherwise."""
    double = runtime.jax_computation(lambda x: x * 2 + 1, np.int64)
    assert str(double.type_signature) == "(int64 -> int64)"
    assert double(2**40) == 2**41 + 1


def test_sizes_that_follow_the_input_are_unknown() -> None:
    ends = runtime.jax_computation(lambda x: (x[:1], x), fl.TensorType(FLOAT, [None]))
    assert str(ends.type_signature.result) == "<float32[1],float32[?]>"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (lambda x: x if x > 0 else -x, "jnp.where"),
        (lambda x: None, "returned nothing"),
        (lambda x: fl.np_computation(np.negative, FLOAT)(x), "JAX code only"),
        (lambda x: runtime.jax_computation(lambda y: y, np.int32)(x), "not assignable"),
    ],
    ids=["branch", "nothing", "foreign", "other_type"],
)
def test_mistake_is_told_when_the_code_is_defined(body: Any, says: str) -> None:
    with pytest.raises(fl.errors.FedLearnError, match=says):
        runtime.jax_computation(body, FLOAT)


def test_runtime_is_short_documented_and_made_by_an_outsider() -> None:
    text = (FOLDER / "runtime.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    nodes = ast.walk(ast.parse(text))
    modules = {str(n.module) for n in nodes if isinstance(n, ast.ImportFrom)}
    assert not {m for m in modules if "fedlearn" in m} - FACES
    assert doctest.testmod(runtime).failed == 0
    example = runtime.jax_computation.__doc__ or ""
    finder = doctest.DocTestParser().get_doctest(example, {}, "jax", None, None)
    assert doctest.DocTestRunner(verbose=False).run(finder).failed == 0


def test_page_shows_the_code_as_it_is() -> None:
    text = (FOLDER / "runtime.py").read_text(encoding="utf-8")
    text += (FOLDER / "fed_avg.py").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "own_runtime.md").read_text(encoding="utf-8")
    shown = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len(shown) > 5
    for block in shown:
        assert block.strip("\n") in text
