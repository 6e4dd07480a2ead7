# SPDX-License-Identifier: Apache-2.0
"""Slips in turning a Python function into a computation."""

from typing import Any

import numpy as np

import fedlearn_edu as fl
from tests.slips.slip import calls, definitions, slip


@slip(66, ValueError, "return")
def leaf_code_that_returns_nothing() -> None:
    @fl.np_computation(np.float32)
    def half(x: Any) -> None:
        x / 2


@slip(68, RuntimeError, "federated_computation")
def federated_call_in_leaf_code() -> None:
    @fl.federated_computation(fl.type_at_clients(np.float32))
    def mean(x: Any) -> Any:
        return fl.federated_mean(x)

    @fl.np_computation(np.float32)
    def twice(x: Any) -> Any:
        return mean([x, x])


@slip(250, TypeError, "float32[2,2]", "Singular matrix", "result=", "line")
def numpy_code_that_fails_on_ones() -> None:
    @fl.np_computation((np.float32, [2, 2]))
    def inverted(x: Any) -> Any:
        return np.linalg.inv(x)


@slip(252, TypeError, "@SERVER", "one member")
def placed_result_of_leaf_code() -> None:
    at_server = fl.type_at_server(np.float32)
    fl.np_computation(lambda x: x, np.float32, result=at_server)


@slip(262, TypeError, "np.asarray(x)")
def list_taken_for_an_array() -> None:
    @fl.np_computation
    def twice(x: Any) -> Any:
        return x * 2

    twice([1.0, 2.0])


@slip(421, TypeError, "federated_computation")
def asking_what_the_server_sees_of_a_function() -> None:
    fl.what_the_server_sees(lambda updates: fl.federated_mean(updates))


@slip(422, TypeError, "give it types")
def asking_what_the_server_sees_without_types() -> None:
    fl.what_the_server_sees(fl.federated_computation(lambda x: fl.federated_mean(x)))


@slip(74, RuntimeError)
def inner_function_run_outside() -> None:
    escaped = []

    @fl.federated_computation(np.float32)
    def outer(x: Any) -> Any:
        escaped.append(fl.federated_computation(lambda y: y + x, np.float32))
        return x

    escaped[0](1.0)


calls(
    (72, TypeError, "a_builtin_function", lambda: fl.np_computation(min, np.float32)),
)  # fmt: skip


calls(
    (251, TypeError, "result_type_for_tensorflow",
     lambda: fl.tf_computation(lambda x: x, np.float32, result=np.float32),
     "tf_computation", "check_returns_type"),
    tensorflow=True,
)  # fmt: skip


definitions(
    fl.np_computation,
    (62, TypeError, "one_type_for_two_parameters",
     (np.float32,), "total", lambda a, b: a + b, "(a, b)"),
    (65, TypeError, "federated_type_for_leaf_code",
     (fl.type_at_clients(np.float32),), "total", lambda x: x),
    (67, TypeError, "result_type_that_depends_on_the_data",
     (fl.SequenceType(np.float32),), "squares", lambda xs: [x * x for x in xs]),
    (73, TypeError, "a_result_of_an_unknown_kind",
     (np.float32,), "odd", lambda x: {x}, "a set", "in odd"),
    (263, AttributeError, "mean_of_a_list",
     (fl.SequenceType(np.float32),), "mean", lambda x: x.mean(), "np.asarray(x)",
     ".mean"),
)  # fmt: skip
