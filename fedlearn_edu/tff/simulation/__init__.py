# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""`tff.simulation`: clients' data, and programs that take names in their place."""

from collections.abc import Callable
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.former_names import answering
from fedlearn_edu.tff.simulation import datasets
from fedlearn_edu.tff.templates import IterativeProcess

__all__ = [
    "build_uniform_sampling_fn",
    "compose_dataset_computation_with_computation",
    "compose_dataset_computation_with_iterative_process",
    "datasets",
]


@short_traceback
def compose_dataset_computation_with_computation(
    dataset_computation: Any, computation_body: Any
) -> Any:
    """The computation with names of clients in the place of their datasets.

    Args:
        dataset_computation: `(string -> ELEMENT*)`, as `ClientData` has it.
        computation_body: takes datasets at the clients, alone or after a state.
    """
    takes: Any = computation_body.type_signature.parameter
    names = fl.type_at_clients(dataset_computation.type_signature.parameter)
    if not isinstance(takes, fl.StructType):

        @fl.federated_computation(names)
        def on_names(client_ids: Any) -> Any:
            data = fl.federated_map(dataset_computation, client_ids)
            return computation_body(data)

        return on_names
    state_type, _ = takes

    @fl.federated_computation(state_type, names)
    def next_on_names(state: Any, client_ids: Any) -> Any:
        data = fl.federated_map(dataset_computation, client_ids)
        return computation_body(state, data)

    return next_on_names


@short_traceback
def compose_dataset_computation_with_iterative_process(
    dataset_computation: Any, process: Any
) -> Any:
    """The process with names of clients in the place of their datasets."""
    step = compose_dataset_computation_with_computation(
        dataset_computation, process.next
    )
    kind = type(process) if isinstance(process, IterativeProcess) else IterativeProcess
    return kind(process.initialize, step)


@short_traceback
def build_uniform_sampling_fn(
    sample_range: Any, replace: bool = False, random_seed: int | None = None
) -> Callable[..., list[Any]]:
    """A function from the round and a size to that many of `sample_range`.

    With a seed, a round has the same sample whenever it is asked for.
    """

    def sample(round_num: int, size: int = 1) -> list[Any]:
        seed = None if random_seed is None else random_seed + round_num
        chosen: list[Any] = (
            np.random.RandomState(seed).choice(sample_range, size, replace).tolist()
        )
        return chosen

    return sample


__getattr__ = answering("fedlearn_edu.tff.simulation", __all__)
