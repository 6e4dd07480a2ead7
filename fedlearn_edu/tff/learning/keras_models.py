# SPDX-License-Identifier: Apache-2.0
"""Models and metrics of Keras, for `tff.learning.models.from_keras_model`.

A metric of Keras is kept in variables. That those of several clients may be added up is
what TFF takes for granted, too; it holds for means and counts.
"""

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast, final

from fedlearn_edu.errors import describe
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.tff.learning.model_forms import (
    BatchOutput,
    FunctionalModel,
    ModelWeights,
    VariableModel,
    number_of_examples,
    tf_variables,
    x_and_y,
)


@final
@dataclass(frozen=True, eq=False)
class Sums:
    """A metric as sums over examples, and what is made of them.

    Attributes:
        zeros: the sums before the first batch.
        update: from `(sums, y, predictions, loss)` to the sums with a batch more.
        result: from sums to the metric.
    """

    zeros: Callable[[], Any]
    update: Callable[..., Any]
    result: Callable[[Any], Any]

    @staticmethod
    def of_keras(metric: Any) -> "Sums":
        """The variables of a metric of Keras.

        Raises:
            ProcessError: if it has none yet.
        """
        if not metric.variables:
            raise ProcessError(
                "this metric makes its variables when it first sees a batch",
                expected="a metric with variables from the start",
                found=describe(metric),
                do="write a subclass that makes them in __init__",
            )

        def zeros() -> Any:
            with tf.init_scope():  # the values are there before any trace
                start = [variable.numpy() for variable in metric.variables]
            return tuple(map(tf.constant, start))

        def result(sums: Any) -> Any:
            pairs = list(zip(metric.variables, sums, strict=True))
            with tf.keras.StatelessScope(pairs):  # it may return a variable itself
                return tf.nest.map_structure(tf.convert_to_tensor, metric.result())

        return Sums(
            zeros,
            lambda s, y, p, loss: tuple(metric.stateless_update_state(list(s), y, p)),
            result,
        )


def _add_loss(sums: Any, y: Any, predictions: Any, loss: Any) -> Any:
    count = tf.cast(number_of_examples(predictions), tf.float32)
    return sums[0] + loss * count, sums[1] + count


def _count(of_labels: Callable[[Any], Any]) -> Sums:
    return Sums(
        lambda: (tf.constant(0, tf.int64),),
        lambda s, y, predictions, loss: (s[0] + tf.cast(of_labels(y), tf.int64),),
        lambda sums: sums[0],
    )


def _own_sums() -> dict[str, Sums]:
    """What TFF measures of each model of Keras, besides its metrics."""
    mean_loss = Sums(
        lambda: (tf.constant(0.0), tf.constant(0.0)),
        _add_loss,
        lambda sums: tf.math.divide_no_nan(sums[0], sums[1]),
    )
    return {
        "loss": mean_loss,
        "num_examples": _count(number_of_examples),
        "num_batches": _count(lambda y: 1),
    }


