# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The first tutorial's examples: average temperatures, traced, typed and computed.

Source: "Custom Federated Algorithms, Part 1" of TensorFlow Federated (Apache-2.0).
"""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as tff
from fedlearn_edu import tf

READINGS = [68.5, 70.3, 69.8]
THREE_PLACES = [[68.0, 70.0], [71.0], [68.0, 72.0, 70.0]]


def test_mean_of_the_sensor_readings() -> None:
    @tff.federated_computation(tff.type_at_clients(np.float32))
    def get_average_temperature(sensor_readings: Any) -> Any:
        return tff.federated_mean(sensor_readings)

    signature = get_average_temperature.type_signature
    assert str(signature) == "({float32}@CLIENTS -> float32@SERVER)"
    average = get_average_temperature(READINGS)
    assert type(average) is np.float32
    # A sum times 1/3; a sum divided by 3 would print 69.53333.
    assert str(average) == "69.53334"
    weighted = tff.federated_weighted_mean(
        tff.place(READINGS, tff.CLIENTS), tff.place([1, 1, 1], tff.CLIENTS)
    )
    assert f"{weighted:.5f}" == "69.53333"


@pytest.mark.tensorflow
def test_local_average_reduces_a_dataset() -> None:
    @tff.tf_computation(tff.SequenceType(tf.float32))
    def get_local_temperature_average(local_temperatures: Any) -> Any:
        sum_and_count = local_temperatures.reduce(
            (0.0, 0), lambda x, y: (x[0] + y, x[1] + 1)
        )
        return sum_and_count[0] / tf.cast(sum_and_count[1], tf.float32)

    signature = get_local_temperature_average.type_signature
    assert str(signature) == "(float32* -> float32)"
    assert str(get_local_temperature_average(READINGS)) == "69.53333"

    @tff.federated_computation(tff.type_at_clients(tff.SequenceType(tf.float32)))
    def get_global_temperature_average(sensor_readings: Any) -> Any:
        return tff.federated_mean(
            tff.federated_map(get_local_temperature_average, sensor_readings)
        )

    signature = get_global_temperature_average.type_signature
    assert str(signature) == "({float32*}@CLIENTS -> float32@SERVER)"
    assert get_global_temperature_average(THREE_PLACES) == 70.0
