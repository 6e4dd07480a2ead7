# SPDX-License-Identifier: Apache-2.0
"""The picture of the partition explorer: who holds what, and where that leads."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from matplotlib.figure import Figure

from fedlearn_edu import learning
from fedlearn_edu.simulation import ClientData, partitions
from fedlearn_edu.simulation.datasets import Dataset
from fedlearn_edu.simulation.partitions import Skew
from fedlearn_edu.viz import partition, style
from fedlearn_edu.viz.artists import Stamps
from fedlearn_edu.viz.client_rows import ClientRows
from fedlearn_edu.viz.curves import LABEL_IN, Curve, CurvePanel
from fedlearn_edu.viz.explorers.background import Job
from fedlearn_edu.viz.explorers.dealing import DEALINGS
from fedlearn_edu.viz.explorers.learner import Learner

ROUNDS = 5

_ROWS_IN = 3.8
_CURVES_IN = 1.45
_CURVES_HEAD_IN = 0.5
_CURVES_FOOT_IN = 0.6
_AXIS_IN = 0.85
_LEARNING_RATE = 0.1
_MOST_KEPT = 32


@final
@dataclass(frozen=True)
class Setting:
    """One partition, as the controls say."""

    partition: str
    value: Any
    clients: int
    seed: int

    @staticmethod
    def of(values: Any) -> "Setting":
        """From the values of all controls; those that do not count are left out."""
        dealing = DEALINGS[values["partition"]]
        value = values[dealing.parameter] if dealing.parameter else None
        return Setting(values["partition"], value, values["clients"], values["seed"])

    @property
    def iid(self) -> "Setting":
        """What it is compared with: as many clients, equal shares dealt at random."""
        return Setting("iid", None, self.clients, self.seed)

    @property
    def words(self) -> str:
        """As in `Dirichlet, alpha 0.5`."""
        dealing = DEALINGS[self.partition]
        how = dealing.sign.format(self.value)
        return f"{dealing.title}, {how}" if how else dealing.title


@final
class PartitionPicture:
    """Rows of clients above, two curves below."""

    @style.in_our_look
    def __init__(self, dataset: Dataset) -> None:
        """Lays it out once.

        Args:
            dataset: Its training images are dealt out; its test images judge.
        """
        self._images, self._labels = dataset.train
        self._test = ClientData(*dataset.test, [np.arange(len(dataset.test[1]))])
        _, height, width = self._images.shape
        self._features = height * width
        self._classes = int(self._labels.max()) + 1
        self._learners: dict[Setting, Learner] = {}
        self._kept: dict[Setting, tuple[Any, Skew]] = {}
        width_in = style.EXPLORER_IN
        upper_in = partition.HEAD_IN + _ROWS_IN + partition.FOOT_IN
        height_in = upper_in + _CURVES_HEAD_IN + _CURVES_IN + _CURVES_FOOT_IN
        self.figure = Figure(figsize=(width_in, height_in))
        places = partition.lay_out(
            self.figure, _ROWS_IN, partition.HEAD_IN, has_images=True
        )
        self._rows = ClientRows(places, _ROWS_IN, Stamps)
        curves_in = width_in - _AXIS_IN - LABEL_IN
        sides_in = np.array([_AXIS_IN, _CURVES_FOOT_IN, curves_in, _CURVES_IN])
        axes = self.figure.add_axes(sides_in / np.array([width_in, height_in] * 2))
        axes.set_title(f"Test accuracy in {ROUNDS} rounds of federated averaging")
        axes.tick_params(labelsize=style.FONT_PT)
        self._curves = CurvePanel(axes, _CURVES_IN, is_share=True)

    def show(self, **values: Any) -> str:
        """Shows the partition the controls ask for, and its curves if there are any."""
        setting = Setting.of(values)
        shares, skew = self._dealt(setting)
        self._rows.show(skew, shares, self._images)
        curves = self._curves_of(setting)
        note = "" if curves else f"not trained yet:\npress “Train {ROUNDS} rounds”"
        self._curves.show(curves, ROUNDS, note=note)
        who = partition.describe(skew, len(self._labels))
        return f"{setting.words}: {who} {self._said(setting)}"

    def train(self, values: Any, job: Job) -> str:
        """Trains on this partition and on the IID one, as far as that is not done."""
        setting = Setting.of(values)
        wanted = list(dict.fromkeys([setting, setting.iid]))
        total = ROUNDS * len(wanted)
        for number, each in enumerate(wanted):
            if each not in self._learners:
                data = ClientData(self._images, self._labels, self._dealt(each)[0])
                name = "IID" if each == setting.iid else setting.words
                self._learners[each] = Learner(name, self._process, data, self._test)
            self._learners[each].go_on(ROUNDS, job, number * ROUNDS, total)
        how = f"stopped; press “Train {ROUNDS} rounds” to go on"
        return how if job.is_stopping else "done"

    def _process(self) -> learning.LearningProcess:
        """Federated averaging of a softmax regression, as lessons begin with."""
        model = learning.models.softmax_regression(self._features, self._classes)
        return learning.build_fed_avg(model, client_learning_rate=_LEARNING_RATE)

    def _dealt(self, setting: Setting) -> tuple[Any, Skew]:
        """Who holds what, and how skewed that is; the last settings are kept."""
        if setting not in self._kept:
            deal = DEALINGS[setting.partition].deal
            shares = deal(self._labels, setting.clients, setting.value, setting.seed)
            found = shares, partitions.describe_skew(self._labels, shares)
            if len(self._kept) >= _MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[setting] = found
        return self._kept[setting]

    def _curves_of(self, setting: Setting) -> list[Curve]:
        names = {setting.iid: "IID", setting: "this partition"}
        if setting == setting.iid:
            names = {setting: "IID"}
        return [
            Curve(names[each], learner.accuracy, diverged=learner.diverged)
            for each in (setting, setting.iid)[: len(names)]
            if (learner := self._learners.get(each)) and learner.seen
        ]

    def _said(self, setting: Setting) -> str:
        """The curves in words."""
        parts = [
            f"{curve.name[0].upper()}{curve.name[1:]} reads {curve.values[-1]:.1%} of "
            f"the test images after {len(curve.values) - 1} of {ROUNDS} rounds"
            for curve in self._curves_of(setting)
        ]
        return ". ".join(parts) + "." if parts else "Not trained yet."
