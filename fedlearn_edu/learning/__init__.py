# SPDX-License-Identifier: Apache-2.0
"""Learning processes with `initialize` and `next`: not here yet. Their parts are.

A round of federated averaging is three intrinsics. The server's model goes to the
clients, each trains its own copy, and the mean of the copies is the next model:

>>> import numpy as np
>>> import fedlearn_edu as fl
>>> @fl.np_computation(np.float32, np.float32)
... def train(model, number):
...     return model - np.float32(0.5) * (model - number)
>>> @fl.federated_computation(
...     fl.type_at_server(np.float32), fl.type_at_clients(np.float32)
... )
... def next_model(model, data):
...     return fl.federated_mean(
...         fl.federated_map(train, [fl.federated_broadcast(model), data])
...     )
>>> next_model(0.0, [1.0, 2.0, 3.0])
np.float32(1.0)

Evaluation is the same with a loss in place of `train`; `federated_mean` takes weights.
In full, on digits: `python -m fedlearn_edu demo`, whose program is `demo/program.py`,
and the notebook `10_federated_averaging`.
"""

from typing import Any

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.former_names import unknown

__all__: list[str] = []


@short_traceback
def __getattr__(name: str) -> Any:
    raise unknown("fedlearn_edu.learning", name, __all__)
