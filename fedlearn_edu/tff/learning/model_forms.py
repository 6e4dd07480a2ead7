# SPDX-License-Identifier: Apache-2.0
"""Models as TFF's programs write them: in variables, in functions, in Keras.

Source: `tff.learning.models`. How they are trained, `pure.py` says.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, final

import fedlearn_edu as fl
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.runtimes.tensorflow.library import tf


class BatchOutput(NamedTuple):
    """What a forward pass says of a batch.

    Attributes:
        loss: the mean loss of its examples, a scalar.
        predictions: of the model.
        num_examples: in the batch; counted from the predictions if it is `None`.
    """

    loss: Any
    predictions: Any
    num_examples: Any = None


class ModelWeights(NamedTuple):
    """What the server trains, and what comes along unchanged.

    Attributes:
        trainable: arrays, in order.
        non_trainable: such as the moving averages of a batch normalization.
    """

    trainable: Any
    non_trainable: Any

    @classmethod
    def from_model(cls, model: Any) -> "ModelWeights":
        """The variables of a model of Keras, or the weights of one of TFF."""
        if isinstance(model, FunctionalModel):
            return cls(*map(list, model.initial_weights))
        both = model.trainable_variables, model.non_trainable_variables
        return cls(*map(tf_variables, both))

    def assign_weights_to(self, model: Any) -> None:
        """Puts these weights into a model of Keras or of TFF."""
        into = [*model.trainable_variables, *model.non_trainable_variables]
        values = [*self.trainable, *self.non_trainable]
        for variable, value in zip(into, values, strict=True):
            variable.assign(value)


def tf_variables(variables: Any) -> list[Any]:
    """`tf.Variable`s; Keras 3 wraps them in variables of its own."""
    return [v.value if "keras" in type(v).__module__ else v for v in variables]


def weights_type_from_model(model: Any) -> Any:
    """The type of the `ModelWeights` of a model, or of what a function makes."""
    is_maker = callable(model) and not hasattr(model, "input_spec")
    weights = ModelWeights.from_model(model() if is_maker else model)
    return fl.to_type(tf.nest.map_structure(spec_of, weights))


def spec_of(array: Any) -> Any:
    """The shape and the data type of an array."""
    return tf.TensorSpec(array.shape, array.dtype)


def in_the_step_of(tensor: Any) -> Any:
    """Has variables begin with something that only the step of a loop knows.

    So they live in the step, and not in the body around it: a step without variables of
    the body can be taken for all clients at once.
    """

    def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        initial = kwargs["initial_value"]
        start = tf.convert_to_tensor(initial() if callable(initial) else initial)
        nothing = tf.cast(0 * tf.raw_ops.Size(input=tensor), start.dtype)
        return next_creator(**kwargs | {"initial_value": start + nothing})

    return tf.variable_creator_scope(create)


class VariableModel(ABC):
    """A model that keeps its weights, and the sums of its metrics, in variables.

    Subclasses make their variables in `__init__`, and say:

    Attributes:
        trainable_variables: what is trained.
        non_trainable_variables: what belongs to the weights, too.
        local_variables: sums of metrics.
        input_spec: `tf.TensorSpec`s of a batch, a mapping or a pair of x and y.
    """

    trainable_variables: Any
    non_trainable_variables: Any = ()
    local_variables: Any = ()
    input_spec: Any

    @abstractmethod
    def forward_pass(self, batch_input: Any, training: bool = True) -> BatchOutput:
        """The loss and the predictions for a batch; adds to the metrics' sums."""

    @abstractmethod
    def report_local_unfinalized_metrics(self) -> Any:
        """The sums by name; those of several clients are added up."""

    @abstractmethod
    def metric_finalizers(self) -> Any:
        """By name, a function from the sums to the metric."""


def _no_metrics(state: Any, labels: Any, batch_output: Any, **_: Any) -> Any:
    return state


@final
class FunctionalModel:
    """A model as functions of its weights.

    Args:
        initial_weights: trainable and other arrays.
        predict_on_batch_fn: from `(weights, x, training)` to predictions.
        loss_fn: from `output`, `label` and `sample_weight` to a scalar.
        metrics_fns: sums before the first batch; the sums with a batch more, from
            `state`, `labels`, `batch_output` and `sample_weight`; metrics by name.
        input_spec: as in `VariableModel`.
    """

    def __init__(
        self,
        *,
        initial_weights: Any,
        predict_on_batch_fn: Callable[..., Any],
        loss_fn: Callable[..., Any],
        metrics_fns: Any = (OrderedDict, _no_metrics, OrderedDict),
        input_spec: Any,
    ) -> None:
        self.initial_weights, self.input_spec = initial_weights, input_spec
        self.predict_on_batch, self.loss = predict_on_batch_fn, loss_fn
        zeros, update, finalize = metrics_fns
        self.initialize_metrics_state: Callable[[], Any] = zeros
        self.update_metrics_state: Callable[..., Any] = update
        self.finalize_metrics: Callable[[Any], Any] = finalize


def x_and_y(batch: Any) -> tuple[Any, Any]:
    """The two parts of a batch, a mapping or a pair."""
    if isinstance(batch, Mapping):
        if not {"x", "y"} <= set(batch):
            raise ProcessError(
                "a batch has an x and a y",
                expected="the keys x and y, or a pair",
                found=", ".join(map(str, batch)),
                do="map the dataset: OrderedDict(x=…, y=…)",
            )
        return batch["x"], batch["y"]
    x, y = batch
    return x, y


def number_of_examples(batch: Any) -> Any:
    """How many examples a batch has, `int32`: of x, of y or of predictions."""
    return tf.shape(tf.nest.flatten(batch)[0])[0]
