# SPDX-License-Identifier: Apache-2.0
"""What is nested too deeply is said in one paragraph, and what is nested works."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import FedLearnError, TooDeepError
from fedlearn_edu.framework import (
    ReferenceContext,
    SyncExecutionContext,
    local_executor_factory,
)

LEVELS = 2000


def nested(levels: int, inner: Any = np.float32) -> Any:
    for _ in range(levels):
        inner = [inner]
    return inner


def deep_type(levels: int) -> fl.Type:
    type_: fl.Type = fl.TensorType(np.float32)
    for _ in range(levels):
        type_ = fl.StructType([type_])
    return type_


def chained(levels: int) -> Any:
    """Computations that call each other."""
    made = fl.federated_computation(lambda x: x + 1.0, np.float32)
    for _ in range(levels):

        @fl.federated_computation(np.float32)
        def made(x: Any, inner: Any = made) -> Any:
            return inner(x)

    return made


TOO_DEEP = {
    "a type": lambda: fl.to_type(nested(LEVELS)),
    "notation": lambda: fl.parse_type("<" * LEVELS + "int32" + ">" * LEVELS),
    "a type of types": lambda: deep_type(LEVELS),
    "a placed value": lambda: fl.place([nested(LEVELS, 1.0)], fl.CLIENTS),
    "a constant": lambda: fl.federated_computation(lambda: nested(LEVELS, 1.0)),
    "computations": lambda: chained(300)(1.0),
}


@pytest.mark.parametrize("use", TOO_DEEP.values(), ids=TOO_DEEP)
def test_what_is_too_deep_is_said_in_four_lines(use: Callable[[], Any]) -> None:
    with pytest.raises(RecursionError, match="nested too deeply") as caught:
        use()
    assert isinstance(caught.value, FedLearnError)
    assert len(str(caught.value).splitlines()) == 4


@pytest.mark.parametrize("fuse", [True, False])
def test_a_hundred_computations_may_call_each_other(fuse: bool) -> None:
    hundred = chained(100)
    for context in (
        ReferenceContext(),
        SyncExecutionContext(local_executor_factory(fuse=fuse)),
    ):
        with context:
            assert hundred(1.0) == 2.0


def test_python_goes_through_every_type_that_there_is() -> None:
    with pytest.raises(TooDeepError):
        deep_type(101)
    deepest, same = deep_type(100), deep_type(100)
    assert {deepest} == {same} == {pickle.loads(pickle.dumps(deepest))}
    assert fl.parse_type(str(deepest)) == deepest
    assert repr(deepest) == repr(same)


def test_sixty_levels_of_structures_may_be_summed() -> None:
    total = fl.federated_computation(fl.federated_sum, fl.type_at_clients(nested(60)))
    found = total([nested(60, 1.0), nested(60, 2.0)])
    assert found == nested(60, 3.0)


def test_a_function_that_calls_itself_for_ever_keeps_its_error() -> None:
    def forever(x: Any) -> Any:
        return forever(x)

    with pytest.raises(RecursionError) as caught:
        fl.federated_computation(forever, np.float32)
    assert not isinstance(caught.value, FedLearnError)


@pytest.mark.parametrize("levels", range(600, 606))
def test_the_error_shows_no_frame_of_the_package(levels: int) -> None:
    """Whichever function of the package is the one too many."""
    with pytest.raises(TooDeepError) as caught:
        fl.federated_value(nested(levels, 1.0), fl.SERVER)
    files = {str(entry.path) for entry in caught.traceback}
    assert files == {__file__}
