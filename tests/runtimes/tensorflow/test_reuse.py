# SPDX-License-Identifier: Apache-2.0
"""A cell that is run again, and a run that fails: graphs and tensors are kept."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from fedlearn_edu.framework import SyncExecutionContext, Tape, local_executor_factory

pytestmark = pytest.mark.tensorflow

ROWS = fl.SequenceType((np.float32, [None]))


class Notebook:
    """A cell that makes a program and runs it, and what happens when it does."""

    def __init__(self) -> None:
        self.bodies_traced = 0
        self.tape = Tape()
        factory = local_executor_factory(support_sequence_ops=True, tape=self.tape)
        self.context = SyncExecutionContext(factory)

    def run_cell(self, data: Any, rate: float = 0.5, limit: float = 9.0) -> Any:
        """The sum over all clients of what `reduce` and `map` make of their rows."""

        def read(rows: Any) -> Any:
            self.bodies_traced += 1

            def step(total: Any, row: Any) -> Any:
                tf.debugging.assert_less(tf.reduce_max(row), limit, "too large")
                return total + rate * tf.reduce_sum(row)

            return rows.map(lambda row: row * row).reduce(0.0, step)

        reader = fl.tf_computation(read, ROWS)
        double = fl.tf_computation(lambda x: x * 2.0, np.float32)
        local = fl.federated_computation(lambda rows: double(reader(rows)), ROWS)
        program = fl.federated_computation(
            lambda v: fl.federated_sum(fl.federated_map(local, v)),
            fl.type_at_clients(ROWS),
        )
        with self.context:
            return program(data)

    def told(self) -> list[str]:
        """What the context did and what clients converted since the last time."""
        mine = [e for e in self.tape if e.layer == "context" or "[" in e.participant]
        self.tape.clear()
        return [e.what for e in mine if e.layer == "context" or e.what == "convert"]


def rows(*values: float) -> list[Any]:
    return [np.array([value, 1.0], np.float32) for value in values]


def test_each_cell_traces_its_body_once_and_the_second_compiles_nothing() -> None:
    notebook = Notebook()
    data = [rows(1.0, 2.0), rows(0.0)]
    results = [notebook.run_cell(data) for _ in range(3)]
    assert results == [8.0, 8.0, 8.0]
    whats = notebook.told()
    assert whats.count("compiled") == whats.count("built") == 1
    assert whats.count("reused") == 4
    assert notebook.bodies_traced == 3


def test_a_cell_with_another_constant_is_compiled() -> None:
    notebook = Notebook()
    results = [notebook.run_cell([rows(1.0)], rate) for rate in (0.5, 1.0, 0.5)]
    assert results == [2.0, 4.0, 2.0]
    assert notebook.told().count("compiled") == 2


def test_an_error_throws_away_neither_graphs_nor_stacks_nor_tensors() -> None:
    notebook = Notebook()
    good = fl.place([rows(1.0, 2.0), rows(0.0)], fl.CLIENTS, ROWS)
    bad = fl.place([rows(1.0, 5.0), rows(0.0)], fl.CLIENTS, ROWS)
    assert notebook.run_cell(good) == 8.0
    notebook.told()
    traced = []
    for data in (bad, good, bad, good):
        if data is good:
            assert notebook.run_cell(good) == 8.0
            assert notebook.told() == ["reused", "reused"]
        else:
            with pytest.raises(fl.FedLearnError, match=r"too large[\s\S]*client 0"):
                notebook.run_cell(bad)
            whats = [what for what in notebook.told() if what != "convert"]
            assert whats == ["reused", "reused", "again, step by step"]
        traced.append(notebook.bodies_traced)
    # At each definition, and never else.
    assert [n - traced[0] for n in traced] == [0, 1, 2, 3]
