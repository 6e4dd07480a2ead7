# SPDX-License-Identifier: Apache-2.0
"""Slips in learning: data of another shape than the model's, and what is no model."""

from typing import Any, cast

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu import attacks, learning
from fedlearn_edu.simulation import ClientData, ClientSampling
from tests.slips.slip import calls, slip

IMAGES, LABELS = np.zeros([6, 2, 2], np.float32), np.array([0, 1, 2, 0, 1, 2])
ROWS = IMAGES.reshape(len(IMAGES), -1)


def model() -> Any:
    return learning.models.softmax_regression(features=4, classes=3)


def learn(batch: Any) -> None:
    process = learning.build_fed_avg(model())
    process.next(process.initialize(), [[batch]])


@slip(307, TypeError, "client 0", ".batch", tensorflow=True)
def a_dataset_without_batches() -> None:
    data = {"x": ROWS, "y": LABELS.astype(np.int32)}
    process = learning.build_fed_avg(model())
    examples = fl.tf.data.Dataset.from_tensor_slices(data)
    process.next(process.initialize(), [examples])


@slip(309, RuntimeError, "at least one client", tensorflow=True)
def a_round_of_nobody() -> None:
    process = learning.build_fed_avg(model())
    process.next(process.initialize(), [])


@slip(310, AttributeError, "fl.federated_select", "hides no key")
def an_intrinsic_that_is_not_here() -> None:
    package: Any = fl
    package.federated_secure_select()


@slip(311, AttributeError, "fl.to_type")
def a_former_name_of_types() -> None:
    types: Any = fl.types
    types.tensorflow_to_type({})


calls(
    (300, TypeError, "a_missing_batch_axis",
     lambda: learn({"x": ROWS[0], "y": LABELS[0]}), "client 0", "x[None]"),
    (301, TypeError, "images_that_are_not_flat",
     lambda: learn({"x": IMAGES, "y": LABELS}), "client 0", "x.reshape(len(x), -1)"),
    (302, TypeError, "one_image_that_is_not_flat",
     lambda: learn({"x": IMAGES[0], "y": LABELS[:1]}), "x.reshape(1, -1)"),
    (303, TypeError, "one_hot_labels",
     lambda: learn({"x": ROWS, "y": np.eye(3)[LABELS]}), "float64[6,3]", "argmax"),
    (304, TypeError, "labels_in_a_column",
     lambda: learn({"x": ROWS, "y": LABELS[:, None]}), "[..., 0]"),
    (305, RuntimeError, "labels_beyond_the_classes",
     lambda: learn({"x": ROWS, "y": LABELS + 7}), "client 0", "classes="),
    (306, RuntimeError, "fewer_labels_than_images",
     lambda: learn({"x": ROWS, "y": LABELS[:3]}), "client 0", "every example"),
    tensorflow=True,
)  # fmt: skip

AGGREGATORS = learning.aggregators

calls(
    tensorflow=True,
)  # fmt: skip


def spend(budget: Any, aggregator: Any = None, **options: Any) -> None:
    parts = [range(at, 6, 3) for at in range(3)]
    data = ClientData(ROWS, LABELS, parts)
    process = learning.build_fed_avg(model(), aggregator=aggregator)
    asked = learning.Options(budget=budget)
    learning.run(process, data, 50, options=asked, **options)


NOISE = AGGREGATORS.gaussian(1.0, 2.0, expected_clients=2)

calls(
    (403, ValueError, "a_fixed_cohort_for_a_poisson_accountant",
     lambda: spend((2.0, 1e-3), NOISE, client_sampling=ClientSampling(count=2)),
     "probability=0.6667", "exactly 2 of 3", "'replace_one'"),
    (404, ValueError, "a_budget_without_noise",
     lambda: spend((2.0, 1e-3)), "gaussian(…)"),
    (405, ValueError, "an_epsilon_without_noise",
     lambda: learning.accounting.epsilon(0.0, 0.1, rounds=50, delta=1e-3),
     "infinite", "calibrate"),
    (425, ValueError, "a_private_count_of_few_clients",
     lambda: AGGREGATORS.gaussian_adaptive(1.0, expected_clients=10),
     "count_noise > 0.5", "count_noise=1 costs"),
    tensorflow=True,
)  # fmt: skip


@slip(427, RuntimeError, "63 bits", "3221225472 examples", tensorflow=True)
def more_examples_than_a_secure_sum_holds() -> None:
    rule = AGGREGATORS.secure_mean(1.0, bits=32, max_examples=2**30)(np.float32)
    rule.next(rule.initialize(), [1.0] * 3, [2.0**30] * 3)


@slip(351, ValueError, "client 1 in the place of client 0", "order", tensorflow=True)
def variates_of_other_clients() -> None:
    data = ClientData(ROWS, LABELS, [range(3), range(3, 6)])
    process = learning.build_scaffold(model(), num_clients=2)
    start = learning.run(process, data, 1)
    learning.run(process, data.select([1, 0]), 2, options=learning.Options(start=start))


@slip(395, RuntimeError, "n > 2 * 2 + 2", "n = 6", "at least 7", tensorflow=True)
def more_bad_clients_than_krum_bears() -> None:
    rule = AGGREGATORS.krum(num_byzantine=2)(np.float32)
    rule.next(rule.initialize(), [1.0] * 6, [1.0] * 6)


def attack_on(*clients: int) -> None:
    attackers = attacks.label_flip().on(clients)
    process = attacks.poison(learning.build_fed_avg(model()), attackers)
    learning.run(process, ClientData(ROWS, LABELS, [range(3), range(3, 6)]), 1)


calls(
    (426, ValueError, "a_median_of_masked_updates",
     lambda: AGGREGATORS.secure_mean(cast(Any, AGGREGATORS.median())), "no rule"),
    (411, ValueError, "an_attack_on_no_client", attack_on, "one or more clients"),
    (412, ValueError, "an_attack_on_a_client_that_is_not_there",
     lambda: attack_on(0, 2), "from 0 to 1", "client 2"),
    (413, ValueError, "an_attack_of_no_strength",
     lambda: attacks.sign_flip(times=0), "times > 0"),
    tensorflow=True,
)  # fmt: skip
