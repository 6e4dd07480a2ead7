# SPDX-License-Identifier: Apache-2.0
"""Pictures and tables of a cluster, from records of rounds that were made up."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from fedlearn_edu import viz
from fedlearn_edu.remote.records import Round, Traffic, WorkerInfo
from fedlearn_edu.viz.cluster import draw_cluster, traffic_table
from tests.programs import in_another_process
from tests.viz.html_reader import Reader, check_html
from tests.viz.records import MODEL, WITH_A_LOSS, in_turn


def test_traffic_is_a_point_for_each_round_between_two_lines() -> None:
    rounds = [in_turn(10), in_turn(1), Round(1, "no clients", ())]
    figure = viz.draw_traffic(rounds, MODEL)
    lines = [np.array(line.get_data()).T.tolist() for line in figure.axes[0].lines]
    assert lines == [
        [[100, 2 * MODEL * 100], [1000, 2 * MODEL * 1000]],
        [[100, 2 * MODEL], [1000, 20 * MODEL]],
        [[100, 2 * MODEL + 1_000], [1000, 20 * MODEL + 10_000]],
    ]


WORKERS = (
    WorkerInfo("worker 0", "tls://127.0.0.1:4001", 71, True, 200, 1_500_000),
    WorkerInfo("worker 1", "tls://127.0.0.1:4002", 72, False, 0, 0),
)


def cluster(**more: Any) -> Any:
    made: dict[str, Any] = {
        "address": "tls://<1>",
        "dashboard_link": None,
        "is_closed": False,
    }
    made |= {"workers": lambda: WORKERS, "traffic": lambda: Traffic((WITH_A_LOSS,))}
    return SimpleNamespace(**(made | more))


def test_a_cluster_is_a_row_for_each_worker() -> None:
    reader = check_html(draw_cluster(cluster()))
    assert reader.text == (
        "Cluster: 2 workers, 1 of them lost, tls://<1>"
        "workerstateclientsdata↓ round 4↑ round 4"
        "worker 0alive2001.5 MB64.8 kB62.8 kBworker 1lost00 B32.4 kB0 B"
    )
    link = Reader(draw_cluster(cluster(dashboard_link="http://a/?<")))
    assert link.values("a", "href") == ["http://a/?<"]
    ended = check_html(draw_cluster(cluster(is_closed=True))).text
    assert ended.startswith("Cluster: 2 workers, closedworker")


def test_a_cluster_without_rounds_has_no_bytes() -> None:
    reader = check_html(draw_cluster(cluster(traffic=lambda: Traffic(()))))
    assert reader.text.endswith("dataworker 0alive2001.5 MBworker 1lost00 B")


def test_traffic_is_a_row_for_each_round_in_html_and_in_text() -> None:
    traffic = Traffic((in_turn(4), WITH_A_LOSS))
    assert check_html(traffic_table(traffic)).text == (
        "Traffic of 2 roundsroundmessagesdownuptimeclientslostcomputation"
        "34130 kB126 kB1.19 s4000next4397.2 kB62.8 kB1.2 s2001next"
    )
    assert repr(traffic).splitlines() == [
        "round  messages  down (kB)  up (kB)  time (ms)  clients  lost  computation",
        "    3         4      129.6    125.6    1,190.0      400     0         next",
        "    4         3       97.2     62.8    1,200.0      200     1         next",
    ]
    rows = [line.split() for line in repr(WITH_A_LOSS).splitlines()]
    times = ["0.0", "100.0", "600.0", "700.0"]
    assert rows[2] == ["worker", "0", "0–99", *times, "32.4", "31.4"]
    assert rows[3] == ["worker", "1", "100–199", "0.0", "lost", "400.0", "32.4", "0.0"]
    assert "… 980 more …" in repr(in_turn(1000))


WITHOUT_DASK = """
from importlib import util
find_spec = util.find_spec
util.find_spec = lambda name: None if name == "distributed" else find_spec(name)
from fedlearn_edu.viz import *
try:
    draw_messages(7)
except ImportError as error:
    print(error.found)
"""


def test_pictures_can_be_imported_without_dask() -> None:
    assert in_another_process(WITHOUT_DASK) == "no distributed\n"
