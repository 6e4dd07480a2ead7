# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a round is said of the right client, and of the right round."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.learning.training_loop import run
from fedlearn_edu.simulation import ClientData, ClientSampling
from tests.learning.small import mean_process, small_lists

ONE_OF_FOUR = ClientSampling(count=1, seed=3)


def drawn(sampling: ClientSampling, client: int, clients: int) -> int:
    """The first round in which this client takes part."""
    sizes = np.ones(clients, int)
    numbers = range(1, 100)
    return next(n for n in numbers if client in sampling.draw(n, sizes).finished)


def test_a_list_with_a_bad_batch_names_its_client_and_the_round() -> None:
    data: list[Any] = small_lists(clients=4)
    data[2] = [{"x": data[2][0]["x"]}]
    with pytest.raises(fl.FedLearnError, match="missing: y") as caught:
        run(mean_process(), data, 100, client_sampling=ONE_OF_FOUR)
    number = drawn(ONE_OF_FOUR, 2, 4)
    assert caught.value.where == f"data[client 2][element 0], round {number}"


@pytest.mark.tensorflow
def test_a_label_that_is_no_class_names_the_client_by_its_id() -> None:
    labels = [0, 1, 0, 1, 0, 1, 0, 2]
    data = ClientData(np.ones([8, 3]), labels, np.arange(8).reshape(8, 1))
    model = fl.learning.models.softmax_regression(features=3, classes=2)
    process = fl.learning.build_fed_avg(model)
    few = data.select([4, 5, 6, 7])
    with pytest.raises(fl.FedLearnError, match="label value of 2") as caught:
        run(process, few, 100, client_sampling=ONE_OF_FOUR)
    number = drawn(ONE_OF_FOUR, 3, 4)
    assert str(caught.value.where).endswith(f"at client 7, round {number}")


def test_an_error_that_is_not_ours_gets_a_note_with_the_round() -> None:
    class Strange(list[Any]):
        def __len__(self) -> int:
            raise ZeroDivisionError

        def __iter__(self) -> Any:
            raise ZeroDivisionError

    data: list[Any] = [Strange()]
    with pytest.raises(ZeroDivisionError) as caught:
        run(mean_process(), data, 1)
    assert "round 1" in "".join(caught.value.__notes__)
