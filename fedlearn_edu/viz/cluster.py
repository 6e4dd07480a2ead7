# SPDX-License-Identifier: Apache-2.0
"""What notebooks show of a cluster: its workers, and what its rounds sent."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from fedlearn_edu.errors import counted
from fedlearn_edu.remote.records import Round, Traffic, WorkerInfo
from fedlearn_edu.viz.displays import folded_table
from fedlearn_edu.viz.html import strong, tag
from fedlearn_edu.viz.shortening import size_text, time_text


def draw_cluster(cluster: Any) -> str:
    """A row for each worker, with the data it holds and the bytes of the last round."""
    workers, last = cluster.workers(), cluster.traffic().rounds[-1:]
    lost = sum(not worker.is_alive for worker in workers)
    said = f"{strong('Cluster')}: {counted(len(workers), 'worker')}"
    if cluster.is_closed:
        return _table(f"{said}, closed", *_rows(workers, last, "ended"))
    said += f", {lost:,} of them lost" * bool(lost)
    said += f", {tag('span', escape(cluster.address), style='overflow-wrap:anywhere')}"
    if link := cluster.dashboard_link:
        look = {"target": "_blank", "style": "color:inherit"}
        said += f", {tag('a', 'dashboard', href=escape(link), **look)}"
    return _table(said, *_rows(workers, last, "lost"))


def _rows(
    workers: Iterable[WorkerInfo], rounds: Sequence[Round], gone: str
) -> tuple[list[str], list[list[str]]]:
    heads = ["worker", "state", "clients", "data"]
    heads += [f"{way} round {each.number:,}" for each in rounds for way in "↓↑"]
    return heads, [_cells(worker, rounds, gone) for worker in workers]


def _cells(worker: WorkerInfo, rounds: Iterable[Round], gone: str) -> list[str]:
    state = "alive" if worker.is_alive else gone
    cells = [worker.name, state, f"{worker.clients:,}", size_text(worker.nbytes)]
    for each in rounds:
        theirs = [m for m in each.messages if m.worker == worker.name]
        cells += [size_text(sum(m.bytes_down for m in theirs))]
        cells += [size_text(sum(m.bytes_up for m in theirs))]
    return cells


def traffic_table(traffic: Traffic) -> str:
    """A row for each round: how many messages, how many bytes, how long."""
    heads = ["round", "messages", "down", "up", "time", "clients", "lost", "of"]
    body = []
    for each in traffic.rounds:
        sizes = [size_text(each.bytes_down), size_text(each.bytes_up)]
        first = [f"{each.number:,}", f"{len(each.messages):,}", *sizes]
        last = [f"{each.num_clients:,}", f"{each.num_lost:,}", each.name]
        body.append([*first, time_text(each.duration), *last])
    return _table(f"{strong('Traffic')} of {counted(len(body), 'round')}", heads, body)


def _table(said: str, heads: list[str], body: list[list[str]]) -> str:
    """With numbers and their units in one line."""
    kept = [[cell.replace(" ", "\N{NO-BREAK SPACE}") for cell in row] for row in body]
    return folded_table(said, heads, kept)
