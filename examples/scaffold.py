# SPDX-License-Identifier: Apache-2.0
"""SCAFFOLD in plain loops; the library's is `fedlearn_edu/learning/scaffold.py`.

S. P. Karimireddy et al., "SCAFFOLD: Stochastic Controlled Averaging for Federated
Learning", ICML 2020, Algorithm 1. Run it: `python -m examples.scaffold`.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from examples.softmax import (
    Client,
    Floats,
    filled,
    first_weights,
    gradient,
    make_clients,
    print_rounds,
)


def rounds(
    clients: Sequence[Client],
    cohorts: Sequence[Sequence[int]],
    client_learning_rate: float = 0.1,
    server_learning_rate: float = 1.0,
    local_epochs: int = 1,
    decay: float = 1.0,
) -> Iterator[tuple[Floats, Floats, list[Floats]]]:
    """Yields w, c and all c_k after each round; its cohort says who takes part."""
    w = first_weights()
    c, c_k = np.zeros_like(w), [np.zeros_like(w) for _ in clients]
    for t, cohort in enumerate(cohorts):
        rate = client_learning_rate * decay**t
        update, change = np.zeros_like(w), np.zeros_like(w)
        present = [k for k in cohort if filled(clients[k])]
        for k in present:
            w_k = w
            for _ in range(local_epochs):
                for batch in filled(clients[k]):
                    # The paper's y_i ← y_i - η (g_i(y_i) - c_i + c)
                    w_k = w_k - rate * (gradient(w_k, batch) - c_k[k] + c)
            # Option II, c_i⁺ ← c_i - c + (x - y_i) / (K η), with K steps
            steps = local_epochs * len(filled(clients[k]))
            new = c_k[k] - c + (w - w_k) / (steps * rate)
            update, change = update + (w_k - w), change + (new - c_k[k])
            c_k[k] = new
        w = w + server_learning_rate * update / len(present)
        c = c + change / len(clients)
        yield w, c, list(c_k)


if __name__ == "__main__":
    clients = make_clients()
    half = [[0, 1], [2, 3], [0, 2], [1, 3], [0, 3]]
    print_rounds(clients, (w for w, _, _ in rounds(clients, half)))
