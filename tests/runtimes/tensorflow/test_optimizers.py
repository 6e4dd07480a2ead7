# SPDX-License-Identifier: Apache-2.0
"""Keras optimizers made in a body: a tensor as rate, and slots of their own."""

from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from fedlearn_edu.errors import TracingError
from tests.programs import local, mapped

pytestmark = pytest.mark.tensorflow
F32 = np.float32
keras = tf.keras.optimizers
fw = fl.framework

MODEL = fl.to_type([(F32, [2, 3]), (F32, [3]), (F32, [3])])
START = (
    np.arange(6, dtype=F32).reshape(2, 3) / 5,
    np.array([0.3, -0.2, 0.1], F32),
    np.array([-0.3, 0.2, -0.1], F32),
)
# Of no use here: the base, one that wraps another, one for variables of Keras only, and
# one whose first step in a `tf.function` is another in Keras itself.
_LEFT_OUT = {"Optimizer", "LossScaleOptimizer", "MultiOptimizer", "Muon"}
_PLAIN_ONLY = "ScheduleFreeAdamW"
OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    name: kind
    for name, kind in vars(keras).items()
    if isinstance(kind, type) and issubclass(kind, keras.Optimizer)
    if name not in {*_LEFT_OUT, _PLAIN_ONLY}
} | {
    "by-name": lambda rate: keras.SGD(learning_rate=rate),
    "computed": lambda rate: keras.SGD(rate / 2),
    "momentum": lambda rate: keras.SGD(rate, momentum=0.9),
    "nesterov": lambda rate: keras.SGD(rate, momentum=0.9, nesterov=True),
    "decay": lambda rate: keras.AdamW(rate, weight_decay=rate),
    "beta": lambda rate: keras.Adam(rate, beta_1=90 * rate),
    "centered": lambda rate: keras.RMSprop(rate, momentum=0.5, centered=True),
    "clipped": lambda rate: keras.SGD(rate, global_clipnorm=0.5),
    "schedule": lambda rate: keras.SGD(
        keras.schedules.PolynomialDecay(rate, 4, rate / 10)
    ),
}
# Keras makes a condition on variables of these, so each client goes alone.
ALONE: dict[str, Callable[[Any], Any]] = {
    "averaged": lambda rate: keras.SGD(rate, use_ema=True, ema_overwrite_frequency=2),
    "scaled": lambda rate: keras.LossScaleOptimizer(keras.SGD(rate)),
}


def training(
    optimizer: Callable[[Any], Any], is_inner: bool, variable: Any = tf.Variable
) -> Any:
    """Five steps on three variables, two of them of one shape."""

    def train(start: Any, rate: Any) -> Any:
        weights = [variable(part) for part in start]
        chosen = optimizer(rate)

        def step(weights: Any) -> None:
            with tf.GradientTape() as tape:
                matrix, bias, other = weights
                inner = tf.tanh(tf.linalg.matvec(tf.transpose(matrix), [0.5, -1.0]))
                loss = tf.reduce_sum((inner + bias - 1) ** 2)
                loss += 3 * tf.reduce_sum((other - bias) ** 2)
            gradients = tape.gradient(loss, weights)
            chosen.apply_gradients(zip(gradients, weights, strict=True))

        take = tf.function(step) if is_inner else step
        for _ in range(5):
            take(weights)
        return tuple(tf.convert_to_tensor(weight) for weight in weights)

    return train


def check(found: Any, expected: Any) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)


QUICK = {"SGD", "Adam", "Nadam", "momentum", "scaled"}
_needs_muon = pytest.mark.skipif(not hasattr(keras, "Muon"), reason="an older Keras")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else pytest.mark.thorough)
        for name in OPTIMIZERS | ALONE
    ],
)
def test_five_steps_are_those_of_plain_tensorflow(name: str) -> None:
    """The rate is a tensor here and a number there; in an inner function, and not."""
    optimizer = (OPTIMIZERS | ALONE)[name]
    train = training(optimizer, is_inner=False)
    expected = train(START, 0.01)
    twice = train(expected, 0.01)
    ours = fl.tf_computation(training(optimizer, is_inner=True), MODEL, F32)
    for _ in range(2):  # each call begins with new slots
        check(ours(START, 0.01), expected)
    of_all, rates = mapped(ours), fl.SequenceType(F32)
    folded = fl.federated_computation(
        lambda model, data: fl.sequence_reduce(data, model, ours), MODEL, rates
    )
    for fuse in (True, False):
        tape = fw.Tape()
        with local(tape=tape, fuse=fuse, support_sequence_ops=True):
            for client in of_all([(START, 0.01)] * 10):
                check(client, expected)
            together = sum(event.what == "batched_call" for event in tape)
            assert together == (fuse and name not in ALONE)
            check(folded(START, [0.01, 0.01]), twice)


