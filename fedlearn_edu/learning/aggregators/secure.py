# SPDX-License-Identifier: Apache-2.0
"""A mean by secure sums: the server learns sums, and no client's update."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.learning.aggregators.base import (
    Aggregator,
    AggregatorFactory,
    AggregatorOutput,
    aggregation,
    at_each,
    stateless,
)
from fedlearn_edu.learning.aggregators.checks import call_of, check_positive
from fedlearn_edu.learning.arrays import tf, zeros
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.optimizers import map_structure
from fedlearn_edu.learning.pytree import flatten, rebuild
from fedlearn_edu.rules import number

_MAX_BITS = 32
_MAX_EXAMPLES = 2**30  # times a q of 32 bits: 62 bits, the most that a secure sum takes
_ANY_NUMBER = 2**61


@short_traceback
def secure_mean(
    clip: float, *, bits: int = 16, max_examples: int = 2**20
) -> AggregatorFactory:
    r"""The weighted mean of updates that the server never sees: it adds up integers.

    Every number $x$ of an update is clipped to $[-C, C]$, and sent as the nearest step
    of that range:

    $$q = \mathrm{round}\bigl((\min(\max(x, -C), C) + C) / s\bigr), \qquad
      s = 2 C / (2^b - 1)$$

    Client k sends $n_k q$ and its weight $n_k$, rounded to a whole number, by
    `federated_secure_sum`. The server computes
    $s \sum_k n_k q_k / \sum_k n_k - C$. Each q is wrong by at most s/2, so the sum of
    n updates is by at most $n s / 2$ per weight of the model, and their mean by at most
    $s / 2$, whatever the weights; both beside the rounding to the type of the update.

    `(<<>@SERVER,{UPDATE}@CLIENTS,{float32}@CLIENTS> ->
    <<>@SERVER,UPDATE@SERVER,METRICS@SERVER>)`. METRICS are `saturated_share`, how many
    numbers are outside the range, weighted alike, and `quantization_step`, s.

    >>> import numpy as np
    >>> secure = secure_mean(clip=1.0, bits=8)(np.float32)
    >>> output = secure.next(secure.initialize(), [0.5, -0.25, 7.0], [1.0, 1.0, 2.0])
    >>> abs(output.update - 2.25 / 4) <= output.metrics["quantization_step"] / 2
    np.True_

    Args:
        clip: C, the largest absolute value of a number that is not changed.
        bits: b, of each q, 1 to 32.
        max_examples: The greatest weight of a client, up to 2**30.

    Raises:
        ProcessError: if a number is out of its range.
        InputRangeError: when it runs, if a client weighs more than `max_examples`, or
            its update has NaN.
        ComputationFailedError: when it runs, if all weigh so much that a sum could
            wrap around: with 32 bits, more than 2**31 examples.

    Source: K. Bonawitz et al., "Practical Secure Aggregation for Privacy-Preserving
    Machine Learning", CCS 2017; `tff.learning.secure_aggregator` and
    `tff.aggregators.SecureSumFactory`.
    """
    check_positive("clip", clip, do="1.0; no rule goes inside, as masks hide updates")
    _check_whole_number("bits", bits, _MAX_BITS)
    _check_whole_number("max_examples", max_examples, _MAX_EXAMPLES)
    name = call_of(secure_mean, clip=float(clip), bits=bits, max_examples=max_examples)
    coder = _Coder(float(clip), 2 ** int(bits) - 1)
    most = coder.steps * int(max_examples)

    def build(update: fl.Type) -> Aggregator:
        initialize = stateless()
        dtypes = {path: x.dtype for path, x in flatten(zeros(update)).items()}

        def decode(total: Any, weight: Any, saturated: Any) -> Any:
            return coder.decode(total, weight, saturated, dtypes)

        @aggregation(initialize, update)
        def next_secure(state: Any, updates: Any, weights: Any) -> Any:
            encoded = at_each(coder.encode, updates, weights)
            total = fl.federated_secure_sum(encoded.update, most)
            weight = fl.federated_secure_sum(encoded.weight, int(max_examples))
            saturated = fl.federated_secure_sum(encoded.saturated, _ANY_NUMBER)
            output = at_each(decode, total, weight, saturated)
            return AggregatorOutput(state, output.update, output.metrics)

        return Aggregator(name, initialize, next_secure)

    return AggregatorFactory(name, build)


@final
@dataclass(frozen=True)
class _Coder:
    """Numbers as whole steps of a range, and back.

    Attributes:
        clip: the range is from `-clip` to `clip`.
        steps: how many steps it has.
    """

    clip: float
    steps: int

    @property
    def step(self) -> float:
        """How long a step is."""
        return 2.0 * self.clip / self.steps

    def encode(self, update: Any, weight: Any) -> Any:
        """What a client adds to the sums, all of it whole numbers."""
        weight = tf.cast(tf.round(weight), tf.int64)
        outside = sum(
            tf.math.count_nonzero(tf.abs(x) > self.clip)
            for x in tf.nest.flatten(update)
        )
        return OrderedDict(
            update=map_structure(lambda x: weight * self._nearest(x), update),
            weight=weight,
            saturated=weight * outside,
        )

    def _nearest(self, x: Any) -> Any:
        x = tf.cast(x, tf.float64)
        steps = (tf.clip_by_value(x, -self.clip, self.clip) + self.clip) / self.step
        # -1 is out of range: a secure sum refuses it.
        refused = -tf.ones_like(x)
        return tf.cast(tf.where(tf.math.is_nan(x), refused, tf.round(steps)), tf.int64)

    def decode(self, total: Any, weight: Any, saturated: Any, dtypes: Any) -> Any:
        """The mean, in these types by path, and the metrics, from sums."""
        self._check_total(weight)
        weight = tf.cast(weight, tf.float64)
        sums = flatten(total)
        numbers = sum(int(np.prod(x.shape)) for x in sums.values())
        means = {
            path: tf.cast(
                self.step * tf.cast(steps, tf.float64) / weight - self.clip,
                dtypes[path],
            )
            for path, steps in sums.items()
        }
        share = tf.cast(saturated, tf.float64) / (weight * numbers)
        metrics = OrderedDict(
            saturated_share=tf.cast(share, tf.float32),
            quantization_step=tf.constant(self.step, tf.float32),
        )
        return OrderedDict(update=rebuild(total, means), metrics=metrics)

    def _check_total(self, examples: Any) -> None:
        """Fails in a round whose sums may have wrapped around."""
        most = (2**63 - 1) // self.steps
        why = "a sum in this round may need more than the 63 bits that there are"
        expected = f"expected: at most {most:,} examples"
        found = tf.strings.format("found: {} examples", examples)
        cure = "do: let fewer clients take part, or send fewer bits"
        tf.debugging.Assert(examples <= most, [why, expected, found, cure])


def _check_whole_number(name: str, x: object, most: int) -> None:
    summary = f"secure sums have 62 bits, of which {name} takes a part"
    rule = f"1 <= {name} <= {most}, a whole number"
    number(x, rule, ProcessError, summary=summary)
