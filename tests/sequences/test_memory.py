# SPDX-License-Identifier: Apache-2.0
"""A long sequence flows through: it is never in memory as a whole.

A child process makes 10,000 elements of 100 kB (a gigabyte), maps them and reads them,
and says how much higher its peak of memory was than before. TensorFlow's own element
functions cost half a millisecond each; there, 4,000 elements show the same.
"""

from typing import Any

import pytest

from tests.programs import in_another_process

pytestmark = pytest.mark.slow
LIMIT_IN_MB = 200

PROGRAM = """
import resource
import sys
import numpy as np
import fedlearn_edu as fl
from fedlearn_edu import framework as fw

ELEMENT = fl.TensorType(np.float32, [25_000])
ELEMENTS = fl.SequenceType(ELEMENT)
AT_CLIENTS = fl.type_at_clients(ELEMENTS)
element_code, count = {element_code}, {count}
ones = np.ones([25_000], np.float32)
double = element_code(lambda x: x + x, ELEMENT)
first = element_code(lambda s, x: s + x[0], np.float32, ELEMENT)


def generate():
    for _ in range(count):
        yield ones.copy()


def reduced(data):
    return fl.sequence_reduce(fl.sequence_map(double, data), np.float32(0), first)


def passed_on(data):
    graph = fl.tf_computation(
        lambda d: d.reduce(np.float32(0), lambda s, x: s + x[0]), ELEMENTS
    )
    mapped = fl.sequence_map(double, data)
    at_clients = isinstance(data.type_signature, fl.FederatedType)
    return fl.federated_map(graph, mapped) if at_clients else graph(mapped)


def peak():
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


factory = fw.local_executor_factory(support_sequence_ops=True)
with fw.SyncExecutionContext(factory):
    program = {program}
    wrap = list if {at_clients} else lambda data: data[0]
    few = wrap([[ones, ones]])
    print(np.ravel(program(few))[0])
    before = peak()
    print(np.ravel(program(wrap([generate])))[0])
    print(peak() - before)
"""


def measure(program: str, element_code: str, count: int) -> float:
    """Runs the program on a long sequence; returns how many MB it took."""
    printed = in_another_process(
        PROGRAM.replace("{program}", program)
        .replace("{element_code}", element_code)
        .replace("{count}", str(count))
        .replace("{at_clients}", str("AT_CLIENTS" in program))
    )
    few, many, megabytes = map(float, printed.split())
    factor = 1 if program == AT_ONCE else 2  # at once, nothing is mapped
    assert few == 2 * factor
    assert many == count * factor
    return megabytes


REDUCED = "fl.federated_computation(reduced, ELEMENTS)"
REDUCED_AT_CLIENTS = "fl.federated_computation(reduced, AT_CLIENTS)"
PASSED_ON = "fl.federated_computation(passed_on, ELEMENTS)"
PASSED_ON_AT_CLIENTS = "fl.federated_computation(passed_on, AT_CLIENTS)"
AT_ONCE = "lambda data: fl.sequence_reduce(data, np.float32(0), first)"
IN_A_GRAPH = "fl.tf_computation(reduced, ELEMENTS)"
NUMPY, TENSORFLOW = "fl.np_computation", "fl.tf_computation"


def case(code: str, id_: str, program: str, marks: tuple[Any, ...] = ()) -> Any:
    in_tensorflow = code == TENSORFLOW or program.startswith(
        "fl.federated_computation(p"
    )
    marks += (pytest.mark.tensorflow,) * in_tensorflow
    return pytest.param(code, program, id=id_, marks=marks)


THOROUGH = (pytest.mark.thorough,)


@pytest.mark.parametrize(
    ("code", "program"),
    [
        case(NUMPY, "body", REDUCED, marks=THOROUGH),
        case(NUMPY, "clients", REDUCED_AT_CLIENTS),
        case(NUMPY, "at once", AT_ONCE),
        case(NUMPY, "body to graph", PASSED_ON, marks=THOROUGH),
        case(NUMPY, "clients to graphs", PASSED_ON_AT_CLIENTS),
        case(TENSORFLOW, "graphs", PASSED_ON_AT_CLIENTS, marks=THOROUGH),
        case(TENSORFLOW, "graph at once", AT_ONCE, marks=THOROUGH),
        case(TENSORFLOW, "in a graph", IN_A_GRAPH),
    ],
)
def test_a_long_sequence_flows_through(code: str, program: str) -> None:
    count = 10_000 if code == NUMPY else 4_000
    assert measure(program, code, count) < LIMIT_IN_MB
