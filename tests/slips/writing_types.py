# SPDX-License-Identifier: Apache-2.0
"""Slips in writing down a type."""

import numpy as np

import fedlearn_edu as fl
from tests.slips.slip import slip


@slip(1, TypeError, "np.int32")
def int_as_a_type() -> None:
    fl.type_at_clients(int)


@slip(2, TypeError, "np.float32")
def float_as_the_type_of_a_field() -> None:
    fl.to_type([("x", np.int32), ("y", float)])


@slip(3, TypeError, "parse_type")
def text_as_a_type() -> None:
    fl.type_at_clients("float32")


@slip(4, TypeError, "OrderedDict")
def dict_as_a_type() -> None:
    fl.to_type({"x": np.float32, "y": np.int32})


@slip(5, ValueError, "^", "did you mean float32")
def misspelled_notation() -> None:
    fl.parse_type("<x=flaot32[?,784],y=int32[?]>")


@slip(6, ValueError, "^", "`}`")
def brace_forgotten_in_the_notation() -> None:
    fl.parse_type("({float32@CLIENTS -> float32@SERVER)")


@slip(7, TypeError, "CLIENTS")
def placement_as_text() -> None:
    fl.FederatedType(np.float32, "clients")  # type: ignore[arg-type]


@slip(8, TypeError, "inside")
def federated_inside_federated() -> None:
    fl.type_at_server(fl.type_at_clients(np.float32))


@slip(9, TypeError, "[10]")
def shape_in_a_list() -> None:
    fl.to_type([np.float32, [10]])


@slip(10, TypeError, "np.float32")
def a_value_instead_of_a_type() -> None:
    fl.type_at_clients(np.zeros(3, np.float32))


@slip(11, TypeError, "np.int32")
def misspelled_dtype() -> None:
    fl.TensorType("int32", [3])
