# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""An attack as an object, and the clients that it is put on.

An `Attack` is two functions: one changes labels before a client trains, the other its
update before it is sent. `poison` writes them into the program of a learning process,
which from then on takes one more argument: who attacks.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.attacks.errors import AttackError
from fedlearn_edu.errors import describe, is_whole_number, short_traceback
from fedlearn_edu.learning import LearningProcess
from fedlearn_edu.learning.arrays import (
    inside,
    leaf_computation,
    local_computation,
    map_sequence,
    tf,
)
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.pytree import flatten, rebuild
from fedlearn_edu.learning.rounds import Poison, Round


@final
@dataclass(frozen=True, eq=False)
class Known:
    """What an attacker knows when it makes up its update: nothing of other clients.

    Attributes:
        update: what it would send if it were honest.
        weight: `float32`, what its update weighs in the mean.
        weights: of the server's model, at the beginning of the round.
        round_number: `int32`, rounds finished.
        attacker: `int32`, its number among the attackers, from 1 on.
    """

    update: Any
    weight: Any
    weights: Any
    round_number: Any
    attacker: Any


@final
@dataclass(frozen=True, repr=False)
class Attack:
    """What a malicious client does in place of honest work.

    Attributes:
        name: the call that makes it, `"sign_flip(times=5)"`.
        update: from what is `Known` to the update that is sent; `None` if it stays.
        labels: from y and the number of classes to the labels that are learned; `None`
            if they stay.

    Both functions are called in the body of a `tf_computation`.

    >>> stuck = Attack(
    ...     "stuck",
    ...     update=lambda known: {
    ...         name: 0.0 * change for name, change in known.update.items()
    ...     },
    ... )
    >>> stuck.on([3, 1])
    stuck.on([1, 3])
    """

    name: str
    update: Callable[[Known], Any] | None = None
    labels: Callable[[Any, int], Any] | None = None

    @short_traceback
    def on(self, clients: Iterable[int]) -> "Attackers":
        """The clients that attack, by their positions in the data.

        Raises:
            AttackError: if there is none, or one is no position.
        """
        given: Any = clients
        chosen = tuple(given) if isinstance(given, Iterable) else ()
        if not chosen or not all(is_whole_number(client, 0) for client in chosen):
            raise AttackError(
                "an attack is made by clients",
                expected="the positions of one or more clients, such as [0, 1]",
                found=describe(clients),
                where=f"{self}.on(…)",
                do="count from 0, in the order of the data; without attackers, learn "
                "with the process as it is",
            )
        return Attackers(self, tuple(sorted({int(client) for client in chosen})))

    def __repr__(self) -> str:
        return self.name


@final
@dataclass(frozen=True, repr=False)
class Attackers:
    """An attack and who makes it; `Attack.on` returns one.

    Attributes:
        attack: what they do.
        clients: their positions in the data, in ascending order.
    """

    attack: Attack
    clients: tuple[int, ...]

    def __repr__(self) -> str:
        return f"{self.attack}.on({list(self.clients)})"


@short_traceback
def poison(process: LearningProcess, attackers: Attackers) -> LearningProcess:
    """The process with an attack in its program.

    Its `next` takes one more argument, `{int32}@CLIENTS`: 0 for an honest client, and
    for attackers their number, from 1 on. `learning.run` supplies it for the clients of
    each round. Initial weights, metrics and the aggregator stay.

    >>> import fedlearn_edu as fl
    >>> model = fl.learning.models.softmax_regression(features=2, classes=2)
    >>> process = fl.learning.build_fed_avg(model, client_learning_rate=0.5)
    >>> backwards = Attack(
    ...     "backwards",
    ...     update=lambda known: {
    ...         name: -change for name, change in known.update.items()
    ...     },
    ... )
    >>> process = poison(process, backwards.on([1]))
    >>> batch = {"x": [[0.0, 1.0], [1.0, 0.0]], "y": [0, 1]}
    >>> learned = fl.learning.run(process, [[batch], [batch]], rounds=3)
    >>> learned.weights["weights"].tolist()
    [[0.0, 0.0], [0.0, 0.0]]

    Raises:
        AttackError: if clients of this process send no updates to be averaged
            (SCAFFOLD), or are attackers already; or if labels are to be changed where
            there are no classes.
    """
    _check_attackers(attackers)
    honest = _place_in(process)
    poisoned = replace(honest, poison=_written(process.model, attackers))
    settings = f"{process.settings}, under {attackers}"
    return replace(process, settings=settings, next=poisoned.program(), round=poisoned)


