# SPDX-License-Identifier: Apache-2.0
"""FedProx in plain loops; the library's is `fedlearn_edu/learning/fed_prox.py`.

T. Li et al., "Federated Optimization in Heterogeneous Networks", MLSys 2020,
Algorithm 2. Run it: `python -m examples.fed_prox`.
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
    proximal_strength: float = 0.01,
    local_epochs: int = 1,
    weigh: Callable[[Client], float] = count_examples,
) -> Iterator[Floats]:
    """Yields the weights after each round."""
    w = first_weights()
    n = sum(weigh(client) for client in clients)
    for _ in range(num_rounds):
        update = np.zeros_like(w)
        for client in clients:
            w_k = w
            for _ in range(local_epochs):
                for batch in filled(client):
                    # The slope of the paper's h_k(w_k; w) = F_k(w_k) + μ/2 |w_k - w|²
                    slope = gradient(w_k, batch) + proximal_strength * (w_k - w)
                    w_k = w_k - client_learning_rate * slope
            update = update + weigh(client) / n * (w_k - w)
        w = w + server_learning_rate * update
        yield w


if __name__ == "__main__":
    clients = make_clients()
    print_rounds(clients, rounds(clients, num_rounds=5))
