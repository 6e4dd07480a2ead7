# SPDX-License-Identifier: Apache-2.0
"""An outsider adds a leaf runtime: formulas, written as text."""

import hashlib
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.framework import (
    Computation,
    LeafExecutor,
    ReferenceContext,
    SyncExecutionContext,
    ir,
    local_executor_factory,
    register_runtime,
)
from fedlearn_edu.testing import assert_same, assert_type

FLOAT = fl.to_type(np.float32)
FLOATS = fl.type_at_clients(FLOAT)


@final
@dataclass(frozen=True)
class Formula:
    """Leaf code: a text such as `a + 2 * b` and the names of its variables."""

    text: str
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.text

    @property
    def digest(self) -> str:
        return hashlib.sha256(repr((self.text, self.names)).encode()).hexdigest()

    def __call__(self, argument: Any) -> Any:
        values = argument if len(self.names) > 1 else (argument,)
        scope = dict(zip(self.names, map(float, values), strict=True))
        return np.float32(eval(self.text, {"__builtins__": {}}, scope))


def formula(text: str, *names: str) -> Computation:
    """The decorator's counterpart: `formula("a + b", "a", "b")`."""
    fields = [(name, FLOAT) for name in names]
    parameter = fl.StructType(fields) if len(names) > 1 else FLOAT
    type_ = fl.FunctionType(parameter, FLOAT)
    return Computation(ir.Leaf("formula", Formula(text, names), type_), text)


@final
class FormulaExecutor(LeafExecutor):
    """Runs formulas on data that are kept as lists of one number."""

    runtime = "formula"

    def embed(self, plain: Any, type_: fl.Type) -> Any:
        if isinstance(type_, fl.StructType):
            parts = [self.embed(p, t) for p, t in zip(plain, type_, strict=True)]
            return fl.Struct(zip(type_.names(), parts, strict=True))
        return [plain]

    def extract(self, data: Any, type_: fl.Type) -> Any:
        if isinstance(type_, fl.StructType):
            parts = [self.extract(d, t) for d, t in zip(data, type_, strict=True)]
            return fl.Struct(zip(type_.names(), parts, strict=True))
        return data[0]

    def run(self, code: Any, argument: Any, type_: fl.FunctionType) -> Any:
        plain = None
        if type_.parameter is not None:
            plain = self.extract(argument, type_.parameter)
        return self.embed(code(plain), type_.result)


@pytest.fixture(autouse=True)
def _formula_runtime() -> None:
    register_runtime("formula", FormulaExecutor)


def _score() -> Any:
    scaled = formula("10 * x - y", "x", "y")
    return fl.federated_computation(
        lambda v, w: fl.federated_mean(fl.federated_map(scaled, [v, w])), FLOATS, FLOATS
    )


def test_own_leaf_code_is_typed_and_printed_like_other() -> None:
    scaled = formula("10 * x - y", "x", "y")
    assert_type(scaled, "(<x=float32,y=float32> -> float32)")
    assert scaled == formula("10 * x - y", "x", "y")
    assert scaled != formula("10 * y - x", "x", "y")
    assert "10 * x - y" in _score().to_text()


@pytest.mark.parametrize(
    "options", [{}, {"max_fanout": 2}, {"leaf": "formula"}], ids=str
)
def test_own_runtime_runs_on_stacks(options: dict[str, Any]) -> None:
    with SyncExecutionContext(local_executor_factory(**options)):
        assert_same(_score()([1.0, 2.0], [0.0, 4.0]), 13.0)


def test_own_runtime_is_known_to_the_reference() -> None:
    with ReferenceContext():
        assert_same(_score()([1.0, 2.0], [0.0, 4.0]), 13.0)


@pytest.mark.parametrize("fanout", [100, 2])
def test_own_runtime_mixes_with_numpy(fanout: int) -> None:
    """Data change hands between the runtimes of one participant."""
    root = fl.np_computation(lambda x: np.sqrt(x), np.float32)
    square = formula("x * x", "x")
    both = fl.federated_computation(lambda x: root(square(square(x))), np.float32)
    program = fl.federated_computation(
        lambda v: (fl.federated_map(both, v), fl.federated_max(v)), FLOATS
    )
    with SyncExecutionContext(local_executor_factory(max_fanout=fanout)):
        assert_same(program([1.0, 2.0, 3.0]), ([1.0, 4.0, 9.0], 3.0))


@pytest.mark.tensorflow
def test_own_runtime_mixes_with_tensorflow() -> None:
    add = fl.tf_computation(lambda x: x + np.float32(0.5), np.float32)
    square = formula("x * x", "x")
    both = fl.federated_computation(lambda x: add(square(add(x))), np.float32)
    program = fl.federated_computation(lambda v: fl.federated_map(both, v), FLOATS)
    assert_same(program([0.5, 1.5]), [1.5, 4.5])


def test_mistake_in_own_leaf_code_names_the_code() -> None:
    wrong = formula("x + unknown", "x")
    program = fl.federated_computation(lambda v: fl.federated_map(wrong, v), FLOATS)
    with pytest.raises(NameError, match="unknown") as caught:
        program([1.0])
    assert any("x + unknown" in note for note in caught.value.__notes__)


def test_runtime_nobody_registered_is_named_with_the_cure() -> None:
    leaf = ir.Leaf("nowhere", Formula("x", ("x",)), fl.FunctionType(FLOAT, FLOAT))
    with pytest.raises(ValueError, match="no runtime 'nowhere'") as caught:
        Computation(leaf, "lost")(1.0)
    assert "register_runtime" in str(caught.value)


def test_stack_for_one_runtime_refuses_code_of_another() -> None:
    with (
        SyncExecutionContext(local_executor_factory(leaf="numpy")),
        pytest.raises(ValueError, match="runs its own leaf code only"),
    ):
        formula("x * x", "x")(3.0)
