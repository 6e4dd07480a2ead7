# SPDX-License-Identifier: Apache-2.0
"""What the demo is run on: a data set, dealt out one digit per client, in batches.

The command line makes an `Options`; `prepare` makes the data; `run` takes both.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import final

from fedlearn_edu.simulation import ClientData
from fedlearn_edu.simulation.datasets import load
from fedlearn_edu.simulation.partitions import one_label_per_client

DATA = ("auto", "digits28", "mnist")
"""Data sets of digits, which is what the demo talks about."""

NUM_CLIENTS = 10
LONE_CLIENT = 5
OTHER_CLIENT = 0
LEARNING_RATE = 0.1
DECAY = 0.9


@final
@dataclass(frozen=True)
class Options:
    """What the command line may choose.

    Attributes:
        data: the name of a data set, or `"auto"`.
        rounds: rounds of federated averaging, at least 1.
        out: the folder for the pictures; made if need be.
        seed: `None` takes each client's examples in their order, as the tutorial does;
            a number draws them at random.
    """

    data: str = "auto"
    rounds: int = 20
    out: Path = Path("build/demo")
    seed: int | None = None


@final
@dataclass(frozen=True)
class FederatedData:
    """What each client holds, per split.

    Attributes:
        name: the data set it was made of.
        examples_per_client: at most this many training examples each.
        batch_size: examples per batch; the last one may be shorter.
        train: what the clients learn from.
        test: the test images, dealt out in the same way.
        total: how many examples the data set has, in its two splits.
    """

    name: str
    examples_per_client: int
    batch_size: int
    train: ClientData
    test: ClientData
    total: tuple[int, int]


def prepare(options: Options) -> FederatedData:
    """Loads the data and gives client k the examples of digit k.

    MNIST gets the tutorial's numbers: 1,000 examples each in batches of 100. The
    embedded digits have about 140 of each, in batches of 14, so that a client makes
    ten steps per round there too.
    """
    dataset = load(options.data)
    most, batch_size = (1000, 100) if dataset.name == "mnist" else (140, 14)
    train, test = (
        ClientData(x, y, one_label_per_client(y, NUM_CLIENTS, most, options.seed))
        for x, y in dataset
    )
    total = (len(dataset.train[1]), len(dataset.test[1]))
    return FederatedData(dataset.name, most, batch_size, train, test, total)
