# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Compression: clients send fewer bytes, and the server decodes while it adds up.

A client's encoded update is what crosses to the server, in the program's types and on a
tape. The function that `federated_aggregate` accumulates with decodes it, so that the
server keeps one sum and no single update. Metrics of a round are
`sent_bytes_per_client`, of an encoded update, and `full_bytes_per_client`, of a plain
one. The update of a round without clients is zero.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import is_whole_number, short_traceback
from fedlearn_edu.learning.aggregators.base import (
    Aggregator,
    AggregatorFactory,
    AggregatorOutput,
    AggregatorOutputWithClients,
    aggregation,
    at_each,
    stateless,
    zero,
)
from fedlearn_edu.learning.aggregators.checks import call_of, check_seed
from fedlearn_edu.learning.aggregators.private import first_noise, next_noise
from fedlearn_edu.learning.arrays import largest_of, leaf_computation, tf, zeros
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.optimizers import map_structure
from fedlearn_edu.learning.pytree import flatten
from fedlearn_edu.rules import number

Tensors = Sequence[Any]
_WORD = 16


@final
@dataclass(frozen=True)
class _Code:
    """How an update is sent, as a list of `float32` tensors.

    Attributes:
        encode: what a client sends of its tensors, with the state of the drawing.
        decode: the tensors that the server reads, for those of the update's shapes.
        seed: of the drawing in `encode`; `None` if nothing is drawn.
        remembers: whether a client adds what it has not sent to its next update.
    """

    encode: Callable[[Tensors, Any], Any]
    decode: Callable[[Any, Tensors], Tensors]
    seed: int | None = None
    remembers: bool = False


@short_traceback
def quantize(bits: int = 8, *, seed: int = 0) -> AggregatorFactory:
    r"""The mean of updates that are rounded at random to few levels, without bias.

    With $s = 2^{b-1} - 1$ and the largest magnitude $m$ in a tensor, a client sends
    $m$ and, for every weight $x$, the level

    $$q = \lfloor t \rfloor + [u < t - \lfloor t \rfloor], \qquad t = s\,x / m$$

    with $u$ uniform in [0, 1). The server reads $m q / s$, whose mean is $x$, and whose
    variance is at most $(m / 2s)^2$. The levels of b bits are packed into words of 16.

    What is drawn follows from the seed, the number of the round and a hash of the
    client's update: the same on every run, and independent for clients whose updates
    differ in anything, such as the sign, the order or the scale. Clients with one and
    the same update round it alike.

    Args:
        bits: b, for each weight: 2, 4, 8 or 16. With 2 the levels are -1, 0 and 1.
        seed: Of the rounding.

    Raises:
        ProcessError: for another number of bits, or a seed that is no whole number.

    Source: D. Alistarh et al., "QSGD: Communication-Efficient SGD via Gradient
    Quantization and Encoding", NeurIPS 2017, whose analysis has the L2 norm for m, and
    whose levels are sent in a code of variable length.
    """
    if not (is_whole_number(bits) and bits in (2, 4, 8, 16)):
        raise ProcessError(
            "levels are packed into words of 16 bits",
            expected="bits=2, 4, 8 or 16",
            found=repr(bits),
            where="bits",
            do="8 bits take a quarter of the bytes of float32",
        )
    check_seed(seed)
    bits = int(bits)
    most = 2 ** (bits - 1) - 1

    def encode(tensors: Tensors, drawing: Any) -> Any:
        scales = [largest_of([tensor]) for tensor in tensors]
        units = [
            tf.math.divide_no_nan(x, m) for x, m in zip(tensors, scales, strict=True)
        ]
        own = tf.cast(drawing.seed, tf.int64) + _hash(units, scales)
        first = tf.cast(drawing.round_number, tf.int64) * len(units)
        words = [
            _pack(_rounded(unit * most, [own, first + i]) + most, bits)
            for i, unit in enumerate(units)
        ]
        return OrderedDict(scales=tf.stack(scales), words=tuple(words))

    def decode(sent: Any, like: Tensors) -> Tensors:
        return [
            tf.cast(_unpack(words, bits, t) - most, tf.float32)
            / most
            * sent["scales"][i]
            for i, (words, t) in enumerate(zip(sent["words"], like, strict=True))
        ]

    return _factory(
        call_of(quantize, bits=bits, seed=seed), _Code(encode, decode, int(seed))
    )


