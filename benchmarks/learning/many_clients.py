# SPDX-License-Identifier: Apache-2.0
"""A thousand clients, a hundred of them per round: does memory grow with the rounds?

In a process of its own; labels are Dirichlet-distributed, so that clients differ in
size, and every round meets other shapes.
"""

from typing import Any

from benchmarks.memory import settled
from fedlearn_edu import learning
from fedlearn_edu.learning import models
from fedlearn_edu.simulation import ClientData, ClientSampling, datasets, partitions

CLIENTS, PER_ROUND, ROUNDS = 1000, 100, 50
FIRST = 5


def memory(data: str, rounds: int = ROUNDS) -> dict[str, Any]:
    """Megabytes after round 5, 10, … of a run, once what is free has gone back."""
    x, y = datasets.load(data).train
    clients = ClientData(x, y, partitions.dirichlet(y, CLIENTS, alpha=1.0, seed=0))
    sizes: dict[int, float | None] = {}

    def look(run: learning.Run) -> None:
        if run.rounds % FIRST == 0:
            found = settled()
            sizes[run.rounds] = None if found is None else found / 1e6

    run = learning.run(
        learning.build_fed_avg(models.softmax_regression()),
        clients,
        rounds,
        batch_size=10,
        client_sampling=ClientSampling(count=PER_ROUND, seed=0),
        options=learning.Options(shuffle_seed=0, callbacks=[look], progress=False),
    )
    later = run.history["seconds"][FIRST:]
    return {
        "clients": CLIENTS,
        "per_round": PER_ROUND,
        "smallest": int(clients.num_examples.min()),
        "largest": int(clients.num_examples.max()),
        "megabytes": sizes,
        "seconds_per_round": float(later.mean()),
    }
