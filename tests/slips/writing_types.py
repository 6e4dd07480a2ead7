# SPDX-License-Identifier: Apache-2.0
"""Slips in writing down a type."""

import numpy as np

import fedlearn_edu as fl
from tests.slips.slip import calls

calls(
    (1, TypeError, "int_as_a_type", lambda: fl.type_at_clients(int), "np.int32"),
    (2, TypeError, "float_as_the_type_of_a_field",
     lambda: fl.to_type([("x", np.int32), ("y", float)]), "np.float32"),
    (3, TypeError, "text_as_a_type",
     lambda: fl.type_at_clients("float32"), "parse_type"),
    (6, ValueError, "brace_forgotten_in_the_notation",
     lambda: fl.parse_type("({float32@CLIENTS -> float32@SERVER)"), "^", "`}`"),
    (10, TypeError, "a_value_instead_of_a_type",
     lambda: fl.type_at_clients(np.zeros(3, np.float32)), "np.float32"),
)  # fmt: skip
