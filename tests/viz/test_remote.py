# SPDX-License-Identifier: Apache-2.0
"""Pictures and tables of a cluster, from records of rounds that were made up."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedlearn_edu import viz
from fedlearn_edu.remote.records import Message, Round, Traffic, WorkerInfo
from fedlearn_edu.viz.cluster import draw_cluster, traffic_table
from tests.programs import in_another_process
from tests.viz.drawn_text import check_figure
from tests.viz.html_reader import Reader, check_html

MODEL = 31_400


def message(worker: int, group: int, sent: float, began: float, **more: Any) -> Message:
    """Half a second of work on a hundred clients."""
    times = {"sent": sent, "began": began, "ended": began + 0.5}
    sizes = {"bytes_down": 1_000 + MODEL, "bytes_up": MODEL}
    at = {"first_client": 100 * group, "num_clients": 100, "received": began + 0.6}
    given: dict[str, Any] = times | sizes | at | more
    return Message(f"worker {worker}", **given)


def in_turn(groups: int, workers: int = 2) -> Round:
    """All are sent at once, and a worker works on one at a time, as far as is known."""
    return Round(
        3,
        "next",
        tuple(
            message(g % workers, g, 0.0, 0.1 + 0.49 * (g // workers))
            for g in range(groups)
        ),
    )


WITH_A_LOSS = Round(
    4,
    "next",
    (
        message(0, 0, 0.0, 0.1),
        message(
            1, 1, 0.0, np.nan, ended=np.nan, received=0.4, bytes_up=0, is_lost=True
        ),
        message(0, 1, 0.5, 0.6),
    ),
)
WIDTHS = pytest.mark.parametrize("width_in", [viz.NARROW_IN, viz.WIDE_IN])


@WIDTHS
def test_a_message_is_a_bar_with_its_clients_in_the_lane_of_its_worker(
    width_in: float,
) -> None:
    texts = check_figure(viz.draw_messages(in_turn(4), width_in=width_in))
    names = {
        "server",
        "worker 0\n↓ 64.8 kB\n↑ 62.8 kB",
        "worker 1\n↓ 64.8 kB\n↑ 62.8 kB",
    }
    names |= {"↓ down", "waits", "work", "↑ up", "time (ms)", "clients 0–99"}
    assert names <= set(texts)
    assert len([text for text in texts if text.endswith("99")]) == 4
    assert not {"lost", "again"} & set(texts)


@WIDTHS
def test_what_is_lost_is_marked_and_said_and_repeated(width_in: float) -> None:
    figure = viz.draw_messages(WITH_A_LOSS, width_in=width_in)
    texts = check_figure(figure)
    assert texts.count("lost") == 2  # at the cross, and in the keys
    assert "again" in texts
    assert len([text for text in texts if text.endswith("100–199")]) == 2
    assert figure.get_label() == (
        "Round 4 of next: 3 messages about 200 clients to 2 workers in 1.2 s. 97.2 kB "
        "went down, 62.8 kB came back. After 400 ms 1 message got lost with worker 1, "
        "sent again to worker 0."
    )


@WIDTHS
def test_a_thousand_messages_and_forty_workers_can_be_read(width_in: float) -> None:
    (axes,) = viz.draw_messages(in_turn(1000), width_in=width_in).axes
    assert len(axes.patches) <= 12
    check_figure(viz.draw_messages(in_turn(1000), width_in=width_in))
    texts = check_figure(viz.draw_messages(in_turn(40, 40), width_in=width_in))
    assert {"33 more", "worker 39\n↓ 32.4 kB\n↑ 31.4 kB"} <= set(texts)


def test_messages_that_are_worked_on_at_once_are_below_each_other() -> None:
    at_once = Round(1, "", tuple(message(0, g, 0.0, 0.1) for g in range(3)))
    figure = viz.draw_messages(at_once)
    assert "waits" not in check_figure(figure)
    heights = {patch.get_y() for patch in figure.axes[0].patches}  # type: ignore[attr-defined]
    assert len(heights) == 3


@WIDTHS
def test_traffic_is_a_point_for_each_round_between_two_lines(width_in: float) -> None:
    rounds = [in_turn(10), in_turn(1), Round(1, "no clients", ())]
    figure = viz.draw_traffic(rounds, MODEL, width_in=width_in)
    texts = check_figure(figure)
    assert {"100", "1,000", "100 kB", "measured"} <= set(texts)
    lines = [np.array(line.get_data()).T.tolist() for line in figure.axes[0].lines]
    (_, each_client), (_, last) = lines[0]
    assert last == pytest.approx(2 * MODEL * 1000 * 1.3)
    assert each_client == pytest.approx(2 * MODEL * 100 / 1.3)
    assert lines[1:] == [
        [[100, 2 * MODEL], [1000, 20 * MODEL]],
        [[100, 2 * MODEL + 1_000], [1000, 20 * MODEL + 10_000]],
    ]
    assert figure.get_label() == (
        "2 rounds of 100 to 1,000 clients. A round of 1,000 clients in 10 groups sends "
        "638 kB. A model down and one up are 628 kB for each group, and would be "
        "62.8 MB for each client."
    )


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
        "Traffic of 2 roundsroundmessagesdownuptimeclientslostof"
        "34130 kB126 kB1.19 s4000next4397.2 kB62.8 kB1.2 s2001next"
    )
    assert repr(traffic).splitlines() == [
        "round  messages  down (kB)  up (kB)  time (ms)  clients  lost    of",
        "    3         4      129.6    125.6    1,190.0      400     0  next",
        "    4         3       97.2     62.8    1,200.0      200     1  next",
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
