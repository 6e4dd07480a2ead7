# SPDX-License-Identifier: Apache-2.0
"""Comparing a cluster with this process: results to the bit, on programs by chance."""

import random
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.framework import Context
from fedlearn_edu.structure import Struct
from tests.conformance.random_functions import Chooser, FunctionWriter
from tests.conformance.random_writer import Writer
from tests.conformance.test_random_fusion import arguments, written

# Modules travel by name: what leaf code appends here, a worker in this process shows.
ran: list[Any] = []


def bits(result: Any) -> Any:
    """What two results have in common only if they are the same to the bit."""
    match result:
        case dict():
            parts = [(name, bits(value)) for name, value in result.items()]
            return type(result).__name__, parts
        case list() | tuple():
            return type(result).__name__, [bits(part) for part in result]
        case Struct():
            return [(name, bits(value)) for name, value in result.items()]
        case np.ndarray() | np.generic():
            array = np.asarray(result)
            is_text = array.dtype.hasobject
            content = repr(array.tolist()) if is_text else array.tobytes()
            return type(result).__name__, str(array.dtype), array.shape, content
        case _ if hasattr(result, "__dataclass_fields__"):
            return bits(vars(result))
        case _:
            return repr(result)


def outcome(context: Context, program: Any, *arguments: Any) -> Any:
    """The bits of a result, or the words of an error."""
    with np.errstate(all="ignore"), context:
        try:
            return bits(program(*arguments))
        except fl.FedLearnError as error:
            return type(error).__name__, str(error)


def same_bits(seed: int, runtimes: list[str], one: Context, other: Context) -> None:
    """Asserts that a random program means the same in two contexts, called twice."""
    choose = Chooser(random.Random(seed))
    functions = FunctionWriter(choose, runtimes, choose.number(2, 4))
    writer = Writer(choose, functions, choose.number(2, 4), choose.number(2, 4))
    program = written(writer)
    for _ in range(2):
        given = arguments(choose, clients=choose.number(0, 7))
        found, meant = (outcome(c, program, *given) for c in (other, one))
        assert found == meant, (seed, runtimes, program.to_text())
