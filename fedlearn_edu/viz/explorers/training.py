# SPDX-License-Identifier: Apache-2.0
"""`explore_training`: run rounds, watch them, and look closely at each."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from fedlearn_edu import learning
from fedlearn_edu.errors import counted, describe, short_traceback
from fedlearn_edu.language.context_stack import current_context
from fedlearn_edu.learning import Evaluation, LearningProcess, Run
from fedlearn_edu.simulation import ClientData, datasets, partitions
from fedlearn_edu.viz import style
from fedlearn_edu.viz.artists import Bars, Texts
from fedlearn_edu.viz.curves import MOST_CURVES, CurvePanel
from fedlearn_edu.viz.evaluation import ConfusionPanel, worst
from fedlearn_edu.viz.explorers.controls import check_count, choice, slider, toggle
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.frames import Frame, Frames, explorers_context
from fedlearn_edu.viz.explorers.learner import BATCH_SIZE, Learner, train_all
from fedlearn_edu.viz.templates import TemplateStrip, as_pictures, limit_of

Maker = Callable[[], LearningProcess]

_MOST_ROUNDS = 1000
_ROWS_IN = (2.6, 1.7, 3.7)
_MOST_NUMBERED = 10


@short_traceback
def explore_training(
    processes: LearningProcess | Mapping[str, LearningProcess | Maker] | None = None,
    data: ClientData | None = None,
    rounds: int = 30,
    *,
    test: ClientData | None = None,
    batch_size: int = BATCH_SIZE,
) -> Explorer:
    """Runs rounds in the background, and shows each of them closely.

    It begins at once; without the tick it stops, and with it, it goes on. The slider
    chooses a round: what the model looks for then, what it takes for what, and how well
    it does for each client. Up to four processes are compared.

    Args:
        processes: A process, or up to four by name, each one a process or a function
            without arguments that makes it when its turn comes; `None` for
            federated averaging of a softmax regression.
        data: What the clients learn from; `None` for ten clients that hold one digit
            each, of the embedded digits.
        rounds: How many to run.
        test: What every round is evaluated on, client by client; `None` for `data`, or
            for the test images of each client's digit if `data` is `None`, too.
        batch_size: Examples in a batch.

    >>> explorer = explore_training(rounds=3)
    >>> explorer.wait()
    >>> print(explorer.sentence[:23])
    FedAvg, after 3 rounds:

    `explorer.picture.runs` has the runs so far, to continue or to draw.

    Raises:
        FigureDataError: if an argument is none of these.
    """
    named = _named(processes)
    learn_from, judge_on = _data(data, test)
    count, size = (
        check_count(number, name, 1, _MOST_ROUNDS)
        for number, name in ((rounds, "rounds"), (batch_size, "batch_size"))
    )
    learners = {
        name: Learner(name, make, learn_from, judge_on, size)
        for name, make in named.items()
    }
    controls = {"round_number": slider("round", count, 0, count, live=False)}
    if len(learners) > 1:
        controls["process"] = choice("look at", next(iter(learners)), list(learners))
    controls["train"] = toggle(f"train {counted(count, 'round')}", True)
    picture = TrainingPicture(learners, count)
    where = explorers_context() if processes is None else current_context()
    title = "Learning together, round by round"
    return Explorer(title, picture, controls, where=lambda: where)


@final
class TrainingPicture:
    """Curves of up to four runs; below them, one round of one of them."""

    @style.in_our_look
    def __init__(self, learners: Mapping[str, Learner], rounds: int) -> None:
        """Lays the figure out, once.

        Args:
            learners: By name, in the order of their lines.
            rounds: How many to run.
        """
        self._learners, self._rounds = learners, rounds
        size_in = style.EXPLORER_IN, sum(_ROWS_IN)
        self._figure = Figure(figsize=size_in, layout="constrained")
        parts: Any = self._figure.subfigures(3, height_ratios=_ROWS_IN)
        above, self._middle, below = parts
        title = "Examples read correctly; band: lowest to highest client"
        self._curves = CurvePanel(above.subplots(), title, is_share=True)
        self._strip = self._middle.subplots()
        self._templates = TemplateStrip(self._strip)
        matrix, bars = below.subplots(1, 2)
        matrix.set(title="Confusion matrix", anchor="N")
        bars.set_title("Accuracy of each client")
        self._confusion, self._clients = ConfusionPanel(matrix), _ClientBars(bars)

    @property
    def runs(self) -> dict[str, Run]:
        """The runs so far by name, without those that have not started."""
        return {name: each.run for name, each in self._learners.items() if each.run}

    def show(
        self, round_number: int, train: bool, process: str | None = None
    ) -> Frames:
        """Trains, the process that is looked at first; shows a round of that one."""
        chosen = self._learners[process or next(iter(self._learners))]
        draw = partial(self._drawn, chosen, round_number)
        if chosen.snapshots:
            yield draw()
        order = dict.fromkeys([chosen, *self._learners.values()])
        rounds = self._rounds if train else 0
        yield from train_all(order, rounds, lambda _: draw())
        yield draw()

    @style.in_our_look
    def _drawn(self, chosen: Learner, round_number: int) -> Frame:
        """A round of a process, or the newest if it is not done yet."""
        at = min(round_number, chosen.rounds)
        curves = [
            each.curve(self._rounds, has_band=each is chosen)
            for each in self._learners.values()
        ]
        self._curves.show(curves, self._rounds, at=at)
        heading = f"{chosen.name}, {_after(at)}"
        bold: Any = {"x": 0.01, "ha": "left", "weight": "bold"}
        self._middle.suptitle(f"{heading} (dotted line)", **bold)
        snapshot = chosen.snapshots[at]
        pictures = pictures_of(snapshot.weights)
        note = "no pictures: this is no softmax regression on square images"
        self._templates.show(pictures, "" if pictures is not None else note)
        most = "" if pictures is None else f", up to {limit_of(pictures):.2g} nats"
        self._strip.set_title(f"Ink on orange: for the digit{most}; on purple: against")
        self._confusion.show(snapshot.evaluation.confusion)
        self._clients.show(snapshot.evaluation.client_accuracies)
        said = f"{heading}: {_said(snapshot.evaluation)}{self._others(chosen)}"
        if round_number > at:
            said = f"Round {round_number} is not done; the newest is {at}. {said}"
        return self._figure, said

    def _others(self, chosen: Learner) -> str:
        """Why the chosen run ended, and how far the others are."""
        ended = ""
        if chosen.diverged is not None:
            ended = f" After round {chosen.diverged} it was no longer made of numbers."
        parts = [
            f"{learner.name} {learner.accuracy[-1]:.1%}, {_after(learner.rounds)}"
            for learner in self._learners.values()
            if learner is not chosen and learner.snapshots
        ]
        return f"{ended} Others: {'; '.join(parts)}." if parts else ended


def _said(evaluation: Evaluation) -> str:
    """The accuracy on all examples, and for each client."""
    each = evaluation.client_accuracies
    spread = "no client has examples"
    if np.isfinite(each).any():
        low, high = int(np.nanargmin(each)), int(np.nanargmax(each))
        spread = (
            f"clients from {each[low]:.1%} (client {low}) "
            f"to {each[high]:.1%} (client {high})"
        )
    share, count = evaluation.accuracy_per_example, int(evaluation.total["examples"])
    right = f"{share:.1%} of {count:,} examples read correctly"
    return f"{right}, {spread}. {worst(evaluation.confusion)}"


@final
class _ClientBars:
    """A bar per client, with its number beyond it where there is room."""

    def __init__(self, axes: Axes) -> None:
        self._axes = axes
        self._bars, self._numbers = Bars(axes), Texts(axes, ha="left")
        style.dress(axes)
        axes.grid(visible=False)
        axes.set(xlim=(0, 1.2), xticks=[0, 0.5, 1])
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        axes.yaxis.set_major_locator(MaxNLocator(10, integer=True, min_n_ticks=1))
        axes.set_xlabel("read correctly")

    def show(self, shares: NDArray[np.float64] | None) -> None:
        found = np.zeros(0) if shares is None else shares
        count = len(found)
        self._axes.set_ylim(max(count, 2) - 0.5, -0.5)
        self._bars.show(np.arange(count), found, 0.8 if count <= 30 else 1.0)
        rows = enumerate(found) if count <= _MOST_NUMBERED else ()
        self._numbers.show([(np.nan_to_num(x) + 0.02, y, _percent(x)) for y, x in rows])


def _percent(share: float) -> str:
    return f"{100 * share:.0f}" if np.isfinite(share) else "none"


def pictures_of(weights: Any) -> NDArray[np.float64] | None:
    """The templates of a softmax regression; `None` where the model is another."""
    if not isinstance(weights, Mapping) or set(weights) != {"weights", "bias"}:
        return None
    try:
        pictures = as_pictures(weights["weights"])
    except style.FigureDataError:
        return None
    return pictures if len(pictures) <= _MOST_NUMBERED else None


def _after(rounds: int) -> str:
    if not rounds:
        return "before training"
    return f"after {counted(rounds, 'round')}"


def _named(processes: Any) -> dict[str, Maker]:
    """What makes each process, by name."""
    if processes is None:
        model = learning.models.softmax_regression
        return {"FedAvg": lambda: learning.build_fed_avg(model(), 0.1)}
    if isinstance(processes, LearningProcess):
        processes = {processes.name: processes}
    is_named = isinstance(processes, Mapping) and all(
        isinstance(name, str) and name.strip() for name in processes
    )
    if not is_named or not 1 <= len(processes) <= MOST_CURVES:
        raise style.FigureDataError(
            "there is nothing to train, or too much",
            expected=f"a LearningProcess, or 1 to {MOST_CURVES} of them by name",
            found=describe(processes),
            where="processes",
            do='{"FedAvg": fl.learning.build_fed_avg(model, 0.1), …}',
        )
    return {name: _maker(name, found) for name, found in processes.items()}


def _maker(name: str, given: Any) -> Maker:
    if callable(given) and not isinstance(given, LearningProcess):
        return lambda: _process(name, given())
    process = _process(name, given)
    return lambda: process


def _process(name: str, process: Any) -> LearningProcess:
    if not isinstance(process, LearningProcess):
        raise style.FigureDataError(
            "this cannot be trained",
            expected="a LearningProcess, or a function that makes one",
            found=describe(process),
            where=f"processes[{name!r}]",
            do="fl.learning.build_fed_avg(model, 0.1) makes one",
        )
    if process.model.classes is None:
        raise style.FigureDataError(
            "the model does not choose among classes, so nothing is taken for another",
            expected="a model with classes",
            found=process.model.name,
            where=f"processes[{name!r}]",
            do="fl.learning.run, and fl.viz.draw_curves, draw its loss",
        )
    return process


def _data(data: Any, test: Any) -> tuple[ClientData, ClientData]:
    """What is learned from, and what is evaluated on."""
    for name, found in (("data", data), ("test", test)):
        if found is not None and (not isinstance(found, ClientData) or not len(found)):
            raise style.FigureDataError(
                "there are no clients to learn from",
                expected="a ClientData of at least one client, or None",
                found=describe(found),
                where=name,
                do="fl.simulation.ClientData(x, y, partition)",
            )
    if data is not None:
        return data, data if test is None else test
    train, held_out = datasets.load_digits28()
    dealt = (
        ClientData(x, y, partitions.one_label_per_client(y))
        for x, y in (train, held_out)
    )
    return next(dealt), test or next(dealt)