@short_traceback
def top_k(share: float = 0.1, *, error_feedback: bool = False) -> AggregatorFactory:
    r"""The mean of updates of which each client sends the largest weights only.

    With d weights in all, a client sends the $k = \lceil \alpha d \rceil$ of largest
    magnitude, and where they stand; the server reads zero for all others. So the update
    is too small, and weights that always change little never change at all: there is a
    bias, unlike in `quantize`. A share of 1 gives the mean.

    With error feedback a client keeps a memory $m_k$ of what it has not sent, and adds
    it to its next update:

    $$s_k = \mathrm{top}_k(m_k + \Delta_k), \qquad m_k \leftarrow m_k + \Delta_k - s_k$$

    So all that it ever sent and what it keeps are all its updates together: weights
    that always change little change later. It takes clients that come back. The memory
    is a part of `Run.client_states`, and begins at zero; one without examples keeps its
    own. Such an aggregator goes into no other one.

    Args:
        share: α, of the weights; each one sent costs 8 bytes, a plain one 4.
        error_feedback: Whether clients keep what they have not sent.

    Raises:
        ProcessError: unless 0 < share <= 1.

    Source: S. Stich et al., "Sparsified SGD with Memory", NeurIPS 2018.
    """
    number(
        share,
        "0 < share <= 1",
        ProcessError,
        summary="top_k sends a share of an update's weights",
        do="0.01 sends one weight of a hundred, and saves 98 % of the bytes",
    )
    share, error_feedback = float(share), bool(error_feedback)

    def encode(tensors: Tensors, drawing: Any) -> Any:
        flat = tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], 0)
        # The product may be a hair above the whole number that it stands for.
        k = int(np.ceil(share * flat.shape[0] - 1e-9))
        # NaN comes first: the mean has to show it.
        size = tf.where(tf.math.is_nan(flat), np.inf, tf.abs(flat))
        _, places = tf.math.top_k(size, k)
        return OrderedDict(values=tf.gather(flat, places), places=places)

    def decode(sent: Any, like: Tensors) -> Tensors:
        sizes = [int(np.prod(t.shape)) for t in like]
        flat = tf.scatter_nd(sent["places"][:, None], sent["values"], [sum(sizes)])
        parts = zip(tf.split(flat, sizes), like, strict=True)
        return [tf.reshape(part, t.shape) for part, t in parts]

    name = call_of(top_k, share=share, error_feedback=error_feedback)
    return _factory(name, _Code(encode, decode, remembers=error_feedback))


def _factory(name: str, code: _Code) -> AggregatorFactory:
    def build(update: fl.Type) -> Aggregator:
        initialize = stateless() if code.seed is None else first_noise(code.seed)
        state_type: Any = initialize.type_signature.result
        encode = _build_encode(update, state_type.member, code)
        sent_type: Any = encode.type_signature.result
        mean = _build_sum(update, sent_type["sent"], code)
        metrics = OrderedDict(
            sent_bytes_per_client=_size(sent_type["sent"]),
            full_bytes_per_client=_size(update),
        )

        def combine(state: Any, updates: Any, weights: Any, memory: Any) -> Any:
            own = (weights, memory) if code.remembers else ((), ())
            drawing: Any = ()
            if code.seed is not None:
                drawing = fl.federated_broadcast(state)
                state = at_each(next_noise, state)
            done = fl.federated_map(encode, [updates, drawing, *own])
            sizes = fl.federated_value(metrics, fl.SERVER)
            combined = mean(done["sent"], weights)
            return AggregatorOutputWithClients(state, combined, sizes, done["memory"])

        if code.remembers:
            remembering = aggregation(initialize, update, update)(combine)
            empty = zero(update)
            return Aggregator(name, initialize, remembering, initialize_client=empty)

        @aggregation(initialize, update)
        def next_update(state: Any, updates: Any, weights: Any) -> Any:
            return AggregatorOutput(*combine(state, updates, weights, ())[:3])

        return Aggregator(name, initialize, next_update)

    return AggregatorFactory(name, build)


