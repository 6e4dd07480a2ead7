# SPDX-License-Identifier: Apache-2.0
"""FedAvg in plain loops; the library's is `fedlearn_edu/learning/fed_avg.py`.

B. McMahan et al., "Communication-Efficient Learning of Deep Networks from Decentralized
Data", AISTATS 2017, Algorithm 1. Run it: `python -m examples.fed_avg`.
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
    local_epochs: int = 1,
    weigh: Callable[[Client], float] = count_examples,
    decay: float = 1.0,
) -> Iterator[Floats]:
    """Yields the weights after each round; rates of clients shrink by `decay`."""
    w = first_weights()
    n = sum(weigh(client) for client in clients)
    for t in range(num_rounds):
        rate = client_learning_rate * decay**t
        update = np.zeros_like(w)
        for client in clients:
            # The paper's ClientUpdate(k, w)
            w_k = w
            for _ in range(local_epochs):
                for batch in filled(client):
                    w_k = w_k - rate * gradient(w_k, batch)
            update = update + weigh(client) / n * (w_k - w)
        # With a server's rate of 1 this is the paper's w ← Σ_k n_k/n w_k
        w = w + server_learning_rate * update
        yield w


if __name__ == "__main__":
    clients = make_clients()
    print_rounds(clients, rounds(clients, num_rounds=5))
