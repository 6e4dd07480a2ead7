# SPDX-License-Identifier: Apache-2.0
"""A model as clients train it: all that changes is passed in, and returned.

    zeros       sums of the metrics before the first batch
    forward     loss, examples, sums and other weights after a batch
    gradient    the same with the slopes of the loss in its place
    report      what a client sends of its sums
    finalize    numbers by name, of the sums over all clients

So a pass over a client's batches is one `Dataset.reduce`, and clients run in one call.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import describe
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.tff.learning.keras_models import KerasModel, drawn
from fedlearn_edu.tff.learning.model_forms import (
    BatchOutput,
    FunctionalModel,
    ModelWeights,
    VariableModel,
    in_the_step_of,
    number_of_examples,
    spec_of,
    tf_variables,
    x_and_y,
)


class Pure(ABC):
    """See the top of this file; what is passed is in tuples and mappings.

    Attributes:
        input_spec: of a batch.
        start: the first `ModelWeights`, arrays.
    """

    input_spec: Any
    start: ModelWeights

    @abstractmethod
    def zeros(self) -> Any:
        """Sums of the metrics before the first batch."""

    @abstractmethod
    def forward(self, weights: Any, sums: Any, batch: Any, *, training: bool) -> Any:
        """`loss, examples, sums, non_trainable` of a batch."""

    def gradient(self, weights: Any, sums: Any, batch: Any) -> Any:
        """`slopes, examples, sums, non_trainable` of a batch."""
        with tf.GradientTape() as tape:
            tape.watch(weights.trainable)
            loss, *rest = self.forward(weights, sums, batch, training=True)
        return _slopes(tape, loss, weights.trainable), *rest

    def report(self, sums: Any) -> Any:
        """What a client sends of its sums."""
        return sums

    @abstractmethod
    def finalize(self, sums: Any) -> Any:
        """Numbers by name, of the sums over all clients."""

    def initial_weights(self) -> Any:
        """The start as tensors, in a body."""
        return tf.nest.map_structure(tf.constant, self.start)

    @property
    def weights_type(self) -> Any:
        """The type of the weights."""
        return fl.to_type(tf.nest.map_structure(spec_of, self.start))

    @property
    def batch_type(self) -> Any:
        """The type of a batch."""
        return fl.to_type(self.input_spec)


@final
class _OfKeras(Pure):
    def __init__(self, model: KerasModel) -> None:
        self._model, self._sums, self.input_spec = model, model.sums, model.input_spec
        keras = model.keras_model
        self.start = _arrays(keras.trainable_variables, keras.non_trainable_variables)

    def zeros(self) -> Any:
        return OrderedDict((name, each.zeros()) for name, each in self._sums.items())

    def forward(self, weights: Any, sums: Any, batch: Any, *, training: bool) -> Any:
        x, y = x_and_y(batch)
        keras, others = self._model.keras_model, list(weights.non_trainable)
        if training:
            others = drawn(keras, weights.trainable, others, x)
        both = list(weights.trainable), others
        try:
            predictions, others, penalties = keras.stateless_call(
                *both, x, training=training, return_losses=True
            )
        except ValueError as error:
            raise ProcessError(
                "Keras cannot call the model on such a batch",
                expected=f"a model of x={self.batch_type['x']}",
                found=str(error).strip().splitlines()[0],
                do="let input_spec say what a batch looks like: dataset.element_spec",
            ) from None
        loss, named = self._model.loss_of(y, predictions), self._sums.items()
        seen = y, predictions, loss
        sums = OrderedDict(
            (name, each.update(sums[name], *seen)) for name, each in named
        )
        examples = number_of_examples(x)
        return scalar(loss) + sum(penalties), examples, sums, tuple(others)

    def finalize(self, sums: Any) -> Any:
        named = self._sums.items()
        return OrderedDict((name, each.result(sums[name])) for name, each in named)


@final
class _OfFunctions(Pure):
    def __init__(self, model: FunctionalModel) -> None:
        self._model, self.input_spec = model, model.input_spec
        self.start = ModelWeights(*map(tuple, model.initial_weights))

    def zeros(self) -> Any:
        return self._model.initialize_metrics_state()

    def forward(self, weights: Any, sums: Any, batch: Any, *, training: bool) -> Any:
        (x, y), model = x_and_y(batch), self._model
        predictions = model.predict_on_batch(tuple(weights), x, training=training)
        loss = model.loss(output=predictions, label=y)
        examples = number_of_examples(x)
        out = BatchOutput(loss, predictions, examples)
        sums = model.update_metrics_state(sums, labels=y, batch_output=out)
        return scalar(loss), examples, sums, tuple(weights.non_trainable)

    def finalize(self, sums: Any) -> Any:
        return self._model.finalize_metrics(sums)


@final
class _OfVariables(Pure):
    """Makes the model anew in each body, with the values it is given."""

    def __init__(self, make: Callable[[], VariableModel]) -> None:
        model = make()
        self._make, self.input_spec = make, model.input_spec
        self.start = _arrays(model.trainable_variables, model.non_trainable_variables)
        self._local = tuple(np.asarray(v) for v in model.local_variables)

    def _with(self, weights: Any, sums: Any) -> VariableModel:
        with in_the_step_of(tf.nest.flatten(weights)[0]):
            model = self._make()
        into = model.trainable_variables, model.non_trainable_variables
        for variables, values in zip(
            (*into, model.local_variables), [*weights, sums], strict=True
        ):
            for variable, value in zip(variables, values, strict=True):
                variable.assign(value)
        return model

    def zeros(self) -> Any:
        return tuple(map(tf.constant, self._local))

    def forward(self, weights: Any, sums: Any, batch: Any, *, training: bool) -> Any:
        model = self._with(weights, sums)
        return self._seen(model, model.forward_pass(batch, training), batch)

    def gradient(self, weights: Any, sums: Any, batch: Any) -> Any:
        model = self._with(weights, sums)
        with tf.GradientTape() as tape:
            out = model.forward_pass(batch, True)
        slopes = _slopes(tape, out.loss, tf_variables(model.trainable_variables))
        return slopes, *self._seen(model, out, batch)[1:]

    def _seen(self, model: VariableModel, out: Any, batch: Any) -> Any:
        given = getattr(out, "num_examples", None)
        examples = number_of_examples(batch) if given is None else given
        kept = model.local_variables, model.non_trainable_variables
        read = [tuple(v.read_value() for v in tf_variables(part)) for part in kept]
        return scalar(out.loss), examples, *read

    def report(self, sums: Any) -> Any:
        model = self._with(self.start, sums)  # a `tf.function` holds it weakly
        return model.report_local_unfinalized_metrics()

    def finalize(self, sums: Any) -> Any:
        model = self._make()
        named = model.metric_finalizers().items()
        return OrderedDict((name, of(sums[name])) for name, of in named)


def pure(model: Any) -> Pure:
    """The pure form of what TFF's builders take.

    Args:
        model: a function without arguments that makes a model, or a `FunctionalModel`.

    Raises:
        ProcessError: if it is neither.
    """
    is_maker = callable(model) and not isinstance(model, tf.keras.Model)
    made = model() if is_maker else model
    known = isinstance(made, FunctionalModel | VariableModel)
    if known and made.input_spec is None:
        raise ProcessError(
            "a model says what a batch looks like",
            expected="tf.TensorSpecs as input_spec, a mapping with x and y, or a pair",
            found="None",
            do="input_spec=dataset.element_spec",
        )
    if isinstance(made, FunctionalModel):
        return _OfFunctions(made)
    if isinstance(made, KerasModel) and made is not model:
        return _OfKeras(made)
    if isinstance(made, VariableModel) and made is not model:
        return _OfVariables(model)
    raise ProcessError(
        "a builder takes a function that makes a model",
        expected="a function that returns a VariableModel, or a FunctionalModel",
        found=describe(made),
        do="def model_fn(): return tff.learning.models.from_keras_model(…)",
    )


def scalar(loss: Any) -> Any:
    """The loss of a batch.

    Raises:
        ProcessError: if it is more than one number.
    """
    if loss.shape.rank == 0:
        return loss
    raise ProcessError(
        "the loss of a batch is one number, the mean over its examples",
        expected="float32",
        found=f"a tensor of shape {loss.shape}",
        do="leave out reduction=None, or take tf.reduce_mean",
    )


def _slopes(tape: Any, loss: Any, weights: Any) -> tuple[Any, ...]:
    """The gradient; dense, and of the shapes that the weights have."""
    found = tape.gradient(loss, list(weights))
    pairs = zip(found, weights, strict=True)
    return tuple(
        g if g is None else tf.ensure_shape(tf.convert_to_tensor(g), w.shape)
        for g, w in pairs
    )


def _arrays(*variables: Any) -> ModelWeights:
    return ModelWeights(*(tuple(np.asarray(v) for v in part) for part in variables))