@final
class KerasModel(VariableModel):
    """A model of Keras with a loss and metrics."""

    def __init__(
        self, keras_model: Any, loss: Callable[..., Any], input_spec: Any, metrics: Any
    ) -> None:
        self.keras_model, self.loss_of, self.input_spec = keras_model, loss, input_spec
        self._metrics = _made(metrics or ())
        made = self._metrics.items()
        sums = OrderedDict((name, Sums.of_keras(metric)) for name, metric in made)
        own = {name: each for name, each in _own_sums().items() if name not in sums}
        self.sums = sums | own
        self._own = {
            name: [tf.Variable(zero, trainable=False) for zero in each.zeros()]
            for name, each in own.items()
        }

    @property
    def trainable_variables(self) -> Any:
        """What is trained, as `tf.Variable`s."""
        return tf_variables(self.keras_model.trainable_variables)

    @property
    def non_trainable_variables(self) -> Any:
        """The other weights of the model."""
        return tf_variables(self.keras_model.non_trainable_variables)

    @property
    def local_variables(self) -> Any:
        """The variables of the metrics."""
        sums = self.report_local_unfinalized_metrics().values()
        return [variable for variables in sums for variable in variables]

    def predict_on_batch(self, x: Any, training: bool = True) -> Any:
        """The predictions for x."""
        return self.keras_model(x, training=training)

    def forward_pass(self, batch_input: Any, training: bool = True) -> BatchOutput:
        """The loss, penalties included, and predictions; updates the metrics."""
        x, y = x_and_y(batch_input)
        predictions = self.keras_model(x, training=training)
        loss = self.loss_of(y, predictions)
        for metric in self._metrics.values():
            metric.update_state(y, predictions)
        for name, variables in self._own.items():
            now = tuple(variable.read_value() for variable in variables)
            found = self.sums[name].update(now, y, predictions, loss)
            for variable, value in zip(variables, found, strict=True):
                variable.assign(value)
        penalties = sum(self.keras_model.losses)
        return BatchOutput(loss + penalties, predictions, number_of_examples(x))

    def report_local_unfinalized_metrics(self) -> Any:
        """The variables of each metric."""
        made = self._metrics.items()
        return OrderedDict((n, tf_variables(m.variables)) for n, m in made) | self._own

    def metric_finalizers(self) -> Any:
        """From a metric's sums to the metric."""
        return OrderedDict((name, sums.result) for name, sums in self.sums.items())

    def reset_metrics(self) -> None:
        """Sets all metrics back."""
        for metric in self._metrics.values():
            metric.reset_state()
        for name, variables in self._own.items():
            for variable, zero in zip(variables, self.sums[name].zeros(), strict=True):
                variable.assign(zero)


def _made(metrics: Any) -> "OrderedDict[str, Any]":
    if not isinstance(metrics, list | tuple):
        metrics = [metrics]
    return OrderedDict((metric.name, metric) for metric in map(_metric, metrics))


def _metric(given: Any) -> Any:
    known = tf.keras.metrics.Metric
    made = given
    if callable(given) and not isinstance(given, known):
        made = given()
    if isinstance(made, known):
        return made
    raise ProcessError(
        "this is no metric of Keras",
        expected="a metric, or a function that makes one",
        found=describe(given),
        do="tf.keras.metrics.SparseCategoricalAccuracy()",
    )


def from_keras_model(
    keras_model: Any,
    loss: Any,
    input_spec: Any,
    loss_weights: Any = None,
    metrics: Any = None,
) -> KerasModel:
    """A model of Keras for TFF's builders, which take a function that returns it.

    Args:
        keras_model: built, not compiled.
        loss: of Keras, from y and predictions to a scalar; a list for several outputs.
        input_spec: of a batch: a mapping with x and y, or a pair.
        loss_weights: of the losses of several outputs.
        metrics: of Keras, or functions that make them.

    Raises:
        ProcessError: if the model is compiled or not built, or there is no Keras 3.

    Source: `tff.learning.models.from_keras_model`.
    """
    _check_keras_model(keras_model)
    loss = _as_one(keras_model, loss, loss_weights)
    return KerasModel(keras_model, loss, input_spec, metrics)


def _as_one(keras_model: Any, loss: Any, loss_weights: Any) -> Callable[..., Any]:
    """The loss; of several, one for each output, their weighted sum."""
    losses = loss if isinstance(loss, list) else [loss]
    outputs = len(getattr(keras_model, "outputs", losses))
    fits = len(losses) == outputs or not isinstance(loss, list)
    if not fits or not all(map(callable, losses)) or any(map(inspect.isclass, losses)):
        raise ProcessError(
            "a loss is a function of y and predictions",
            expected=f"one, or a list of {outputs}: one for each output of the model",
            found=describe(loss),
            do="tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)",
        )
    if not isinstance(loss, list):
        return cast(Callable[..., Any], loss)
    weights = loss_weights or [1.0] * len(losses)

    def weighted(y: Any, predictions: Any, *sample_weight: Any) -> Any:
        rows = zip(weights, losses, y, predictions, strict=True)
        return sum(weight * of(*pair, *sample_weight) for weight, of, *pair in rows)

    return weighted


