# SPDX-License-Identifier: Apache-2.0
"""TensorFlow reads lazily mapped sequences on threads of its own; nobody may hang.

Everything runs in a child process with a watchdog: a hang ends as a failure that shows
where each thread stood, and not as a test run that never ends.
"""

import pytest

from tests.programs import in_another_process

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

PRELUDE = """
import faulthandler
faulthandler.dump_traceback_later(100, exit=True)
import asyncio
import numpy as np
import fedlearn_edu as fl
from fedlearn_edu import tf

NUMBERS = fl.SequenceType(np.float32)
Dataset = tf.data.Dataset


def add_up(dataset):
    return dataset.reduce(np.float32(0), lambda s, x: s + x)


def several_at_once(dataset):
    return Dataset.range(3).interleave(
        lambda _: dataset.map(lambda x: x), cycle_length=3, num_parallel_calls=3
    )


# What a graph does with a mapped sequence of 3, 4, 5, and the result.
READERS = {
    "whole": (add_up, 12),
    "prefetch": (lambda d: add_up(d.prefetch(2)), 12),
    "parallel map": (
        lambda d: add_up(d.map(lambda x: -x, num_parallel_calls=4).prefetch(1)), -12
    ),
    "interleave": (lambda d: add_up(several_at_once(d)), 36),
    "read twice": (lambda d: add_up(d) - add_up(d.take(1)), 9),
    "zipped": (lambda d: add_up(Dataset.zip((d, d)).map(lambda a, b: a * b)), 50),
    "shuffled": (lambda d: add_up(d.shuffle(4).batch(2).unbatch().repeat(2)), 24),
    "nested": (lambda d: add_up(d.flat_map(lambda x: d.take(2))), 21),
    "not read to its end": (lambda d: add_up(d.take(1)), 3),
}
ADD_ONE = {
    "numpy": fl.np_computation(lambda x: x + np.float32(1), np.float32),
    "tensorflow": fl.tf_computation(lambda x: x + 1, np.float32),
}


def mapped(data):
    # Two maps, one by each runtime.
    for fn in ADD_ONE.values():
        data = fl.sequence_map(fn, data)
    return data


def make(reader):
    leaf = fl.tf_computation(reader, NUMBERS)
    return fl.federated_computation(lambda s: leaf(mapped(s)), NUMBERS)


PROGRAMS = {name: (make(read), result) for name, (read, result) in READERS.items()}
zip_two = fl.tf_computation(
    lambda a, b: add_up(Dataset.zip((a, b)).map(lambda a, b: a * b)), NUMBERS, NUMBERS
)
PROGRAMS["two sequences zipped"] = (
    fl.federated_computation(lambda s: zip_two(mapped(s), mapped(s)), NUMBERS), 50
)


def at_clients(program):
    return fl.federated_computation(
        lambda d: fl.federated_map(program, d), fl.type_at_clients(NUMBERS)
    )


def numbers():
    yield from (1, 2, 3)


SOURCES = [numbers, [1, 2, 3], Dataset.from_tensor_slices([1.0, 2.0, 3.0]), (1, 2, 3),
           np.array([1.0, 2.0, 3.0])]
"""

SYNCHRONOUS = """
factory = fl.framework.local_executor_factory(support_sequence_ops=True, {options})
with fl.framework.SyncExecutionContext(factory):
    for name, (program, result) in PROGRAMS.items():
        print(name, flush=True)
        everywhere = at_clients(program)
        for count in (1, 2, 5):
            assert everywhere(SOURCES[:count]) == [result] * count
print("done")
"""

ASYNCHRONOUS = """
factory = fl.framework.local_executor_factory(support_sequence_ops=True)
several = [(at_clients(program), result) for program, result in PROGRAMS.values()]


async def all_at_once():
    calls = [program(SOURCES[1:]) for program, _ in several]
    return await asyncio.gather(*calls)


with fl.framework.AsyncExecutionContext(factory):
    found = asyncio.run(all_at_once())
assert found == [[result] * 4 for _, result in several]
print("done")
"""


THOROUGH = (
    *("clients_per_thread=1", "clients_per_thread=2", "clients_per_thread=5"),
    *("use_threads=False", "tape=fl.framework.Tape()"),
)


@pytest.mark.parametrize(
    "options",
    [
        "max_fanout=2",
        *(pytest.param(options, marks=pytest.mark.thorough) for options in THOROUGH),
    ],
)
def test_graphs_read_mapped_sequences_with_any_number_of_threads(options: str) -> None:
    program = PRELUDE + SYNCHRONOUS.replace("{options}", options)
    assert in_another_process(program).endswith("done\n")


def test_calls_side_by_side_read_mapped_sequences() -> None:
    assert in_another_process(PRELUDE + ASYNCHRONOUS) == "done\n"
