# SPDX-License-Identifier: Apache-2.0
"""What notebooks show of a cluster: its workers, and what its rounds sent."""

from html import escape
from typing import Any

from fedlearn_edu.errors import counted
from fedlearn_edu.remote.records import Traffic
from fedlearn_edu.viz.displays import folded_table, rounds_of
from fedlearn_edu.viz.html import strong, tag
from fedlearn_edu.viz.shortening import size_text, time_text


def draw_cluster(cluster: Any) -> str:
    """A row for each worker, with the data it holds and the bytes of the last round."""
    workers, last = cluster.workers(), cluster.traffic().rounds[-1:]
    gone = "ended" if cluster.is_closed else "lost"
    heads = ["worker", "state", "clients", "data"]
    heads += [f"{way} round {each.number:,}" for each in last for way in "↓↑"]
    body = []
    for worker in workers:
        state = "alive" if worker.is_alive else gone
        cells = [worker.name, state, f"{worker.clients:,}", size_text(worker.nbytes)]
        for each in last:
            theirs = [m for m in each.messages if m.worker == worker.name]
            cells += [size_text(sum(m.bytes_down for m in theirs))]
            cells += [size_text(sum(m.bytes_up for m in theirs))]
        body.append(cells)
    return folded_table(_state(cluster, workers), heads, body)


def _state(cluster: Any, workers: Any) -> str:
    said = f"{strong('Cluster')}: {counted(len(workers), 'worker')}"
    if cluster.is_closed:
        return f"{said}, closed"
    lost = sum(not worker.is_alive for worker in workers)
    said += f", {lost:,} of them lost" * bool(lost)
    said += f", {tag('span', escape(cluster.address), style='overflow-wrap:anywhere')}"
    if link := cluster.dashboard_link:
        look = {"target": "_blank", "style": "color:inherit"}
        said += f", {tag('a', 'dashboard', href=escape(link), **look)}"
    return said


def traffic_table(traffic: Traffic) -> str:
    """A row for each round: how many messages, how many bytes, how long."""
    heads = ["round", "messages", "down", "up", "time"]
    heads += ["clients", "lost", "computation"]
    body = []
    for each in traffic.rounds:
        sizes = [size_text(each.bytes_down), size_text(each.bytes_up)]
        first = [f"{each.number:,}", f"{len(each.messages):,}", *sizes]
        last = [f"{each.num_clients:,}", f"{each.num_lost:,}", each.name]
        body.append([*first, time_text(each.duration), *last])
    return folded_table(rounds_of("Traffic", len(body)), heads, body)