def _check_keras_model(model: Any) -> None:
    if not isinstance(model, tf.keras.Model):
        raise ProcessError(
            "this is no model of Keras",
            expected="a tf.keras.Model, such as tf.keras.Sequential([…])",
            found=describe(model),
        )
    if not hasattr(model, "stateless_call"):
        raise ProcessError(
            "a model of Keras 2 cannot be called without its variables",
            expected="Keras 3",
            do="leave TF_USE_LEGACY_KERAS out, or write a VariableModel",
        )
    if getattr(model, "compiled", False) and model.optimizer is not None:
        raise ProcessError(
            "a model for federated learning is not compiled",
            found="one with an optimizer of its own",
            do="leave model.compile(…) out; the builder takes loss and optimizers",
        )
    stateful = [layer.name for layer in _layers(model) if getattr(layer, "stateful", 0)]
    if stateful:
        raise ProcessError(
            "a stateful layer remembers one client's data for the next client",
            expected="recurrent layers that begin anew with each batch",
            found=f"stateful: {', '.join(stateful)}",
            do="leave stateful=True out, and give Embedding no batch_input_shape: "
            "tf.keras.Input((None,)) is the first layer",
        )
    if not model.built:
        raise ProcessError(
            "the model has no weights yet",
            do="say the shape of its input: tf.keras.Input((784,)) as the first layer",
        )


def drawn(keras_model: Any, trainable: Any, others: Any, x: Any) -> list[Any]:
    """The other weights; seeds of dropout go on from the weights and the batch.

    All clients begin with the server's seed, and would drop the same units.
    """
    variables = keras_model.non_trainable_variables
    is_seed = [variable.name == "seed_generator_state" for variable in variables]
    if not any(is_seed):
        return list(others)
    mark = tf.stack([_bits(tf.nest.flatten(x)), _bits(trainable)])
    rows = zip(is_seed, others, strict=True)
    return [
        value + tf.cast(mark, value.dtype) if seed else value for seed, value in rows
    ]


def _bits(tensors: Any) -> Any:
    """The sum of all bits as whole numbers: the same in whatever order they come."""
    each = [tf.bitcast(tf.cast(tensor, tf.float32), tf.int32) for tensor in tensors]
    return tf.add_n([tf.reduce_sum(numbers) for numbers in each])


def _layers(model: Any) -> Iterator[Any]:
    for layer in model.layers:
        yield layer
        yield from _layers(layer) if hasattr(layer, "layers") else ()


def functional_model_from_keras(
    keras_model: Any,
    loss_fn: Any,
    input_spec: Any,
    loss_weights: Any = None,
    metrics_constructor: Any = None,
) -> FunctionalModel:
    """A model of Keras as functions, beginning with its present weights.

    Args:
        keras_model: as in `from_keras_model`, or a function that makes it.
        loss_fn: of Keras; a list for several outputs.
        input_spec: of a batch.
        loss_weights: of the losses of several outputs.
        metrics_constructor: metrics by name, or functions that make them; or a function
            that returns such a mapping.

    Source: `tff.learning.models.functional_model_from_keras`.
    """
    if callable(keras_model) and not hasattr(keras_model, "layers"):
        keras_model = keras_model()
    _check_keras_model(keras_model)
    one_loss = _as_one(keras_model, loss_fn, loss_weights)
    named = metrics_constructor() if callable(metrics_constructor) else None
    makers = (named or metrics_constructor or {}).items()
    sums = OrderedDict((name, Sums.of_keras(_metric(each))) for name, each in makers)

    def predict(model_weights: Any, x: Any, training: bool = True) -> Any:
        trainable, others = model_weights
        others = drawn(keras_model, trainable, others, x) if training else others
        both = list(trainable), list(others)
        return keras_model.stateless_call(*both, x, training=training)[0]

    def loss(output: Any, label: Any, sample_weight: Any = None) -> Any:
        return one_loss(label, output, sample_weight)

    def update(
        state: Any, labels: Any, batch_output: Any, sample_weight: Any = None
    ) -> Any:
        seen = labels, batch_output.predictions, batch_output.loss
        return OrderedDict((n, sums[n].update(s, *seen)) for n, s in state.items())

    trainable, others = ModelWeights.from_model(keras_model)
    start = [v.numpy() for v in trainable], [v.numpy() for v in others]
    return FunctionalModel(
        initial_weights=(tuple(start[0]), tuple(start[1])),
        predict_on_batch_fn=predict,
        loss_fn=loss,
        metrics_fns=(
            lambda: OrderedDict((name, each.zeros()) for name, each in sums.items()),
            update,
            lambda state: OrderedDict((n, sums[n].result(s)) for n, s in state.items()),
        ),
        input_spec=input_spec,
    )
