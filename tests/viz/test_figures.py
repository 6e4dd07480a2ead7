# SPDX-License-Identifier: Apache-2.0
"""The contract of all figures, over a registry of drawings, at both widths.

Nothing is cut off, overlaps or is too small to read, and each picture comes with a
sentence. The golden files have that sentence and the words that are drawn; read them as
somebody would who does not see the picture. Numbers that a figure computes are in the
tests of its subject.
"""

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import fedlearn_edu as fl
from fedlearn_edu import viz
from fedlearn_edu.executors.recording import Tape
from fedlearn_edu.remote.records import Round
from fedlearn_edu.simulation import datasets, partitions
from fedlearn_edu.viz import style
from fedlearn_edu.viz.dataflow.drawing import draw_graph
from fedlearn_edu.viz.dataflow.passes import draw_passes
from fedlearn_edu.viz.dataflow.server_view import draw_server_view
from tests.executors.rounds import picky
from tests.viz.dataflow import programs
from tests.viz.drawn_text import check_figure, check_text
from tests.viz.player.tapes import tape_of_a_round
from tests.viz.records import (
    MODEL,
    WITH_A_LOSS,
    comparison,
    four_runs,
    history,
    in_turn,
    message,
)

Draw = Callable[..., Figure]
NAN = float("nan")
STEPS = [[2.0, 2.2, 2.38], [2.0, 1.1, 1.02]]
LONGEST = "before training: calls everything 0"


def curves(named: Any, **chosen: Any) -> Draw:
    return lambda **more: viz.draw_curves(named, **chosen, **more)


def of_clients(rounds: int) -> Any:
    steps = np.arange(rounds + 1)[:, None]
    return {"mean": 23.0 * np.exp(-0.01 * steps * np.arange(1, 11))}


def bars(clients: int) -> Draw:
    before = [1.0] + [0.0] * (clients - 1)
    series = {LONGEST: before, "after": np.linspace(1.0, 0.55, clients).tolist()}
    return lambda **more: viz.draw_client_accuracy(series, **more)


def templates(weights: Any) -> Draw:
    return lambda **more: viz.draw_digit_templates(weights, **more)


def compared(count: int, max_bytes: int | None = None) -> Draw:
    return lambda **more: viz.draw_comparison(comparison(count, max_bytes), **more)


def local_steps(clients: Any, walked: Any) -> Draw:
    return lambda **more: viz.draw_local_steps(clients, [walked] * 2, **more)


def dealt(deal: Callable[[Any], Any]) -> Draw:
    def draw(**more: Any) -> Figure:
        x, y = datasets.load_digits28().train
        return viz.draw_partition(y, deal(y), images=x, **more)

    return draw


def messages(round_: Round) -> Draw:
    return lambda **more: viz.draw_messages(round_, **more)


def drawn(draw: Callable[..., Figure], name: str, **chosen: Any) -> Draw:
    return lambda **more: draw(programs.ALL[name], **chosen, **more)


def tape(record: Callable[[], Tape]) -> Draw:
    return lambda **more: viz.draw_tape(record(), **more)


def failed() -> Tape:
    with fl.record() as recorded, contextlib.suppress(ZeroDivisionError):
        picky(0)
    return recorded


def of_many_words() -> Tape:
    recorded = Tape()
    leaf = fl.framework.NumPyExecutor()
    name = "a participant of many words"
    fl.framework.RecordingExecutor(leaf, recorded, participant=name).close()
    return recorded


SPREAD = np.random.default_rng(0).normal(0, 0.02, [784, 10])
GAPS = [[1.0, 2.0], [0.5, 1.0], [NAN, 2.0]]

