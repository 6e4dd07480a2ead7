# SPDX-License-Identifier: Apache-2.0
"""FedAvgM in plain loops; the library's is `fedlearn_edu/learning/fed_opt.py`.

T. Hsu et al., "Measuring the Effects of Non-Identical Data Distribution for Federated
Visual Classification", 2019. Run it: `python -m examples.fed_avg_m`.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from examples.softmax import (
    Client,
    Floats,
    count_examples,
    filled,
    first_weights,
    gradient,
    make_clients,
    print_rounds,
)


def rounds(
    clients: Sequence[Client],
    num_rounds: int,
    client_learning_rate: float = 0.1,
    server_learning_rate: float = 1.0,
    momentum: float = 0.9,
    local_epochs: int = 1,
    weigh: Callable[[Client], float] = count_examples,
) -> Iterator[Floats]:
    """Yields the weights after each round."""
    w = first_weights()
    v = np.zeros_like(w)
    n = sum(weigh(client) for client in clients)
    for _ in range(num_rounds):
        update = np.zeros_like(w)
        for client in clients:
            w_k = w
            for _ in range(local_epochs):
                for batch in filled(client):
                    w_k = w_k - client_learning_rate * gradient(w_k, batch)
            update = update + weigh(client) / n * (w_k - w)
        g = -update
        # The paper's v ← βv + Δw, w ← w - v
        v = momentum * v + g
        w = w - server_learning_rate * v
        yield w


if __name__ == "__main__":
    clients = make_clients()
    print_rounds(clients, rounds(clients, num_rounds=5))
