# SPDX-License-Identifier: Apache-2.0
"""Errors at workers are those that this process would have raised."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import remote
from fedlearn_edu.errors import FedLearnError
from tests.programs import local
from tests.remote.conftest import MAX_FANOUT
from tests.slips.slip import whole_message

NUMBERS = [1.0, 2.0, 3.0, 4.0]


class RefusedError(ValueError):
    """An error of one's own."""


def refuse(x: Any) -> Any:
    if x == 3:
        raise RefusedError("no threes")
    return x


def vector(x: Any) -> Any:
    return np.zeros(2, np.float32) if x == 3 else x


def no_number(x: Any) -> Any:
    import tensorflow as tf

    return tf.debugging.check_numerics(x / (x - 3.0), "oh")


def _shown(call: Callable[[], Any]) -> tuple[Any, ...]:
    """What Python and IPython show of an error."""
    try:
        call()
    except Exception as error:
        frames, trace = [], error.__traceback__
        while trace is not None:
            frames.append((trace.tb_frame.f_code.co_name, trace.tb_lineno))
            trace = trace.tb_next
        lines = None
        if isinstance(error, FedLearnError):
            lines = error._render_traceback_()
        return type(error), whole_message(error), frames, lines, error.__cause__
    raise AssertionError("no error")


@pytest.mark.parametrize(
    ("fn", "decorate"),
    [
        (refuse, fl.np_computation),
        (vector, fl.np_computation),
        pytest.param(no_number, fl.tf_computation, marks=pytest.mark.tensorflow),
    ],
)
def test_error_of_client_code_is_the_same_as_here(
    fn: Any, decorate: Any, in_process: remote.Cluster
) -> None:
    """In one fused message first, and then step by step."""
    mapped = decorate(fn, np.float32)

    @fl.federated_computation(fl.type_at_clients(np.float32))
    def total(x: Any) -> Any:
        return fl.federated_sum(fl.federated_map(mapped, x))

    shown = []
    for context in (local(max_fanout=MAX_FANOUT), in_process.context):
        with context:
            shown.append(_shown(lambda: total(NUMBERS)))
    assert shown[0] == shown[1]
    assert "client 2" in shown[1][1]


def test_error_of_a_loader_is_the_same_as_here(in_process: remote.Cluster) -> None:
    total = fl.federated_computation(fl.federated_sum, fl.type_at_clients(np.float32))
    data = in_process.place(refuse, 4, np.float32)
    shown = []
    for context in (local(max_fanout=MAX_FANOUT), in_process.context):
        with context:
            shown.append(_shown(lambda: total(data)))
    assert shown[0] == shown[1]
    assert "in refuse(3)" in shown[1][1]


def test_error_that_cannot_travel_keeps_its_text(in_process: remote.Cluster) -> None:
    def fail(x: Any) -> Any:
        if x == 3:
            error = ValueError("no threes")
            error.lock = threading.Lock()  # type: ignore[attr-defined]
            raise error
        return x

    failing = fl.np_computation(fail, np.float32)
    with in_process.context, pytest.raises(RuntimeError) as caught:
        fl.federated_map(failing, fl.place(NUMBERS, fl.CLIENTS, np.float32))
    assert "ValueError: no threes" in whole_message(caught.value)
    assert "client 2" in whole_message(caught.value)
