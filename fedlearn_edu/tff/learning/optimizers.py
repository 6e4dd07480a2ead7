# SPDX-License-Identifier: Apache-2.0
"""Optimizers as TFF has them: the state carries its settings.

    initialize(specs)                  the state, for weights of these specs
    next(state, weights, gradients)    the next state, and the next weights

Those of `fl.learning.optimizers` have the same names, and other defaults. Source:
`tff.learning.optimizers`.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.errors import describe
from fedlearn_edu.former_names import answering
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.tff.learning.model_forms import in_the_step_of
from fedlearn_edu.tff.structure import update_struct


class Optimizer(ABC):
    """An optimizer as two functions, to be called in the body of a computation."""

    @abstractmethod
    def initialize(self, specs: Any) -> Any:
        """The state for weights of these specs."""

    @abstractmethod
    def next(self, state: Any, weights: Any, gradients: Any) -> tuple[Any, Any]:
        """The next state and the next weights."""

    def get_hparams(self, state: Any) -> Any:
        """The settings that a state carries."""
        return OrderedDict()

    def set_hparams(self, state: Any, hparams: Any) -> Any:
        """The state with other settings."""
        return update_struct(state, **hparams)


@final
@dataclass(frozen=True, eq=False)
class _Rule(Optimizer):
    """An optimizer that treats each number of the weights alike.

    Attributes:
        settings: numbers by name, which the state carries.
        slots: what is kept for each weight, by name, and what it begins with.
        step: from `(settings, weight, gradient, *slots)` to the next weight and slots.
        counts: whether the state also counts steps; the first has the number 1.
    """

    settings: Mapping[str, float]
    slots: Mapping[str, float]
    step: Callable[..., Any]
    counts: bool = False

    def initialize(self, specs: Any) -> Any:
        begin: Any = OrderedDict(self.settings)
        if self.counts:
            begin["step"] = 0
        for name, value in self.slots.items():
            begin[name] = tf.nest.map_structure(
                lambda spec, value=value: tf.fill(
                    spec.shape, tf.cast(value, spec.dtype)
                ),
                specs,
            )
        return begin

    def next(self, state: Any, weights: Any, gradients: Any) -> tuple[Any, Any]:
        after = OrderedDict(state)
        if self.counts:
            after["step"] = state["step"] + 1
        settings = {name: after[name] for name in after if name not in self.slots}
        kept = [tf.nest.flatten(state[name]) for name in self.slots]
        if any(slope is None for slope in tf.nest.flatten(gradients)):
            raise ProcessError(
                "the loss does not depend on some of the weights",
                do="freeze their layer: layer.trainable = False",
            )
        flat = map(tf.nest.flatten, (weights, gradients))
        rows = [self.step(settings, *row) for row in zip(*flat, *kept, strict=True)]
        if not rows:
            return after, weights
        moved, *columns = zip(*rows, strict=True)
        for name, column in zip(self.slots, columns, strict=True):
            after[name] = tf.nest.pack_sequence_as(state[name], column)
        return after, tf.nest.pack_sequence_as(weights, moved)

    def get_hparams(self, state: Any) -> Any:
        return OrderedDict((name, state[name]) for name in self.settings)


def build_sgdm(learning_rate: Any = 0.01, momentum: Any = None) -> Optimizer:
    r"""$w \leftarrow w - \eta g$; with momentum, $v \leftarrow \beta v + g$ for $g$."""
    _check("learning_rate", learning_rate)
    if not momentum:
        return _Rule(
            OrderedDict(learning_rate=learning_rate),
            {},
            lambda h, w, g: (w - h["learning_rate"] * g,),
        )
    _check("momentum", momentum, most=1.0)

    def step(h: Any, w: Any, g: Any, v: Any) -> Any:
        v = h["momentum"] * v + g
        return w - h["learning_rate"] * v, v

    settings = OrderedDict(learning_rate=learning_rate, momentum=momentum)
    return _Rule(settings, {"accumulator": 0.0}, step)


def build_adagrad(
    learning_rate: Any, initial_preconditioner_value: Any = 0.1, epsilon: Any = 1e-7
) -> Optimizer:
    r"""$s \leftarrow s + g^2$, then $w \leftarrow w - \eta g / \sqrt{s + \epsilon}$."""
    settings = OrderedDict(learning_rate=learning_rate, epsilon=epsilon)
    _check_all(settings)

    def step(h: Any, w: Any, g: Any, s: Any) -> Any:
        s = s + g * g
        return w - h["learning_rate"] * g / tf.sqrt(s + h["epsilon"]), s

    return _Rule(settings, {"preconditioner": initial_preconditioner_value}, step)


def build_rmsprop(
    learning_rate: Any, decay: Any = 0.9, epsilon: Any = 1e-7
) -> Optimizer:
    r"""$w \leftarrow w - \eta g/(\sqrt s+\epsilon)$, $s$ a moving mean of $g^2$."""
    settings = OrderedDict(learning_rate=learning_rate, decay=decay, epsilon=epsilon)
    _check_all(settings)

    def step(h: Any, w: Any, g: Any, s: Any) -> Any:
        s = s + (g * g - s) * (1 - h["decay"])
        return w - h["learning_rate"] * g / (tf.sqrt(s) + h["epsilon"]), s

    return _Rule(settings, {"preconditioner": 0.0}, step)


def build_adam(
    learning_rate: Any, beta_1: Any = 0.9, beta_2: Any = 0.999, epsilon: Any = 1e-7
) -> Optimizer:
    r"""Adam with both corrections, $w \leftarrow w - \eta_t m / (\sqrt s + \epsilon)$.

    $m$ and $s$ are moving means of $g$ and $g^2$;
    $\eta_t = \eta \sqrt{1 - \beta_2^t} / (1 - \beta_1^t)$.
    """
    return _two_moments(learning_rate, beta_1, beta_2, epsilon, 0.0, _squares)


def build_yogi(
    learning_rate: Any,
    beta_1: Any = 0.9,
    beta_2: Any = 0.999,
    epsilon: Any = 1e-3,
    initial_preconditioner_value: Any = 1e-6,
) -> Optimizer:
    r"""As Adam, with $s \leftarrow s + (1-\beta_2)\,\mathrm{sign}(g^2 - s)\, g^2$."""
    begin = initial_preconditioner_value
    return _two_moments(learning_rate, beta_1, beta_2, epsilon, begin, _towards)


def _squares(s: Any, g: Any) -> Any:
    return g * g - s


def _towards(s: Any, g: Any) -> Any:
    return tf.sign(g * g - s) * g * g


def _two_moments(
    rate: Any, beta_1: Any, beta_2: Any, epsilon: Any, begin: Any, change: Any
) -> Optimizer:
    settings = OrderedDict(
        learning_rate=rate, beta_1=beta_1, beta_2=beta_2, epsilon=epsilon
    )
    _check_all(settings)

    def step(h: Any, w: Any, g: Any, m: Any, s: Any) -> Any:
        m = m + (g - m) * (1 - h["beta_1"])
        s = s + change(s, g) * (1 - h["beta_2"])
        number = tf.cast(h["step"], tf.float32)
        corrected = tf.sqrt(1 - h["beta_2"] ** number) / (1 - h["beta_1"] ** number)
        rate = h["learning_rate"] * corrected
        return w - rate * m / (tf.sqrt(s) + h["epsilon"]), m, s

    slots = OrderedDict(accumulator=0.0, preconditioner=begin)
    return _Rule(settings, slots, step, counts=True)


def _check_all(settings: Mapping[str, Any]) -> None:
    for name, value in settings.items():
        is_share = name in ("beta_1", "beta_2", "decay")
        _check(name, value, most=1.0 if is_share else float("inf"))


def _check(name: str, value: Any, most: float = float("inf")) -> None:
    if tf.is_tensor(value) or 0 <= value <= most:
        return
    raise ProcessError(
        f"{name} is out of range",
        expected="0 or more" if most == float("inf") else f"0 to {most:g}",
        found=describe(value),
    )


# ------------------------------------------------------------------ those of Keras


@final
class KerasOptimizer(Optimizer):
    """An optimizer of Keras: made anew in each body, with the values of its state.

    The state are its variables without the learning rate: `<int64>` for plain SGD.
    (`stateless_apply` would say the same, and Keras refuses it over TensorFlow.)
    """

    def __init__(self, make: Callable[[], Any], specs: Any) -> None:
        self._make = make
        zeros = [tf.Variable(tf.zeros(s.shape, s.dtype)) for s in specs]
        self._start = [each.numpy() for each in self._kept(self._built(zeros))]

    def _built(self, variables: Any) -> Any:
        made = self._make()
        made.build(variables)
        return made

    def _kept(self, made: Any) -> list[Any]:
        rate = getattr(made, "_learning_rate", None)
        return [getattr(v, "value", v) for v in made.variables if v is not rate]

    def initialize(self, specs: Any) -> Any:
        """The variables of a new one."""
        return tuple(map(tf.constant, self._start))

    def next(self, state: Any, weights: Any, gradients: Any) -> tuple[Any, Any]:
        """A step of Keras's own."""
        if not weights:
            return state, weights
        with in_the_step_of(weights[0]):
            variables = [tf.Variable(w) for w in weights]
            made = self._built(variables)
        for variable, value in zip(self._kept(made), state, strict=True):
            variable.assign(value)
        made.apply_gradients(zip(gradients, variables, strict=True))
        after = tuple(v.read_value() for v in self._kept(made))
        return after, tuple(v.read_value() for v in variables)


def optimizer_of(given: Any, specs: Any) -> Any:
    """What a builder is given, as something with `initialize` and `next`.

    Raises:
        ProcessError: if it is neither that nor a function that makes one of Keras.
    """
    if isinstance(given, Optimizer):
        return given
    made = given() if callable(given) else given
    if isinstance(made, Optimizer):
        return made
    if not isinstance(made, tf.keras.optimizers.Optimizer) or not callable(given):
        raise ProcessError(
            "this is no optimizer",
            expected="one of tff.learning.optimizers, or a function that makes one",
            found=describe(made),
            do="lambda: tf.keras.optimizers.SGD(0.02)",
        )
    if made is given():
        raise ProcessError(
            "an optimizer of Keras is made anew each time",
            expected="a function that makes one",
            found="a function that returns the same one",
            do="lambda: tf.keras.optimizers.SGD(0.02)",
        )
    return KerasOptimizer(given, specs)


__all__ = [
    "Optimizer",
    "build_adagrad",
    "build_adam",
    "build_rmsprop",
    "build_sgdm",
    "build_yogi",
]


# As a package has one: then `from … import` asks for a submodule, and is answered.
__path__: list[str] = []

__getattr__ = answering("fedlearn_edu.tff.learning.optimizers", __all__)