@pytest.mark.parametrize(
    "name", ["Nadam", pytest.param(_PLAIN_ONLY, marks=pytest.mark.thorough)]
)
def test_steps_need_no_inner_function(name: str) -> None:
    if not hasattr(keras, name):
        pytest.skip("an older Keras")
    train = training(getattr(keras, name), is_inner=False)
    check(fl.tf_computation(train, MODEL, F32)(START, 0.01), train(START, 0.01))


@_needs_muon
def test_an_optimizer_for_variables_of_keras_takes_those() -> None:
    train = training(keras.Muon, False, tf.keras.Variable)
    check(fl.tf_computation(train, MODEL, F32)(START, 0.01), train(START, 0.01))
    returned = fl.tf_computation(lambda x: tf.keras.Variable(2 * x), F32)
    assert returned(1.5) == 3.0


@pytest.mark.parametrize("rate", [F32(0.5), np.array(0.5), 1], ids=type)
def test_whatever_is_a_number_may_be_a_rate(rate: Any) -> None:
    def step(x: Any) -> Any:
        weight = tf.Variable(x)
        keras.SGD(rate).apply_gradients([(tf.constant(1.0), weight)])
        return weight

    assert fl.tf_computation(step, F32)(3.0) == 3 - rate


SETTINGS: dict[str, Callable[[Any], Any]] = {
    "momentum": lambda r: keras.SGD(0.1, momentum=r),
    "momentum > 0": lambda r: keras.RMSprop(0.1, momentum=r),
    "clipnorm": lambda r: keras.SGD(0.1, clipnorm=r),
    "ema_momentum": lambda r: keras.SGD(0.1, use_ema=True, ema_momentum=r),
    "decay_steps": lambda r: keras.SGD(keras.schedules.CosineDecay(0.1, r)),
}
REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    **{name: (make, "momentum=0.9") for name, make in SETTINGS.items()},
    "legacy": (lambda r: keras.legacy.SGD(r), "without `legacy`"),
    "Muon": (lambda r: keras.Muon(r), "tf.keras.Variable"),
}


@pytest.mark.parametrize("is_inner", [False, True], ids=["plain", "tf.function"])
@pytest.mark.parametrize(
    "name", [*SETTINGS, "legacy", pytest.param("Muon", marks=_needs_muon)]
)
def test_what_keras_cannot_take_is_refused_with_a_cure(
    name: str, is_inner: bool
) -> None:
    optimizer, cure = REFUSED[name]
    with pytest.raises(TracingError) as caught:
        fl.tf_computation(training(optimizer, is_inner), MODEL, F32)
    assert cure in str(caught.value.do)
    assert "test_optimizers.py" in str(caught.value.where)


@_needs_muon
def test_a_variable_of_keras_is_not_handed_to_an_inner_function() -> None:
    with pytest.raises(TracingError, match="an inner function use a Keras variable"):
        fl.tf_computation(training(keras.Muon, True, tf.keras.Variable), MODEL, F32)


def test_outside_of_a_body_and_in_other_threads_keras_is_as_it_was() -> None:
    refused = []

    def elsewhere() -> None:
        try:
            keras.SGD(tf.constant(0.1))
        except ValueError as error:
            refused.append(error)

    def body(x: Any) -> Any:
        keras.SGD(x)
        thread = Thread(target=elsewhere)
        thread.start()
        thread.join()
        raise ArithmeticError  # also after an error, nothing is left

    with pytest.raises(ArithmeticError):
        fl.tf_computation(body, F32)
    elsewhere()
    assert len(refused) == 2
    assert "__init__" not in vars(keras.Optimizer)


def test_a_keras_that_is_built_otherwise_refuses_with_a_cure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keras.Optimizer, "__init__", keras.Optimizer.__init__)
    with pytest.raises(TracingError) as caught:
        fl.tf_computation(training(keras.SGD, False), MODEL, F32)
    assert caught.value.do == "write it as a function: SGD(lambda: learning_rate)"
