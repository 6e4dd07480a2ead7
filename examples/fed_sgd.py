# SPDX-License-Identifier: Apache-2.0
"""FedSGD in plain loops; the library's is `fedlearn_edu/learning/fed_sgd.py`.

B. McMahan et al., "Communication-Efficient Learning of Deep Networks from Decentralized
Data", AISTATS 2017, section 2. Run it: `python -m examples.fed_sgd`.
"""

from collections.abc import Iterator, Sequence

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
    clients: Sequence[Client], num_rounds: int, server_learning_rate: float = 0.1
) -> Iterator[Floats]:
    """Yields the weights after each round."""
    w = first_weights()
    n = sum(count_examples(client) for client in clients)
    for _ in range(num_rounds):
        g = np.zeros_like(w)
        for client in clients:
            n_k = count_examples(client)
            # g_k = ∇F_k(w): all examples of the client, all at the same w.
            g_k = np.zeros_like(w)
            for x, y in filled(client):
                g_k = g_k + len(y) / n_k * gradient(w, (x, y))
            g = g + n_k / n * g_k
        # The paper's w ← w - η Σ_k n_k/n g_k
        w = w - server_learning_rate * g
        yield w


if __name__ == "__main__":
    clients = make_clients()
    print_rounds(clients, rounds(clients, num_rounds=5))