def _build_encode(update: fl.Type, drawing: fl.Type, code: _Code) -> fl.Computation:
    """`(<UPDATE,DRAWING,float32,UPDATE> -> <sent=SENT,memory=UPDATE>)`, of one client.

    `DRAWING` is `<>` if nothing is drawn; weight and memory are if it keeps nothing.
    """
    own = (np.float32, update) if code.remembers else ((), ())

    @leaf_computation(update, drawing, *own)
    def encode(update: Any, drawing: Any, weight: Any, memory: Any) -> Any:
        tensors, before = tf.nest.flatten(update), tf.nest.flatten(memory)
        if code.remembers:
            tensors = [m + u for m, u in zip(before, tensors, strict=True)]
        sent = code.encode([tf.cast(t, tf.float32) for t in tensors], drawing)
        if code.remembers:
            read = code.decode(sent, tensors)
            after = [
                tf.where(weight > 0.0, t - tf.cast(r, t.dtype), m)
                for t, r, m in zip(tensors, read, before, strict=True)
            ]
            memory = tf.nest.pack_sequence_as(update, after)
        return OrderedDict(sent=sent, memory=memory)

    return encode


def _build_sum(update: fl.Type, sent: fl.Type, code: _Code) -> Callable[..., Any]:
    """`(<{SENT}@CLIENTS,{float32}@CLIENTS> -> UPDATE@SERVER)`: the mean, in a body."""
    total_type = fl.to_type(OrderedDict(update=update, weight=np.float32))

    entry_type = fl.to_type((sent, np.float32))

    @leaf_computation(total_type, entry_type, result=total_type)
    def accumulate(total: Any, entry: Any) -> Any:
        (encoded, weight) = entry
        sums = tf.nest.flatten(total["update"])
        pairs = zip(sums, code.decode(encoded, sums), strict=True)
        sums = [s + tf.cast(weight * x, s.dtype) for s, x in pairs]
        whole = tf.nest.pack_sequence_as(total["update"], sums)
        return OrderedDict(update=whole, weight=total["weight"] + weight)

    @leaf_computation(total_type, total_type)
    def merge(left: Any, right: Any) -> Any:
        return map_structure(lambda a, b: a + b, left, right)

    @leaf_computation(total_type)
    def finish(total: Any) -> Any:
        weight = total["weight"]
        return map_structure(
            lambda s: tf.math.divide_no_nan(s, tf.cast(weight, s.dtype)),
            total["update"],
        )

    def mean(encoded: Any, weights: Any) -> Any:
        entries = fl.federated_zip([encoded, weights])
        return fl.federated_aggregate(
            entries, zero(total_type)(), accumulate, merge, finish
        )

    return mean


def _size(type_: fl.Type) -> Any:
    """The bytes of a value of this type, a structure of tensors."""
    return np.int32(sum(leaf.nbytes for leaf in flatten(zeros(type_)).values()))


def _hash(units: Tensors, scales: Tensors) -> Any:
    """An `int64` of all numbers: by units from -1 to 1, and how long these are.

    Each is multiplied by a random number of its own, modulo 2**64. (The bits of a
    `float32` cannot be had for many clients at once.)
    """
    lengths = [tf.math.log(tf.where(m > 0.0, m, tf.ones_like(m))) for m in scales]
    flat = tf.concat([tf.reshape(x, [-1]) for x in (*units, *lengths)], 0)
    # Round numbers are to have many bits, too.
    whole = tf.cast(tf.cast(flat, tf.float64) * 2.0**40 * np.pi / 3, tf.int64)
    factors = tf.raw_ops.StatelessRandomUniformFullInt(
        shape=flat.shape, seed=[1, 1], dtype=tf.int64
    )
    return tf.reduce_sum(whole * factors)


def _rounded(tensor: Any, seed: Any) -> Any:
    """A whole number next to each number, which it is on average."""
    low = tf.floor(tensor)
    # Of the operations that draw without a state, this one works for many at once.
    chance = tf.raw_ops.StatelessRandomUniform(shape=tensor.shape, seed=seed)
    return tf.cast(low, tf.int32) + tf.cast(chance < tensor - low, tf.int32)


def _pack(numbers: Any, bits: int) -> Any:
    """Numbers of so many bits in words of 16, as a vector."""
    per_word = _WORD // bits
    flat = tf.reshape(numbers, [-1])
    flat = tf.pad(flat, [[0, -flat.shape[0] % per_word]])
    rows = tf.reshape(flat, [-1, per_word])
    return tf.cast(tf.reduce_sum(rows * _places(bits), 1), tf.uint16)


def _unpack(words: Any, bits: int, like: Any) -> Any:
    """The numbers that were packed, in the shape of a tensor."""
    rows = tf.cast(words, tf.int32)[:, None] // _places(bits) % 2**bits
    return tf.reshape(tf.reshape(rows, [-1])[: int(np.prod(like.shape))], like.shape)


def _places(bits: int) -> list[int]:
    return [2**place for place in range(0, _WORD, bits)]