DRAWINGS: dict[str, Draw] = {
    **{f"curves_{n}": curves(of_clients(n), unit="nats") for n in (0, 1, 300)},
    "curves_that_agree": curves(
        {name: np.linspace(0.1, 0.9, 300) for name in ("training", "test")},
        title="Accuracy",
        unit="%",
    ),
    "curves_with_gaps": curves(
        {"a": [1, 0.5, NAN], "clients": GAPS, "nothing": [NAN], "d": [-1, 0.2, -0.3]}
    ),
    "curves_without_numbers": curves({"a": [NAN]}),
    "comparison_of_6": compared(6),
    "comparison_by_bytes": compared(2, 10**7),
    "bars_3": bars(3),
    "bars_10": bars(10),
    "bars_40": bars(40),
    "bars_with_a_gap": lambda **more: viz.draw_client_accuracy(
        {"before": [1, 0], "alone": [0.2, 0.3], "after": [0.9, NAN]}, **more
    ),
    "templates": templates(SPREAD),
    **{f"templates_of_{n}": templates(np.resize(SPREAD, [4, n])) for n in (2, 40)},
    "templates_of_nothing": templates(np.zeros([784, 10])),
    "run_1": curves(history([0.9])),
    "run_with_a_gap": curves(history([0.25, 0.5, NAN])),
    "run_without_numbers": curves(history([NAN, NAN])),
    "run_stopped": curves(
        {"a run": four_runs(stopped="by hand")["number 0"], "more": history([0.5] * 3)}
    ),
    "run_of_chosen_columns": curves(
        history([0.5, 0.6]), column=["loss_per_example", "round"]
    ),
    "runs": curves(
        {f"an algorithm with a very long name, {n}": r for n, r in four_runs().items()}
    ),
    "local_steps": local_steps([(1.0, 4.0), (3.0, 3.0)], STEPS),
    "local_steps_that_agree": local_steps(np.ones([4, 2]), np.ones([4, 2])),
    "partition_of_labels": dealt(lambda y: partitions.one_label_per_client(y)),
    "partition_of_one": dealt(lambda y: partitions.iid(y, 1)),
    "partition_of_twenty": dealt(lambda y: partitions.dirichlet(y, 20, 0.5)),
    "partition_of_a_hundred": dealt(lambda y: partitions.log_normal_sizes(y, 100, 2.0)),
    "partition_without_images": lambda **more: viz.draw_partition(
        np.repeat([0, 1, 2], [4, 4, 2]), [[0, 1, 4], [2, 3], [5, 6, 7, 8, 9]], **more
    ),
    "messages": messages(in_turn(4)),
    "messages_lost": messages(WITH_A_LOSS),
    "messages_1000": messages(in_turn(1000)),
    "messages_of_40_workers": messages(in_turn(40, 40)),
    "messages_at_once": messages(
        Round(1, "", tuple(message(0, group, 0.0, 0.1) for group in range(3)))
    ),
    "traffic": lambda **more: viz.draw_traffic(
        [in_turn(10), in_turn(1), Round(1, "no clients", ())], MODEL, **more
    ),
    **{f"graph_{name}": drawn(draw_graph, name) for name in programs.ALL},
    **{
        f"expanded_{name}": drawn(draw_graph, name, expanded=True)
        for name in ("average", "secret", "fold", "back_and_forth")
    },
    **{
        f"passes_{name}": drawn(draw_passes, name)
        for name in ("train", "back_and_forth", "long_names", "hello")
    },
    "seen_by_the_server": drawn(draw_server_view, "gather"),
    **{f"tape_of_{n}": tape(partial(tape_of_a_round, n)) for n in (1, 10, 11, 100)},
    "tape_of_nothing": tape(Tape),
    "tape_of_a_failure": tape(failed),
    "tape_of_many_words": tape(of_many_words),
}
WIDTHS = {"narrow": viz.NARROW_IN, "wide": viz.WIDE_IN}


@pytest.mark.parametrize("name", DRAWINGS)
def test_figure_is_whole_and_is_said(
    name: str, golden: Callable[[str, str], None]
) -> None:
    drawn = {}
    for width, width_in in WIDTHS.items():
        figure = DRAWINGS[name](width_in=width_in)
        texts = check_figure(figure)
        # The numbers at an axis are a choice of matplotlib's.
        words = sorted(
            {t.replace("\n", " / ") for t in texts if any(map(str.isalpha, t))}
        )
        drawn[width] = "\n".join([style.said(figure), *words])
        assert figure.get_size_inches()[0] == width_in
    same = len(set(drawn.values())) == 1
    told = drawn["wide"] if same else "\n\n".join(f"{w}: {t}" for w, t in drawn.items())
    golden(f"figures/{name}.txt", told)


SMALL: dict[str, Draw] = {
    "bars": lambda **more: viz.draw_client_accuracy({"a": [0.5]}, **more),
    "comparison": DRAWINGS["comparison_by_bytes"],
    "curves": DRAWINGS["curves_1"],
    "messages": DRAWINGS["messages"],
    "partition": DRAWINGS["partition_without_images"],
    "steps": DRAWINGS["local_steps"],
    "tape": lambda **more: viz.draw_tape(fl.framework.Tape(), **more),
    "templates": lambda **more: viz.draw_digit_templates([[1.0]], **more),
    "traffic": DRAWINGS["traffic"],
}


@pytest.mark.parametrize("name", [name for name in SMALL if name != "bars"])
def test_figure_can_be_drawn_into_a_part_of_another(name: str) -> None:
    whole = Figure(figsize=(20, 6), layout="constrained")
    parts: Any = whole.subfigures(1, 2)
    for part in parts:
        assert SMALL[name](figure=part) is whole
        assert part.axes
    check_text(whole)
    words = style.said(SMALL[name]())
    assert style.said(whole) == f"{words} {words}"


def test_panel_can_be_drawn_into_axes() -> None:
    whole = Figure(figsize=(10, 5), layout="constrained")
    left, right = whole.subplots(1, 2)
    right.set_title("the reader's own")
    assert SMALL["bars"](ax=left) is whole
    assert style.said(whole) == style.said(SMALL["bars"]())
    assert whole.axes == [left, right]
    assert left.get_title(loc="left")
    assert right.get_title() == "the reader's own"
