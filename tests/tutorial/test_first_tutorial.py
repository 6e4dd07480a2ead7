# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The first tutorial's examples: average temperatures, traced, typed and computed.

Source: "Custom Federated Algorithms, Part 1" of TensorFlow Federated (Apache-2.0).
"""

import collections
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


@pytest.mark.tensorflow
def test_half_is_added_on_every_client() -> None:
    @tff.tf_computation(tf.float32)
    def add_half(x: Any) -> Any:
        return tf.add(x, 0.5)

    @tff.federated_computation(tff.type_at_clients(tf.float32))
    def add_half_on_clients(x: Any) -> Any:
        return tff.federated_map(add_half, x)

    assert str(add_half.type_signature) == "(float32 -> float32)"
    signature = add_half_on_clients.type_signature
    assert str(signature) == "({float32}@CLIENTS -> {float32}@CLIENTS)"
    halves = add_half_on_clients([1.0, 3.0, 2.0])
    assert type(halves) is list
    assert halves == [1.5, 3.5, 2.5]


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


@pytest.mark.tensorflow
def test_elements_of_a_dataset_may_be_structures() -> None:
    pair = collections.OrderedDict([("A", tf.int32), ("B", tf.int32)])
    specs = []

    @tff.tf_computation(tff.SequenceType(pair))
    def foo(ds: Any) -> Any:
        specs.append(ds.element_spec)
        return ds.reduce(np.int32(0), lambda total, x: total + x["A"] * x["B"])

    assert str(foo.type_signature) == "(<A=int32,B=int32>* -> int32)"
    assert list(specs[0]) == ["A", "B"]
    assert foo([{"A": 2, "B": 3}, {"A": 4, "B": 5}]) == 26


@pytest.mark.tensorflow
def test_share_of_readings_over_a_threshold() -> None:
    """A broadcast threshold, a comparison at each client, a mean of zeros and ones."""

    @tff.tf_computation(tf.float32, tf.float32)
    def exceeds(reading: Any, threshold: Any) -> Any:
        return tf.cast(reading > threshold, tf.float32)

    @tff.federated_computation(
        tff.type_at_clients(tf.float32), tff.type_at_server(tf.float32)
    )
    def get_share_over_threshold(readings: Any, threshold: Any) -> Any:
        return tff.federated_mean(
            tff.federated_map(exceeds, [readings, tff.federated_broadcast(threshold)])
        )

    assert str(get_share_over_threshold.type_signature) == (
        "(<readings={float32}@CLIENTS,threshold=float32@SERVER> -> float32@SERVER)"
    )
    assert get_share_over_threshold(READINGS, 69.0) == pytest.approx(2 / 3)
    assert get_share_over_threshold(READINGS, 100.0) == 0.0


@pytest.mark.tensorflow
def test_polymorphic_computation_takes_the_type_it_meets() -> None:
    @tff.tf_computation
    def double(x: Any) -> Any:
        return x + x

    with pytest.raises(AttributeError, match="has no type yet"):
        _ = double.type_signature
    assert double(np.int32(2)) == 4
    assert double(np.float32(0.25)) == 0.5
    assert double("ha") == b"haha"

    @tff.federated_computation(tff.type_at_clients(np.int32))
    def double_all(x: Any) -> Any:
        return tff.federated_map(double, x)

    assert str(double_all.type_signature) == "({int32}@CLIENTS -> {int32}@CLIENTS)"
    assert double_all([1, 2]) == [2, 4]
