# SPDX-License-Identifier: Apache-2.0
"""FedYogi in plain loops; the library's is `fedlearn_edu/learning/fed_opt.py`.

S. Reddi et al., "Adaptive Federated Optimization", ICLR 2021, Algorithm 2; its
Δ is our -g. Run it: `python -m examples.fed_yogi`.
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

BETA_1, BETA_2 = 0.9, 0.99


def rounds(
    clients: Sequence[Client],
    num_rounds: int,
    client_learning_rate: float = 0.1,
    server_learning_rate: float = 0.01,
    epsilon: float = 1e-3,
    local_epochs: int = 1,
    weigh: Callable[[Client], float] = count_examples,
) -> Iterator[Floats]:
    """Yields the weights after each round."""
    w = first_weights()
    m, s = np.zeros_like(w), np.zeros_like(w)
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
        m = BETA_1 * m + (1 - BETA_1) * g
        # The paper's line for FedYogi
        s = s - (1 - BETA_2) * g**2 * np.sign(s - g**2)
        w = w - server_learning_rate * m / (np.sqrt(s) + epsilon)
        yield w


if __name__ == "__main__":
    clients = make_clients()
    print_rounds(clients, rounds(clients, num_rounds=5))
