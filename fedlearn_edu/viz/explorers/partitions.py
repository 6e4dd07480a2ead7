# SPDX-License-Identifier: Apache-2.0
"""`explore_partitions`: deal out the digits, and see what that does to learning."""

from typing import Any

import numpy as np

from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.simulation import datasets
from fedlearn_edu.simulation.datasets import Dataset
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.background import Job, explorers_context
from fedlearn_edu.viz.explorers.controls import choice, slider
from fedlearn_edu.viz.explorers.dealing import DEALINGS, check_partition, parameters
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.partition_picture import ROUNDS, PartitionPicture

_MOST_CLIENTS = 100
_MOST_SEED = 99
_MOST_LISTED = 6


@short_traceback
def explore_partitions(
    dataset: Dataset | str | None = None,
    *,
    clients: int = 10,
    partition: str = "dirichlet",
    seed: int = 0,
) -> Explorer:
    """Shows who holds which digits, for every partition there is, and what it leads to.

    A button trains five rounds of federated averaging on the partition that is shown,
    and on an IID one with as many clients; it runs in the background, and what was
    trained is kept.

    Args:
        dataset: A `Dataset` of images, or the name of one; `None` for the embedded
            digits.
        clients: How many it begins with, 1 to 100.
        partition: The name of a function of `simulation.partitions`.
        seed: What is drawn at random, from 0 to 99.

    >>> explorer = explore_partitions(clients=3, partition="iid")
    >>> print(explorer.sentence[:71])
    IID: 3 clients hold 479 of 1,437 examples each. Mean total variation 0.

    Raises:
        FigureDataError: if an argument is none of these.
        DatasetError: if there is no data set of that name.
    """
    found = _dataset(dataset)
    count = _whole(clients, "clients", 1, _MOST_CLIENTS)
    begin = check_partition(partition)
    hands = parameters(len(set(found.train[1].tolist())))
    controls = {
        "partition": choice("partition", begin, _MENU),
        **hands,
        "clients": slider("clients", count, 1, _MOST_CLIENTS),
        "seed": slider("seed", _whole(seed, "seed", 0, _MOST_SEED), 0, _MOST_SEED),
    }
    picture = PartitionPicture(found)
    job = Job(
        f"Train {ROUNDS} rounds",
        lambda job: picture.train(explorer.values, job),
        "on this partition, and on an IID one with as many clients",
        explorers_context,
    )
    menu = controls["partition"].source
    _show_one(hands, begin)
    menu.observe(lambda change: _show_one(hands, change.new), "value")
    explorer = Explorer("Who holds which digits?", picture, controls, job=job)
    return explorer


_MENU = {dealing.title: name for name, dealing in DEALINGS.items()}


def _show_one(hands: Any, partition: str) -> None:
    """Shows the control of this partition's parameter, and hides the others."""
    for name, control in hands.items():
        is_used = name == DEALINGS[partition].parameter
        control.box.layout.display = None if is_used else "none"


def _dataset(dataset: Any) -> Dataset:
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
    _check_labels(found)
    return found


def _check_labels(dataset: Dataset) -> None:
    """Refuses labels a softmax regression cannot learn: they name its columns."""
    known = np.unique(dataset.train[1])
    is_whole = known.dtype.kind in "iu"
    if not is_whole or not np.array_equal(known, np.arange(len(known))):
        raise style.FigureDataError(
            "the labels are not the numbers of classes",
            expected="whole numbers 0, 1, 2, …, each of them at least once",
            found=_listed(known),
            where="dataset.train",
            do="number the classes: numpy.unique(labels, return_inverse=True)[1]",
        )
    if len(unknown := np.setdiff1d(dataset.test[1], known)):
        raise style.FigureDataError(
            "there are classes to be judged on that nobody learns",
            expected=f"labels 0 to {len(known) - 1}, as in the training set",
            found=_listed(unknown),
            where="dataset.test",
            do="leave out these examples",
        )


def _listed(labels: Any) -> str:
    few = ", ".join(map(str, labels[:_MOST_LISTED].tolist()))
    return f"{few}, …" if len(labels) > _MOST_LISTED else few


def _whole(number: Any, name: str, least: int, most: int) -> int:
    if not style.is_whole(number) or not least <= number <= most:
        raise style.FigureDataError(
            f"{name} is a whole number from {least} to {most}",
            expected=f"{least} to {most}",
            found=describe(number),
            where=name,
        )
    return int(number)
