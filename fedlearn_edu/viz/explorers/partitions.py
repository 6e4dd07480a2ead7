# SPDX-License-Identifier: Apache-2.0
"""`explore_partitions`: deal out the digits, and see what that does to learning."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any, final

import numpy as np
from matplotlib.figure import Figure

from fedlearn_edu import learning
from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.simulation import ClientData, datasets, partitions
from fedlearn_edu.simulation.datasets import Dataset
from fedlearn_edu.simulation.partitions import Indices, Skew
from fedlearn_edu.viz import partition as partition_figure
from fedlearn_edu.viz import style
from fedlearn_edu.viz.curves import CurvePanel
from fedlearn_edu.viz.explorers.controls import (
    Control,
    a_choice,
    a_count,
    arguments,
    shown_while,
    slider,
    stops,
    toggle,
)
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.frames import Frame, Frames
from fedlearn_edu.viz.explorers.learner import Learner, train_all

_ROUNDS = 5
_LEARNING_RATE = 0.1
_ALPHAS = (0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 3.0, 10.0, 100.0)
_MOST_LISTED = 6
_MOST_KEPT = 32
_FULL, _ROW_IN, _AROUND_IN, _CURVES_IN = 6, 0.6, 1.1, 2.55


@short_traceback
def explore_partitions(
    dataset: Dataset | str | None = None,
    *,
    clients: int = 10,
    partition: str = "dirichlet",
    seed: int = 0,
) -> Explorer:
    """Shows who holds which digits in any of the partitions, and what it leads to.

    With a tick, five rounds of federated averaging are trained in the background, on
    the partition that is shown, and on an IID one with as many clients.

    Args:
        dataset: A `Dataset` of images, or the name of one; `None` for the embedded
            digits.
        clients: How many there are at first, 1 to 100.
        partition: The name of a function of `simulation.partitions`.
        seed: Of what is drawn at random, from 0 to 99.

    >>> explorer = explore_partitions(clients=3, partition="iid")
    >>> print(explorer.sentence[:71])
    IID: 3 clients hold 479 of 1,437 examples each. Mean total variation 0.

    Raises:
        FigureDataError: if an argument is none of these.
        DatasetError: if there is no data set of that name.
    """
    picture = PartitionPicture(_dataset(dataset))
    parameters = _parameters()
    titles = {name: each.title for name, each in PARTITIONERS.items()}
    controls = {
        **arguments(partition=a_choice(partition, titles)),
        **parameters,
        **arguments(clients=a_count(clients, 1, 100), seed=a_count(seed, 0, 99)),
        "train": toggle(f"train {_ROUNDS} rounds", False),
    }
    shown_while(
        controls["partition"].source,
        parameters,
        lambda chosen, name: name == PARTITIONERS[chosen].parameter,
    )
    return Explorer("Who holds which digits?", picture, controls)


@final
@dataclass(frozen=True)
class Partitioner:
    """A way of dealing out examples.

    Attributes:
        title: in the menu and in sentences.
        parameter: the name of its control; `None` if it has none.
        sign: what the parameter is called in sentences.
        deal: from labels, clients, parameter and seed to a partition.
    """

    title: str
    parameter: str | None
    sign: str
    deal: Callable[[Any, int, Any, int], tuple[Indices, ...]]


PARTITIONERS: Mapping[str, Partitioner] = {
    "one_label_per_client": Partitioner(
        "one label per client",
        "examples",
        "at most {} examples",
        partitions.one_label_per_client,
    ),
    "shards": Partitioner("shards", "shards", "{} shards each", partitions.shards),
    "dirichlet": Partitioner("Dirichlet", "alpha", "alpha {:g}", partitions.dirichlet),
    "log_normal_sizes": Partitioner(
        "log-normal sizes", "sigma", "sigma {:g}", partitions.log_normal_sizes
    ),
    "iid": Partitioner(
        "IID", None, "", lambda y, clients, _, seed: partitions.iid(y, clients, seed)
    ),
}


def _parameters() -> dict[str, Control]:
    """A control for each parameter; only that of the chosen partition is shown."""
    return {
        "alpha": stops("alpha (small: more skew)", 0.5, {f"{a:g}": a for a in _ALPHAS}),
        "shards": slider("shards per client", 2, 1, 10),
        "examples": slider("examples per client, at most", 1000, 1, 1000),
        "sigma": slider("sigma (large: more skew)", 1.0, 0.0, 3.0, 0.1),
    }


@final
@dataclass(frozen=True)
class Setting:
    """One partition, as the controls have it."""

    name: str
    value: Any
    clients: int
    seed: int

    @property
    def iid(self) -> "Setting":
        """What it is compared with: as many clients, equal shares dealt at random."""
        return Setting("iid", None, self.clients, self.seed)

    @property
    def words(self) -> str:
        """As in `Dirichlet, alpha 0.5`."""
        partitioner = PARTITIONERS[self.name]
        how = partitioner.sign.format(self.value)
        return f"{partitioner.title}, {how}" if how else partitioner.title


@final
class PartitionPicture:
    """Rows of clients above, two curves below."""

    def __init__(self, dataset: Dataset) -> None:
        """Lays the figures out, once.

        Args:
            dataset: Its training images are dealt out; its test images evaluate.
        """
        self._images, self._labels = dataset.train
        self._test = ClientData(*dataset.test, [np.arange(len(dataset.test[1]))])
        self._learners: dict[Setting, Learner] = {}
        self._dealt = lru_cache(_MOST_KEPT)(self._deal)
        self._sheet = cache(_Sheet)

    def show(self, train: bool, **values: Any) -> Frame | Frames:
        """The partition of these values; beside it what training on it leads to."""
        setting = _setting(**values)
        draw = partial(self._drawn, setting, train)
        return self._trained(setting, draw) if train else draw("Not trained yet.")

    def _trained(self, setting: Setting, draw: Callable[[str], Frame]) -> Frames:
        """Trains on this partition and on the IID one, unless that was done."""
        both = dict.fromkeys([setting, setting.iid])
        learners = {each: self._learner(each) for each in both}
        yield from train_all(
            learners.values(), _ROUNDS, lambda now: draw(f"So far {now}.")
        )
        names = {setting: "This partition"} | {setting.iid: "IID"}
        ends = [
            f"{name} reads {learners[each].accuracy[-1]:.1%} of the test images after "
            f"{learners[each].rounds} of {_ROUNDS} rounds."
            for each, name in names.items()
        ]
        yield draw(" ".join(ends))

    @style.in_our_look
    def _drawn(self, setting: Setting, train: bool, trained: str) -> Frame:
        """The partition, and the curves as far as they are."""
        shares, skew = self._dealt(setting)
        names = {setting: "this one"} | {setting.iid: "IID"}
        sheet = self._sheet(min(setting.clients, _FULL), train)
        sheet.rows.show(skew, shares, self._images)
        if sheet.curves:
            sheet.curves.show(
                [self._learner(x).curve(_ROUNDS, name) for x, name in names.items()],
                _ROUNDS,
            )
        who = partition_figure.describe(skew, len(self._labels))
        words = setting.words
        return sheet.figure, f"{words[0].upper()}{words[1:]}: {who} {trained}"

    def _learner(self, setting: Setting) -> Learner:
        if setting not in self._learners:
            data = ClientData(self._images, self._labels, self._dealt(setting)[0])
            name = "IID" if setting == setting.iid else setting.words
            self._learners[setting] = Learner(name, self._process, data, self._test)
        return self._learners[setting]

    def _process(self) -> learning.LearningProcess:
        """Federated averaging of a softmax regression."""
        features, classes = self._images[0].size, int(self._labels.max()) + 1
        model = learning.models.softmax_regression(features, classes)
        return learning.build_fed_avg(model, client_learning_rate=_LEARNING_RATE)

    def _deal(self, setting: Setting) -> tuple[Any, Skew]:
        """Who holds what, and how skewed that is."""
        deal = PARTITIONERS[setting.name].deal
        shares = deal(self._labels, setting.clients, setting.value, setting.seed)
        return shares, partitions.describe_skew(self._labels, shares)


@final
class _Sheet:
    """A figure as high as so many rows of clients, and perhaps two curves below."""

    @style.in_our_look
    def __init__(self, rows: int, has_curves: bool) -> None:
        heights = [_AROUND_IN + rows * _ROW_IN, _CURVES_IN][: 1 + has_curves]
        size_in = style.EXPLORER_IN, sum(heights)
        self.figure = Figure(figsize=size_in, layout="constrained")
        above, *below = self.figure.subfigures(
            len(heights), 1, squeeze=False, height_ratios=heights
        )[:, 0]
        self.rows = partition_figure.ClientRows(above, has_images=True)
        title = f"Test accuracy in {_ROUNDS} rounds of federated averaging"
        look: Any = {"is_share": True, "keys": (1, 2)}
        panels = [CurvePanel(each.subplots(), title, **look) for each in below]
        self.curves = panels[0] if panels else None


def _setting(*, partition: str, clients: int, seed: int, **parameters: Any) -> Setting:
    """From the values of all controls, without parameters of other partitions."""
    value = parameters.get(PARTITIONERS[partition].parameter or "")
    return Setting(partition, value, clients, seed)


def _dataset(dataset: Any) -> Dataset:
    """The data set, if a softmax regression can learn it: labels are its columns."""
    if dataset is None:
        return datasets.load_digits28()
    found = datasets.load(dataset) if isinstance(dataset, str) else dataset
    if not isinstance(found, Dataset) or found.train[0].ndim != 3:
        raise style.FigureDataError(
            "there are no images to deal out",
            expected="a Dataset with images [n,height,width], or its name",
            found=describe(dataset),
            where="dataset",
            do="simulation.datasets.from_arrays(…) makes one of arrays",
        )
    known = np.unique(found.train[1])
    is_whole = known.dtype.kind in "iu"
    if not is_whole or not np.array_equal(known, np.arange(len(known))):
        raise style.FigureDataError(
            "the labels are not the numbers of classes",
            expected="whole numbers 0, 1, 2, …, each of them at least once",
            found=_listed(known),
            where="dataset.train",
            do="number the classes: numpy.unique(labels, return_inverse=True)[1]",
        )
    if len(unknown := np.setdiff1d(found.test[1], known)):
        raise style.FigureDataError(
            "there are classes to be judged on that nobody learns",
            expected=f"labels 0 to {len(known) - 1}, as in the training set",
            found=_listed(unknown),
            where="dataset.test",
            do="leave out these examples",
        )
    return found


def _listed(labels: Any) -> str:
    few = ", ".join(map(str, labels[:_MOST_LISTED].tolist()))
    return f"{few}, …" if len(labels) > _MOST_LISTED else few
