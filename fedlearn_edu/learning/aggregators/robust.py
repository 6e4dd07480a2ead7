# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Robust rules: updates that a few bad clients cannot pull where they want.

Each rule compares the updates with one another, so the server sees every one of them:
`federated_collect` is in the program, where a mean has a sum. All clients count alike,
whatever their weights, since a bad client may claim any weight. A client with weight 0
takes no part, nor does one whose update has a number that is not finite; where none
takes part, the update is zero.

The rules are functions of all updates, stacked: tensors with one axis more in front.
"""

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import short_traceback, whole_number
from fedlearn_edu.learning.aggregators.base import (
    Aggregator,
    AggregatorFactory,
    AggregatorOutput,
    aggregation,
    stateless,
)
from fedlearn_edu.learning.aggregators.checks import call_of
from fedlearn_edu.learning.arrays import HAS_TENSORFLOW, leaf_computation, tf, zeros
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.optimizers import map_structure
from fedlearn_edu.rules import number

Rule = Callable[[list[Any]], list[Any]]
"""From the stacked tensors of at least one update to the tensors of one."""

_ALL = 2**31
_FAR = 1e150  # a product of two such numbers is still one


@short_traceback
def median(*, trim: float | None = None) -> AggregatorFactory:
    r"""The coordinate-wise median of the clients' updates, or a trimmed mean.

    $$\Delta_j = \mathrm{median}_k\, \Delta_{k,j}$$

    With an even number of clients it is the mean of the middle two, as in NumPy. It
    bears bad clients as long as they are fewer than half.

    With `trim` it is the mean without the largest and the smallest values. With n
    clients and $c = \lfloor \beta n \rfloor$, of the values in order
    $\Delta_{(1),j} \le \dots \le \Delta_{(n),j}$,

    $$\Delta_j = \frac{1}{n - 2c} \sum_{k=c+1}^{n-c} \Delta_{(k),j}$$

    With fewer than $1 / \beta$ clients none is left out: then, and for β = 0, it is the
    mean of clients that count alike, and bears no bad one.

    >>> import numpy as np
    >>> rule = median()(np.float32)
    >>> rule.next(rule.initialize(), [1.0, 3.0, -100.0], [1.0, 1.0, 1.0]).update
    np.float32(1.0)
    >>> rule = median(trim=0.25)(np.float32)
    >>> rule.next(rule.initialize(), [1.0, 2.0, 4.0, 90.0], [1.0] * 4).update
    np.float32(3.0)

    Args:
        trim: β, the share of the clients that is left out at *either* end; it should be
            at least the share of bad ones. `None` for the median.

    Raises:
        ProcessError: unless 0 <= trim < 0.5.

    Source: D. Yin et al., "Byzantine-Robust Distributed Learning: Towards Optimal
    Statistical Rates", ICML 2018, Options I and II; `scipy.stats.trim_mean`.
    """
    if trim is None:
        return _factory("median()", lambda stacks: list(map(_middle, stacks)))
    number(
        trim,
        "0 <= trim < 0.5",
        ProcessError,
        summary="a trimmed mean leaves out less than half of the values at either end",
        do="0.1 leaves out a tenth of the clients at either end, a fifth in all",
    )
    share = float(trim)
    rule = partial(_trimmed, share=share)
    name = call_of(median, trim=share)
    return _factory(name, lambda stacks: list(map(rule, stacks)))


def _middle(stack: Any) -> Any:
    rows = _rows(stack)
    count = tf.shape(rows)[0]
    # Half of a sort finds the lower one of the middle two. The other one is equal to
    # it, or the least of what is above.
    low = _nth(rows, (count - 1) // 2)
    above = tf.reduce_min(tf.where(rows > low, rows, np.inf), 0)
    upto = tf.reduce_sum(tf.cast(rows <= low, tf.int32), 0)
    high = tf.where(upto > count // 2, low, above)
    # NumPy adds the two first, and halves the sum.
    return tf.reshape((low + high) / 2, stack.shape[1:])


def _trimmed(stack: Any, share: float) -> Any:
    rows = _rows(stack)
    count = tf.shape(rows)[0]
    # The product may be a hair below the whole number that it stands for.
    cut = tf.cast(tf.cast(count, tf.float64) * share + 1e-9, tf.int32)
    # Two selections cost less than a sort: what is left out counts as the nearest value
    # that is not, and is then subtracted.
    low, high = _nth(rows, cut), _nth(rows, count - 1 - cut)
    total = tf.reduce_sum(tf.clip_by_value(rows, low, high), 0)
    left_out, kept = (tf.cast(n, rows.dtype) for n in (cut, count - 2 * cut))
    return tf.reshape((total - left_out * (low + high)) / kept, stack.shape[1:])


@short_traceback
def krum(num_byzantine: int) -> AggregatorFactory:
    r"""The one update that is nearest to its neighbours.

    With f bad clients of n, the score of client k adds up the squared distances to the
    n - f - 2 updates nearest to its own; the update with the least score is taken.

    $$s_k = \sum_{j \in N_k} \lVert \Delta_k - \Delta_j \rVert^2, \qquad
      \Delta = \Delta_{\arg\min_k s_k}$$

    All other clients' work is lost: where honest clients differ much, the model becomes
    that of a single client. `multi_krum` loses less.

    Args:
        num_byzantine: f, how many bad clients there may be in a round; n > 2f + 2.

    Raises:
        ProcessError: `num_byzantine` is no whole number of at least 0.
        ComputationFailedError: in a round, of too few clients.

    Source: P. Blanchard et al., "Machine Learning with Adversaries: Byzantine Tolerant
    Gradient Descent", NeurIPS 2017.
    """
    f = _whole(num_byzantine, "num_byzantine", 0)
    return _krum(call_of(krum, num_byzantine=f), f, 1)


@short_traceback
def multi_krum(
    num_byzantine: int, num_selected: int | None = None
) -> AggregatorFactory:
    """The mean of the updates with the least scores of `krum`.

    With no bad client, and all selected, it is the mean of clients that count alike.

    Args:
        num_byzantine: f, how many bad clients there may be in a round; n > 2f + 2.
        num_selected: m, of how many updates it is the mean; all but f by default. With
            more, bad ones may be among them.

    Raises:
        ProcessError: one of them is no whole number, f < 0, or m < 1.
        ComputationFailedError: in a round, of too few clients.

    Source: P. Blanchard et al., NeurIPS 2017.
    """
    f = _whole(num_byzantine, "num_byzantine", 0)
    if num_selected is not None:
        num_selected = _whole(num_selected, "num_selected", 1)
    name = call_of(multi_krum, num_byzantine=f, num_selected=num_selected)
    return _krum(name, f, num_selected)


def _krum(name: str, f: int, num_selected: int | None) -> AggregatorFactory:
    """The mean of the updates with the least scores; of all but f if it is `None`."""

    def rule(stacks: list[Any]) -> list[Any]:
        count = tf.shape(stacks[0])[0]
        _check_count(name, count, f, num_selected or 0)
        products = _products(stacks)
        squares = tf.linalg.diag_part(products)
        distances = squares[:, None] + squares - 2.0 * products
        distances = tf.maximum(distances, 0.0)  # those of equals are rounded
        # The nearest one is the client itself.
        nearest = tf.sort(distances)[:, 1 : count - f - 1]
        scores = tf.reduce_sum(nearest, 1)
        selected = count - f if num_selected is None else num_selected
        chosen = tf.argsort(scores, stable=True)[:selected]
        return [tf.reduce_mean(tf.gather(stack, chosen), 0) for stack in stacks]

    return _factory(name, rule)


def _factory(name: str, rule: Rule) -> AggregatorFactory:
    def build(update: fl.Type) -> Aggregator:
        initialize = stateless()
        sent = _build_sent(update)
        compare = _build_compare(update, rule)

        @aggregation(initialize, update)
        def next_update(state: Any, updates: Any, weights: Any) -> Any:
            entries = fl.federated_map(sent, [updates, weights]).update
            found = fl.federated_map(compare, fl.federated_collect(entries))
            return AggregatorOutput(state, found.update, found.metrics)

        return Aggregator(name, initialize, next_update, sees_single_updates=True)

    return AggregatorFactory(name, build)


def _build_sent(update: fl.Type) -> fl.Computation:
    """`(<UPDATE,float32> -> <update=<UPDATE,bool>>)`: with whether it has a weight."""

    @leaf_computation(update, np.float32)
    def sent(update: Any, weight: Any) -> Any:
        return OrderedDict(update=(update, weight > 0.0))

    return sent


def _build_compare(update: fl.Type, rule: Rule) -> fl.Computation:
    """`(<UPDATE,bool>* -> <update=UPDATE,metrics=<...>>)`."""
    entry = fl.to_type((update, np.bool_))
    metrics = OrderedDict(compared_clients=np.int32)
    result = fl.to_type(OrderedDict(update=update, metrics=metrics))

    @leaf_computation(fl.SequenceType(entry), result=result)
    def compare(entries: Any) -> Any:
        updates, takes_part = _stacked(entries, entry)
        stacks = tf.nest.flatten(updates)
        for stack in stacks:  # here, as a bad client would not tell
            is_finite = tf.reduce_all(_rows(tf.math.is_finite(stack)), 1)
            takes_part = tf.logical_and(takes_part, is_finite)
        stacks = [tf.boolean_mask(stack, takes_part) for stack in stacks]
        found = tf.cond(
            tf.reduce_any(takes_part),
            lambda: rule(stacks),
            lambda: [tf.zeros(s.shape[1:], s.dtype) for s in stacks],
        )
        count = tf.reduce_sum(tf.cast(takes_part, tf.int32))
        whole = tf.nest.pack_sequence_as(updates, found)
        return OrderedDict(update=whole, metrics=OrderedDict(compared_clients=count))

    return compare


def _stacked(entries: Any, entry: fl.Type) -> Any:
    """All elements of a sequence as one, with one axis more in front."""
    if not HAS_TENSORFLOW:
        return map_structure(_stack, zeros(entry), *entries)
    spec = entries.element_spec
    none = map_structure(lambda s: tf.zeros([0, *s.shape], s.dtype), spec)
    batches = entries.batch(_ALL).concatenate(tf.data.Dataset.from_tensors(none))
    return batches.take(1).get_single_element()


def _stack(like: Any, *arrays: Any) -> Any:
    return np.array(arrays, like.dtype).reshape([len(arrays), *like.shape])


def _rows(stack: Any) -> Any:
    """One row per client, with all its weights of the tensor."""
    size = int(np.prod(stack.shape[1:]))
    return tf.reshape(stack, [tf.shape(stack)[0], size])


def _nth(rows: Any, n: Any) -> Any:
    """The value at place n of each column in ascending order; the first place is 0."""
    return tf.raw_ops.NthElement(input=tf.transpose(rows), n=n)


def _products(stacks: list[Any]) -> Any:
    """`float64[n,n]`, the inner product of each update with each, on some scale.

    Distances are small differences of large products, and bad updates may be so long
    that their squares overflow: they stay far away, and honest ones set the unit.
    """
    some = [stack for stack in stacks if 0 not in stack.shape[1:]]
    rows = [_rows(tf.cast(stack, tf.float64)) for stack in some]
    largest = tf.reduce_max(tf.stack([tf.reduce_max(tf.abs(r), 1) for r in rows]), 0)
    usual = _nth(tf.reshape(largest, [-1, 1]), tf.size(largest) // 2)
    unit = tf.where(usual > 0.0, usual, tf.ones_like(usual))
    units = [tf.maximum(tf.minimum(row / unit, _FAR), -_FAR) for row in rows]
    return tf.add_n([tf.matmul(row, row, transpose_b=True) for row in units])


def _check_count(name: str, count: Any, f: int, num_selected: int) -> None:
    """Fails in a round with too few clients, which is known only then."""
    least, why = 2 * f + 3, f"n > 2 * {f} + 2"
    if num_selected > least:
        least, why = num_selected, f"n >= {num_selected}"
    tf.debugging.Assert(
        count >= least,
        [
            f"{name} has too few clients in this round",
            f"expected: {why} clients with examples",
            tf.strings.format("found: n = {}", count),
            f"do: let at least {least} clients take part, or allow for fewer bad ones",
        ],
    )


def _whole(number: object, name: str, least: int) -> int:
    """A number of clients or steps; `ProcessError` unless it can be one."""
    return whole_number(number, name, least, ProcessError, found=repr(number))
