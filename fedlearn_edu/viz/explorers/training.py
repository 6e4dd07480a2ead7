# SPDX-License-Identifier: Apache-2.0
"""`explore_training`: run rounds, watch them, and look at each of them closely."""

from collections.abc import Callable, Mapping
from typing import Any

from fedlearn_edu import learning
from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.language.context_stack import current_context
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.simulation import ClientData, datasets, partitions
from fedlearn_edu.viz import style
from fedlearn_edu.viz.curves import MOST_CURVES
from fedlearn_edu.viz.explorers.background import Job
from fedlearn_edu.viz.explorers.controls import choice, slider
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.learner import BATCH_SIZE, Learner
from fedlearn_edu.viz.explorers.own_context import own_context
from fedlearn_edu.viz.explorers.training_picture import TrainingPicture

Maker = Callable[[], LearningProcess]

_MOST_ROUNDS = 1000


@short_traceback
def explore_training(
    processes: LearningProcess | Mapping[str, LearningProcess | Maker] | None = None,
    data: ClientData | None = None,
    rounds: int = 30,
    *,
    test: ClientData | None = None,
    batch_size: int = BATCH_SIZE,
) -> Explorer:
    """Runs rounds in the background, and shows each of them as closely as wanted.

    A button begins and goes on, another one stops and keeps what there is. The slider
    chooses a round: what the model looks for then, what it takes for what, and how well
    each client is served. Up to four processes are drawn side by side.

    Args:
        processes: What learns: a process, or up to four by name, each one a process or
            a function without arguments that makes it when the button is pressed;
            `None` for federated averaging of a softmax regression.
        data: What the clients learn from; `None` for ten clients that hold one digit
            each, of the embedded digits.
        rounds: How many there are to be.
        test: What every round is judged on, client by client; `None` for `data`
            themselves, or for the test images of each client's digit if those are
            `None`, too.
        batch_size: Examples in a batch.

    >>> explorer = explore_training(rounds=3)
    >>> explorer.sentence
    'FedAvg has not run yet.'

    `explorer.picture.runs` has the runs so far, to go on with or to draw.

    Raises:
        FigureDataError: if an argument is none of these.
    """
    named = _named(processes)
    learn_from, judge_on = _data(data, test)
    count, size = (
        _whole(number, name)
        for number, name in ((rounds, "rounds"), (batch_size, "batch_size"))
    )
    learners = {
        name: Learner(name, make, learn_from, judge_on, size)
        for name, make in named.items()
    }
    controls = {"round_number": slider("round", 0, 0, count)}
    if len(learners) > 1:
        controls["process"] = choice("look at", next(iter(learners)), list(learners))
    picture = TrainingPicture(learners, count)
    job = Job(
        f"Train {count} round{'' if count == 1 else 's'}",
        lambda job: _train(learners, count, job),
        "in the background; pressed again after a stop, it goes on",
        own_context if processes is None else current_context,
    )
    follow = _Follower(learners)
    job.watch(lambda: follow(explorer))
    explorer = Explorer("Learning together, round by round", picture, controls, job=job)
    return explorer


class _Follower:
    """Takes the slider along with the newest round, unless it was moved away."""

    def __init__(self, learners: Mapping[str, Learner]) -> None:
        self._learners, self._newest = learners, 0

    def __call__(self, explorer: Explorer) -> None:
        values = explorer.values
        name = values.get("process") or next(iter(self._learners))
        newest = self._learners[name].rounds
        if values["round_number"] >= self._newest:
            explorer.set(round_number=newest)
        self._newest = newest


def _train(learners: Mapping[str, Learner], rounds: int, job: Job) -> str:
    """All rounds of all processes, one process after the other."""
    total = rounds * len(learners)
    for number, learner in enumerate(learners.values()):
        learner.go_on(rounds, job, number * rounds, total)
    parts = [_state(learner, rounds) for learner in learners.values()]
    go_on = " Press the button to go on." if job.is_stopping else ""
    return f"{'; '.join(parts)}.{go_on}"


def _state(learner: Learner, rounds: int) -> str:
    done = f"{learner.name}: {learner.rounds} of {rounds} rounds"
    return f"{done}, then NaN" if learner.diverged else done


def _named(processes: Any) -> dict[str, Maker]:
    """What makes each process, by name."""
    if processes is None:
        return {"FedAvg": _fed_avg}
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


def _maker(name: str, process: Any) -> Maker:
    if isinstance(process, LearningProcess):
        _check_chooses(name, process)
        return lambda: process
    if not callable(process):
        raise _no_process(name, process)

    def make() -> LearningProcess:
        made = process()
        if not isinstance(made, LearningProcess):
            raise _no_process(name, made)
        _check_chooses(name, made)
        return made

    return make


def _no_process(name: str, found: object) -> style.FigureDataError:
    return style.FigureDataError(
        "this cannot be trained",
        expected="a LearningProcess, or a function that makes one",
        found=describe(found),
        where=f"processes[{name!r}]",
        do="fl.learning.build_fed_avg(model, 0.1) makes one",
    )


def _check_chooses(name: str, process: LearningProcess) -> None:
    if process.model.classes is None:
        raise style.FigureDataError(
            "the model does not choose among classes, so nothing is taken for another",
            expected="a model with classes",
            found=process.model.name,
            where=f"processes[{name!r}]",
            do="fl.learning.run, and fl.viz.draw_run, draw its loss",
        )


def _fed_avg() -> LearningProcess:
    model = learning.models.softmax_regression()
    return learning.build_fed_avg(model, client_learning_rate=0.1)


def _data(data: Any, test: Any) -> tuple[ClientData, ClientData]:
    """What is learned from, and what is judged on."""
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


def _whole(number: Any, name: str) -> int:
    if not style.is_whole(number) or not 1 <= number <= _MOST_ROUNDS:
        raise style.FigureDataError(
            f"{name} is a whole number from 1 to {_MOST_ROUNDS}",
            expected=f"1 to {_MOST_ROUNDS}",
            found=describe(number),
            where=name,
        )
    return int(number)