def _check_attackers(attackers: object) -> None:
    if not isinstance(attackers, Attackers):
        raise AttackError(
            "nobody was said to attack",
            expected="an attack on clients, such as attacks.sign_flip(times=5).on([0])",
            found=describe(attackers),
            where="attackers",
            do="attack.on([0, 1]) says which clients attack",
        )


def _place_in(process: Any) -> Round:
    """The parts of the process's round, if its clients keep nothing."""
    parts = process.round if isinstance(process, LearningProcess) else None
    if parts is None or parts.poison or process.keeps_client_states:
        raise AttackError(
            "there is no place for attackers in this",
            expected="a process of build_fed_avg, or another one that averages updates",
            found=describe(process),
            where="process",
            do="poison a process once; its clients keep nothing (as in SCAFFOLD)",
        )
    return parts


def _written(model: Model, attackers: Attackers) -> Poison:
    """The attack's functions as computations."""
    attack = attackers.attack
    return Poison(
        attackers.clients,
        data=None if attack.labels is None else _data(model, attack),
        update=None if attack.update is None else _update(model, attack),
    )


def _data(model: Model, attack: Attack) -> fl.Computation:
    """`(<BATCH*,int32> -> BATCH*)`."""
    classes, labels = model.classes, attack.labels
    if classes is None or labels is None:
        raise AttackError(
            "labels can be changed where there are labels",
            expected="a model with classes",
            found=model.name,
            where=attack.name,
        )

    @leaf_computation(model.batch_type, np.int32)
    def relabel(batch: Any, attacker: Any) -> Any:
        y, known = batch["y"], tf.constant(model.labels)
        is_label = tf.cast(tf.equal(y[..., None], known), tf.int32)
        position = tf.argmax(is_label, -1, tf.int32)
        changed = tf.gather(known, labels(position, len(model.labels)))
        return {**batch, "y": tf.where(attacker > 0, changed, y)}

    relabel_one = inside(relabel)

    def change(batches: Any, attacker: Any) -> Any:
        return map_sequence(lambda batch: relabel_one(batch, attacker), batches)

    batches = fl.SequenceType(model.batch_type)
    named = _named(change, attack)
    made: fl.Computation = local_computation(named, batches, np.int32, result=batches)
    return made


def _update(model: Model, attack: Attack) -> fl.Computation:
    """`(<UPDATE,float32,WEIGHTS,int32,int32> -> UPDATE)`."""
    update = attack.update

    def change(
        honest: Any, weight: Any, weights: Any, round_number: Any, attacker: Any
    ) -> Any:
        assert update is not None
        known = Known(honest, weight, weights, round_number, attacker)
        return tf.cond(
            attacker > 0, lambda: in_form_of(honest, update(known)), lambda: honest
        )

    weights = model.weights_type
    types = weights, np.float32, weights, np.int32, np.int32
    made: fl.Computation = leaf_computation(_named(change, attack), *types)
    return made


def in_form_of(honest: Any, made_up: Any) -> Any:
    """What an attacker made up, in the structure of the honest weights or update."""
    shapes, found = map(_shapes, (honest, made_up))
    if found != shapes:
        raise AttackError(
            "an attacker sends what an honest client would send, with other numbers",
            expected=str(shapes),
            found=str(found),
        )
    return rebuild(honest, flatten(made_up))


def _shapes(weights: Any) -> dict[str, list[int]]:
    return {path: [*np.shape(leaf)] for path, leaf in sorted(flatten(weights).items())}


def _named(function: Any, attack: Attack) -> Any:
    """The function under the attack's name, which pictures and logs show."""
    function.__name__ = function.__qualname__ = attack.name.partition("(")[0]
    return function
