# SPDX-License-Identifier: Apache-2.0
"""The partitions a reader can choose from, each with its one parameter."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.simulation import partitions
from fedlearn_edu.simulation.partitions import Indices
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.controls import Control, slider, stops

_ALPHAS = (0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 3.0, 10.0, 100.0)


@final
@dataclass(frozen=True)
class Dealing:
    """A way to deal out examples.

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


DEALINGS: Mapping[str, Dealing] = {
    "one_label_per_client": Dealing(
        "one label per client",
        "examples",
        "at most {} examples",
        lambda y, clients, most, seed: partitions.one_label_per_client(
            y, clients, most, seed
        ),
    ),
    "labels_per_client": Dealing(
        "k labels per client", "k", "k = {}", partitions.labels_per_client
    ),
    "shards": Dealing("shards", "shards", "{} shards each", partitions.shards),
    "dirichlet": Dealing("Dirichlet", "alpha", "alpha {:g}", partitions.dirichlet),
    "log_normal_sizes": Dealing(
        "log-normal sizes", "sigma", "sigma {:g}", partitions.log_normal_sizes
    ),
    "power_law_sizes": Dealing(
        "power-law sizes", "exponent", "exponent {:g}", partitions.power_law_sizes
    ),
    "iid": Dealing(
        "IID", None, "", lambda y, clients, _, seed: partitions.iid(y, clients, seed)
    ),
}


def parameters(labels: int) -> dict[str, Control]:
    """A control for each parameter; the one that counts is made visible."""
    return {
        "alpha": stops("alpha (small: more skew)", 0.5, {f"{a:g}": a for a in _ALPHAS}),
        "k": slider("labels per client", min(2, labels), 1, labels),
        "shards": slider("shards per client", 2, 1, 10),
        "examples": slider("examples per client, at most", 1000, 1, 1000),
        "sigma": slider("sigma (large: more skew)", 1.0, 0.0, 3.0, 0.1),
        "exponent": slider("exponent (large: more skew)", 1.0, 0.0, 3.0, 0.1),
    }


def check_partition(partition: object) -> str:
    """The name of a partition, or an error that says which there are."""
    if not isinstance(partition, str) or partition not in DEALINGS:
        raise style.FigureDataError(
            "there is no such partition",
            expected=", ".join(DEALINGS),
            found=repr(partition),
            where="partition",
        )
    return partition
