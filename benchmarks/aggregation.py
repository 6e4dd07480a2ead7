# SPDX-License-Identifier: Apache-2.0
"""W8: what aggregators cost: the robust rules beside NumPy, and the default mean.

The rules combine a hundred updates of the softmax model, placed. By hand, NumPy takes
the same hundred updates one by one: it stacks them, leaves out what is not finite, and
applies the rule.
"""

import statistics
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fedlearn_edu as fl
from benchmarks.measuring import take_turns
from fedlearn_edu.learning import aggregators, build_fed_avg, models

_BAD = 0.2
_TURNS, _SLOT_TURNS = 15, 100
_ROW_S = 5.0

Rows = NDArray[Any]


def measure(clients: int) -> dict[str, Any]:
    """For each rule and for the slot: seconds of ours, and of what it is beside."""
    return {"clients": clients, "rules": _rules(clients), "slot": _slot(clients)}


def _rules(clients: int) -> dict[str, dict[str, Any]]:
    bad, chance = int(_BAD * clients), np.random.default_rng(0)
    type_ = models.softmax_regression().weights_type
    updates = [
        OrderedDict(
            weights=chance.standard_normal((784, 10), np.float32),
            bias=chance.standard_normal(10, np.float32),
        )
        for _ in range(clients)
    ]
    data = fl.place(updates, fl.CLIENTS, type_)
    weights = fl.place([1.0] * clients, fl.CLIENTS, np.float32)
    calls: dict[tuple[str, str], Callable[[], Any]] = {}
    entries: dict[str, dict[str, Any]] = {}
    for factory, rule in (
        (aggregators.median(), partial(np.median, axis=0)),
        (aggregators.median(trim=0.1), partial(_trimmed_mean, share=0.1)),
        (aggregators.krum(bad), partial(_krum, bad=bad, selected=1)),
        (aggregators.multi_krum(bad), partial(_krum, bad=bad, selected=clients - bad)),
    ):
        made = factory(type_)
        ours = partial(made.next, made.initialize(), data, weights)
        by_hand = partial(_by_hand, updates, rule)
        found, name = ours().update, repr(factory)
        whole = np.concatenate([np.ravel(found["weights"]), found["bias"]])
        right = np.allclose(whole, by_hand(), rtol=1e-4, atol=1e-5)
        entries[name] = {"name": name, "right": bool(right)}
        calls |= {(name, "ours_s"): ours, (name, "by_hand_s"): by_hand}
    times = take_turns(calls, _TURNS, dict.fromkeys(calls, _ROW_S), "W8")
    for (name, what), found in times.items():
        entries[name][what] = statistics.median(found)
    return entries


def _slot(clients: int) -> dict[str, float]:
    """A round of FedAvg with `mean()` as its aggregator, and without an aggregator."""
    model, chance = models.softmax_regression(), np.random.default_rng(0)
    batch = {
        "x": chance.random((50, 784), np.float32),
        "y": chance.integers(0, 10, 50, np.int32),
    }
    batches = fl.SequenceType(model.batch_type)
    calls, data = {}, fl.place([[batch]] * clients, fl.CLIENTS, batches)
    for what, aggregator in (("with_s", aggregators.mean()), ("without_s", None)):
        process = build_fed_avg(model, aggregator=aggregator)
        calls[what] = partial(process.next, process.initialize(), data)
        calls[what]()
    times = take_turns(calls, _SLOT_TURNS, dict.fromkeys(calls, _ROW_S), "W8")
    return {what: statistics.median(found) for what, found in times.items()}


# ------------------------------------------------------------------ in NumPy


def _by_hand(updates: list[Any], rule: Callable[[Rows], Rows]) -> Rows:
    stacks = [np.stack([update[name] for update in updates]) for name in updates[0]]
    rows = np.concatenate([stack.reshape(len(updates), -1) for stack in stacks], 1)
    return rule(rows[np.isfinite(rows).all(axis=1)])


def _trimmed_mean(rows: Rows, share: float) -> Rows:
    cut = int(share * len(rows))
    kept: Rows = np.sort(rows, axis=0)[cut : len(rows) - cut]
    return np.asarray(kept.mean(axis=0))


def _krum(rows: Rows, bad: int, selected: int) -> Rows:
    wide = rows.astype(np.float64)
    squares, products = (wide * wide).sum(axis=1), wide @ wide.T
    distances = np.sort(squares[:, np.newaxis] + squares - 2 * products, axis=1)
    scores = distances[:, 1 : len(rows) - bad - 1].sum(axis=1)
    return np.asarray(rows[np.argsort(scores)[:selected]].mean(axis=0))
