# SPDX-License-Identifier: Apache-2.0
"""Optimizers as pure functions: their moments are passed in and returned.

A client's optimizer takes gradients of a loss; a server's takes the mean of what
clients changed, with its sign turned, as if it were a gradient. Weights, gradients and
moments are structures of tensors of the same shape, and these functions are called in
the body of a `tf_computation`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.former_names import answering, answers
from fedlearn_edu.learning.arrays import HAS_TENSORFLOW, tf
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.pytree import flatten, rebuild
from fedlearn_edu.learning.schedules import (
    Rate,
    at_round,
    describe_rate,
    exact,
    exponential_decay,
)
from fedlearn_edu.rules import is_number, number

Weights = Any
"""A structure of float tensors, for example `<weights=float32[784,10],...>`."""

__all__ = [
    "Optimizer",
    "Rate",
    "build_adagrad",
    "build_adam",
    "build_sgd",
    "build_sgdm",
    "build_yogi",
    "exponential_decay",
]


@final
@answers("optimizer", others=False)
@dataclass(frozen=True)
class Optimizer:
    """Two pure functions, and a name that tells their settings.

    Attributes:
        name: what it is, `"SGD(0.1)"`; two with the same name do the same.
        initialize: `WEIGHTS -> MOMENTS`, the state before the first step.
        next: `<MOMENTS,WEIGHTS,GRADIENTS,int32> -> <MOMENTS,WEIGHTS>`, one step
            after this many finished rounds.

    Source: `tff.learning.optimizers.Optimizer`.
    """

    name: str
    initialize: Callable[[Weights], Any]
    next: Callable[[Any, Weights, Weights, Any], tuple[Any, Weights]]

    def step(
        self, moments: Any, weights: Weights, gradients: Weights, number: Any, size: Any
    ) -> tuple[Any, Weights]:
        """`next` on `size` examples; without any, nothing is changed."""
        if not HAS_TENSORFLOW:
            if not size:
                return moments, weights
            return self.next(moments, weights, gradients, number)
        before = flatten((moments, weights))

        def after() -> dict[str, Any]:
            return flatten(self.next(moments, weights, gradients, number))

        found = tf.cond(size > 0, after, lambda: before)
        stepped: tuple[Any, Weights] = rebuild((moments, weights), found)
        return stepped

    def __repr__(self) -> str:
        return self.name


@short_traceback
def build_sgd(learning_rate: Rate = 0.1) -> Optimizer:
    r"""Plain gradient descent: $w \leftarrow w - \eta g$. It has no state.

    >>> sgd = build_sgd(0.5)
    >>> sgd, sgd.next((), 1.0, 4.0, 0)
    (SGD(0.5), ((), -1.0))
    """
    _check_rate(learning_rate)

    def step(moments: Any, weights: Weights, gradients: Weights, number: Any) -> Any:
        rate = at_round(learning_rate, number)
        return moments, map_structure(lambda w, g: w - rate * g, weights, gradients)

    return Optimizer(_named("SGD", learning_rate), lambda weights: (), step)


@short_traceback
def build_sgdm(learning_rate: Rate = 0.1, momentum: float = 0.9) -> Optimizer:
    r"""Momentum: $v \leftarrow \beta v + g$, then $w \leftarrow w - \eta v$.

    Source: B. T. Polyak, "Some methods of speeding up the convergence of iteration
    methods", 1964; the ancestor's `build_sgdm`.
    """
    _check_rate(learning_rate)
    _check_share("momentum", momentum)

    def step(speed: Any, weights: Weights, gradients: Weights, number: Any) -> Any:
        rate = at_round(learning_rate, number)
        speed = map_structure(lambda v, g: momentum * v + g, speed, gradients)
        return speed, map_structure(lambda w, v: w - rate * v, weights, speed)

    name = _named("SGDM", learning_rate, momentum=momentum)
    return Optimizer(name, zeros_like, step)


@short_traceback
def build_adagrad(learning_rate: Rate = 0.1, epsilon: float = 1e-3) -> Optimizer:
    r"""Steps shrink where gradients were large: $s \leftarrow s + g^2$.

    Then $w \leftarrow w - \eta g / (\sqrt{s} + \epsilon)$; `epsilon` is the paper's
    adaptivity τ: the smaller, the more the steps of all weights are alike.

    Source: J. Duchi et al., "Adaptive Subgradient Methods", JMLR 2011; without the
    momentum that S. Reddi et al. (2021) allow for.
    """
    _check_rate(learning_rate)
    _check_positive("epsilon", epsilon)

    def step(squares: Any, weights: Weights, gradients: Weights, number: Any) -> Any:
        rate = at_round(learning_rate, number)
        squares = map_structure(lambda s, g: s + g * g, squares, gradients)
        return squares, _scaled(weights, gradients, squares, rate, epsilon)

    name = _named("Adagrad", learning_rate, epsilon=epsilon)
    return Optimizer(name, zeros_like, step)


@short_traceback
def build_adam(
    learning_rate: Rate = 0.01,
    beta_1: float = 0.9,
    beta_2: float = 0.99,
    epsilon: float = 1e-3,
) -> Optimizer:
    r"""Running means of gradients and of their squares.

    $m \leftarrow \beta_1 m + (1-\beta_1) g$,
    $s \leftarrow \beta_2 s + (1-\beta_2) g^2$,
    $w \leftarrow w - \eta m / (\sqrt{s} + \epsilon)$. As in FedAdam, the means are not
    corrected for having started at zero, so that the first steps are small.

    Source: S. Reddi et al., "Adaptive Federated Optimization", ICLR 2021, Algorithm 2.
    """

    def second(square: Any, gradient: Any) -> Any:
        return beta_2 * square + (1.0 - beta_2) * gradient * gradient

    return _two_moments("Adam", learning_rate, (beta_1, beta_2), epsilon, second)


@short_traceback
def build_yogi(
    learning_rate: Rate = 0.01,
    beta_1: float = 0.9,
    beta_2: float = 0.99,
    epsilon: float = 1e-3,
) -> Optimizer:
    r"""Adam whose squares move at most by $(1-\beta_2) g^2$, towards the latest ones.

    $s \leftarrow s - (1-\beta_2)\, g^2\, \mathrm{sign}(s - g^2)$, all else as in
    `build_adam`: after large gradients the steps grow again more slowly.

    Source: M. Zaheer et al., "Adaptive Methods for Nonconvex Optimization", NeurIPS
    2018; S. Reddi et al., ICLR 2021, Algorithm 2.
    """

    def second(square: Any, gradient: Any) -> Any:
        latest = gradient * gradient
        return square - (1.0 - beta_2) * latest * tf.sign(square - latest)

    return _two_moments("Yogi", learning_rate, (beta_1, beta_2), epsilon, second)


def _two_moments(
    name: str,
    rate: Rate,
    betas: tuple[float, float],
    epsilon: float,
    second: Callable[[Any, Any], Any],
) -> Optimizer:
    """What Adam and Yogi share: all but how the squares move."""
    _check_rate(rate)
    for label, beta in zip(("beta_1", "beta_2"), betas, strict=True):
        _check_share(label, beta)
    _check_positive("epsilon", epsilon)
    beta_1, beta_2 = betas
    name = _named(name, rate, beta_1=beta_1, beta_2=beta_2, epsilon=epsilon)

    def step(moments: Any, weights: Weights, gradients: Weights, number: Any) -> Any:
        mean, squares = moments
        mean = map_structure(
            lambda m, g: beta_1 * m + (1.0 - beta_1) * g, mean, gradients
        )
        squares = map_structure(second, squares, gradients)
        weights = _scaled(weights, mean, squares, at_round(rate, number), epsilon)
        return (mean, squares), weights

    return Optimizer(
        name, lambda weights: (zeros_like(weights), zeros_like(weights)), step
    )


def _scaled(
    weights: Weights, direction: Weights, squares: Weights, rate: Any, epsilon: float
) -> Weights:
    return map_structure(
        lambda w, d, s: w - rate * d / (tf.sqrt(s) + epsilon),
        weights,
        direction,
        squares,
    )


def map_structure(function: Callable[..., Any], *structures: Weights) -> Weights:
    """`function` of the tensors at each place of these structures."""
    return tf.nest.map_structure(function, *structures)


def zeros_like(weights: Weights) -> Weights:
    """Zeros in the structure of the weights."""
    return map_structure(tf.zeros_like, weights)


def _named(name: str, rate: Rate, **numbers: float) -> str:
    shown = describe_rate(rate)
    more = [f"{which}={exact(number)}" for which, number in numbers.items()]
    return f"{name}({', '.join([shown, *more])})"


def _check_rate(rate: object) -> None:
    fits = 0.0 <= rate < float("inf") if is_number(rate) else callable(rate)
    if not fits:
        raise ProcessError(
            "a learning rate says how long a step is",
            expected="a number of at least 0, or a function of the round's number",
            found=repr(rate),
            do="0.1 is a good first try; build_fed_opt takes optimizers",
        )


def _check_share(name: str, share: object) -> None:
    summary, do = f"{name} is the share of the past that is kept", "0.9 is usual"
    number(share, f"0 <= {name} < 1", ProcessError, summary=summary, do=do)


def _check_positive(name: str, least: object) -> None:
    summary, do = f"{name} keeps a division finite", "1e-3 is usual"
    number(least, f"{name} > 0", ProcessError, summary=summary, do=do)


# As a package has one: then `from … import` asks for a submodule, and is answered.
__path__: list[str] = []

__getattr__ = answering("fedlearn_edu.learning.optimizers", __all__)
