# SPDX-License-Identifier: Apache-2.0
"""Poison in a process: what is sent, who sends it, and where it can be seen."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import attacks
from fedlearn_edu.attacks import Attack
from fedlearn_edu.learning.aggregators import gaussian
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.simulation import ClientSampling
from tests.learning.runs import as_array, assert_close, call, stack_named
from tests.learning.runs import model as small_model

pytestmark = pytest.mark.tensorflow

EXAMPLES = (6, 2, 4, 3)
TARGET = {"bias": np.array([0.0, 9.0, 0.0]), "weights": np.ones((3, 3))}
QUIETLY = fl.learning.Options(progress=False)


def clients() -> list[Any]:
    chance = np.random.default_rng(5)
    return [
        [
            OrderedDict(
                x=chance.standard_normal((half, 3)).astype(np.float32),
                y=chance.integers(0, 3, half).astype(np.int32),
            )
            for half in (size // 2, size - size // 2)
        ]
        for size in EXAMPLES
    ]


DATA = clients()


def honest() -> LearningProcess:
    return fl.learning.build_fed_avg(small_model(), 0.3)


def flipped(client: Any) -> Any:
    return [OrderedDict(x=batch["x"], y=2 - batch["y"]) for batch in client]


def update_of(client: Any) -> Any:
    """What a client sends in the first round; the server begins with zero weights."""
    process = honest()
    state, _ = process.next(process.initialize(), [client])
    return as_array(state.weights)


BY_HAND: dict[str, tuple[Attack, Callable[[Any], Any]]] = {
    "label flip": (attacks.label_flip(), lambda k: update_of(flipped(DATA[k]))),
    "sign flip": (attacks.sign_flip(times=5), lambda k: -5.0 * update_of(DATA[k])),
    "free rider": (attacks.free_rider(), lambda k: np.zeros((4, 3))),
    "model replacement": (
        attacks.model_replacement(TARGET, total_weight=15),
        lambda k: 15 / EXAMPLES[k] * as_array(TARGET),
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_attackers_send_what_the_formula_says_and_nobody_else(name: str) -> None:
    attack, by_hand = BY_HAND[name]
    stack = stack_named("local-tensorflow-sequence")
    process = attacks.poison(honest(), attack.on([3, 1]))
    begin = call(stack, process.initialize)
    state, metrics = call(stack, process.next, begin, DATA, [0, 1, 0, 2])
    sent = [by_hand(k) if k in (1, 3) else update_of(DATA[k]) for k in range(4)]
    assert_close(as_array(state.weights), np.average(sent, axis=0, weights=EXAMPLES))
    assert metrics["clients"] == 4
    # With honest clients only, it is the round without the attack, bit by bit.
    quiet, _ = call(stack, process.next, begin, DATA, [0, 0, 0, 0])
    plain, _ = call(stack, honest().next, begin, DATA)
    assert (as_array(quiet.weights) == as_array(plain.weights)).all()


def test_noise_is_as_long_as_said_and_everybodys_own() -> None:
    process = attacks.poison(
        fl.learning.build_fed_avg(fl.learning.models.softmax_regression(900, 3), 1.0),
        attacks.gaussian(times=10, seed=4).on([0, 1]),
    )
    batch = {"x": np.full((1, 900), 0.1, np.float32), "y": np.array([1], np.int32)}
    start = process.initialize()
    after, _ = process.next(start, [[batch]], [0])
    honest = as_array(after.weights)
    noise = []
    for state, attacker in ((start, 1), (start, 1), (start, 2), (after, 1)):
        moved, _ = process.next(state, [[batch]], [attacker])
        noise.append(as_array(moved.weights) - as_array(state.weights))
    first, again, other, later = noise
    assert (first == again).all()
    assert np.linalg.norm(first) == pytest.approx(10 * np.linalg.norm(honest), rel=0.1)
    for different in (other, later):
        assert abs(np.corrcoef(first.ravel(), different.ravel())[0, 1]) < 0.1


@pytest.mark.parametrize(
    "attack", [attacks.label_flip(), attacks.free_rider(noise=0.5, seed=2)], ids=str
)
def test_stacks_agree_on_an_attack(attack: Attack) -> None:
    process, found = attacks.poison(honest(), attack.on([0, 3])), []
    for name in ("reference", "stepwise", "composing-2-tensorflow"):
        stack = stack_named(name)
        begin = call(stack, process.initialize)
        state, _ = call(stack, process.next, begin, DATA, [1, 0, 0, 2])
        found.append(as_array(state.weights))
    for weights in found[1:]:
        assert_close(weights, found[0])


def test_labels_that_are_not_counted_from_0_are_flipped_too() -> None:
    line = fl.learning.models.linear_regression(3)

    def hinge(score: Any, y: Any) -> Any:
        return fl.tf.nn.relu(1.0 - fl.tf.cast(y, fl.tf.float32) * score)

    signs = (line.initialize, line.predict, hinge, 3, (-1, 1))
    process = fl.learning.build_fed_avg(fl.learning.models.Model("signs", *signs))
    y = np.array([-1, 1, 1], np.int32)
    batch, other = ({"x": np.eye(3, dtype=np.float32), "y": y} for y in (y, -y))
    poisoned = attacks.poison(process, attacks.label_flip().on([0]))
    found, _ = poisoned.next(poisoned.initialize(), [[batch]], [1])
    expected, _ = process.next(process.initialize(), [[other]])
    np.testing.assert_array_equal(found.weights["weights"], expected.weights["weights"])


def test_run_marks_the_attackers_of_each_cohort() -> None:
    """Positions in a cohort are not the numbers of clients."""
    process = attacks.poison(honest(), attacks.free_rider().on([2]))
    sampling = ClientSampling(count=1, seed=0)
    drawn = [sampling.draw(number, EXAMPLES).finished for number in range(1, 13)]
    assert 0 < drawn.count((2,)) < 12
    run = fl.learning.run(process, DATA, 12, client_sampling=sampling, options=QUIETLY)
    idle = [norm == 0 for norm in run.history["update_norm"]]
    assert idle == [cohort == (2,) for cohort in drawn]


def test_round_that_nobody_came_to_has_no_attacker() -> None:
    noisy = fl.learning.build_fed_avg(
        small_model(), 0.3, aggregator=gaussian(1.0, 0.1, 1.0)
    )
    run = fl.learning.run(
        attacks.poison(noisy, attacks.sign_flip().on([0])),
        DATA,
        2,
        client_sampling=ClientSampling(probability=1e-9),
        options=QUIETLY,
    )
    assert run.history["clients"].tolist() == [0, 0]


def test_attack_is_in_the_settings_the_picture_the_tape_and_the_bytes() -> None:
    from fedlearn_edu import viz
    from tests.viz.drawn_text import drawn_texts

    process = attacks.poison(honest(), attacks.sign_flip(times=5).on([0, 1]))
    assert process.settings.endswith(", under sign_flip(times=5).on([0, 1])")
    assert "{int32}@CLIENTS" in str(process.next.type_signature)
    texts = [text.get_text() for text, _ in drawn_texts(viz.draw_graph(process.next))]
    assert any("sign_flip" in text for text in texts)
    assert any("attackers" in text for text in texts)
    with fl.record() as tape:
        process.next(process.initialize(), DATA, [1, 2, 0, 0])
    assert any("sign_flip" in str(event) for event in tape.events)
