# SPDX-License-Identifier: Apache-2.0
"""Slips in writing down a type."""

import numpy as np

import fedlearn_edu as fl
from tests.slips.slip import calls, slip


@slip(7, TypeError, "CLIENTS")
def placement_as_text() -> None:
    fl.FederatedType(np.float32, "clients")  # type: ignore[arg-type]


calls(
    (1, TypeError, "int_as_a_type", lambda: fl.type_at_clients(int), "np.int32"),
    (2, TypeError, "float_as_the_type_of_a_field",
     lambda: fl.to_type([("x", np.int32), ("y", float)]), "np.float32"),
    (3, TypeError, "text_as_a_type",
     lambda: fl.type_at_clients("float32"), "parse_type"),
    (4, TypeError, "dict_as_a_type",
     lambda: fl.to_type({"x": np.float32, "y": np.int32}), "OrderedDict"),
    (5, ValueError, "misspelled_notation",
     lambda: fl.parse_type("<x=flaot32[?,784],y=int32[?]>"), "^",
     "did you mean float32"),
    (6, ValueError, "brace_forgotten_in_the_notation",
     lambda: fl.parse_type("({float32@CLIENTS -> float32@SERVER)"), "^", "`}`"),
    (8, TypeError, "federated_inside_federated",
     lambda: fl.type_at_server(fl.type_at_clients(np.float32)), "inside"),
    (9, TypeError, "shape_in_a_list", lambda: fl.to_type([np.float32, [10]]), "[10]"),
    (10, TypeError, "a_value_instead_of_a_type",
     lambda: fl.type_at_clients(np.zeros(3, np.float32)), "np.float32"),
    (11, TypeError, "misspelled_dtype",
     lambda: fl.TensorType("int32", [3]), "np.int32"),
)  # fmt: skip
