# SPDX-License-Identifier: Apache-2.0
"""Where nodes and lines go, row by row."""

from fedlearn_edu.viz.dataflow.flow import Edge
from fedlearn_edu.viz.dataflow.from_ir import read
from fedlearn_edu.viz.dataflow.rows import Column, Net, Side, plan
from tests.viz.dataflow import programs


def test_one_round_of_training() -> None:
    laid = plan(read(programs.train))
    assert list(laid.rows.values()) == [0, 1, 0, 0, 1, 2, 2, 2]
    assert laid.columns == (Column.SERVER, Column.MIDDLE, Column.CLIENTS)
    assert laid.straight == (Edge(2, 5),)
    assert laid.nets == (
        Net(Column.SERVER, Side.INNER, (0,), (3,)),
        Net(Column.SERVER, Side.INNER, (1,), (4,), track=0),
        Net(Column.SERVER, Side.INNER, (6,), (7,)),
        Net(Column.CLIENTS, Side.INNER, (3, 4), (5,)),
        Net(Column.CLIENTS, Side.INNER, (5,), (6,)),
    )


def test_without_communication_there_is_one_column() -> None:
    laid = plan(read(programs.chain))
    assert laid.columns == (Column.MIDDLE,)
    assert list(laid.rows.values()) == list(range(len(laid.rows)))
    assert laid.nets == ()


def test_lines_in_each_others_way_take_different_tracks() -> None:
    laid = plan(read(programs.select))
    nets = [net for net in laid.nets if net.column is Column.SERVER]
    assert len({net.track for net in nets}) == len(nets) == 2
    assert laid.tracks(Column.SERVER, Side.INNER) == 2
    assert laid.tracks(Column.SERVER, Side.OUTER) == 0
