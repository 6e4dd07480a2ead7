# SPDX-License-Identifier: Apache-2.0
"""A Keras model as a pure function: weights in, outputs out, the model unchanged."""

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

import fedlearn_edu as fl
from fedlearn_edu.errors import describe, is_yours, short_traceback
from fedlearn_edu.learning import losses
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.fingerprint import fingerprint
from fedlearn_edu.learning.models.keras_targets import (
    check_outputs,
    own_loss,
    targets_of,
)
from fedlearn_edu.learning.models.model import Model, in_batches

_NAMES = {"name", "inbound_nodes", "input_layers", "output_layers", "shared_object_id"}
_EXAMPLES, _ANY_LENGTH = 3, 32
"""Of the batch on which a model is tried, and of sequences of any length in it."""


@short_traceback
def from_keras_model(
    keras_model: Any,
    loss: str | Callable[[Any, Any], Any] = "cross_entropy",
    *,
    inputs: Any = None,
    targets: Any = None,
) -> Model:
    """Takes the layers and the present weights of a Keras model.

    The structure of the weights is the list `keras_model.trainable_variables`; the
    model itself is never changed, `variable.assign` puts trained weights back. Frozen
    weights are constants. Layers are called with `training=True` in training only; what
    they add to the loss there (regularizers, `add_loss`) counts in the gradients, but
    not in the losses that are reported.

    Args:
        keras_model: Built, and without layers that keep something between calls. It
            says the shape of x, `float32[?,28,28,1]` for `keras.Input([28, 28, 1])`,
            which examples must have; a last axis of length 1 is added to theirs.
            Several inputs are a tuple, or a dict, of arrays.
        loss: `"cross_entropy"` for scores *before* the softmax, `"mse"` for one number,
            or a function from outputs and y to one loss per example.
        inputs: The type of the x of one example, `(np.int32, [None])`, for a model that
            does not say it: a subclass is taken as it was built.
        targets: What y is, for a loss that is a function: `"classes"`, counted from 0;
            the labels of two classes with one score, `(-1, 1)`; or, for numbers, the
            type of the y of one example, `np.float32` or `(np.float32, [3])`.

    Raises:
        ProcessError: it is not built, or has no trainable weights; or it has
            constraints, or something that changes with each call (`BatchNormalization`,
            `Dropout`); or what comes out of it is not what the loss takes, such as
            shares after a softmax.

    Source: `tff.learning.models.from_keras_model`, `functional_model_from_keras`; as
    `keras.Model.stateless_call` does it.
    """
    _check_weights(keras_model)
    features = fl.to_type(inputs) if inputs is not None else _features(keras_model)
    others = list(keras_model.non_trainable_variables)
    constants = [variable.numpy() for variable in others]
    pure = _Pure(keras_model, list(keras_model.trainable_variables), others, constants)
    outputs = _tried(pure, in_batches(features))
    per_example = losses.find(loss) if isinstance(loss, str) else own_loss(loss)
    if isinstance(loss, str):
        check_outputs(keras_model, loss, outputs)
    classes, y = targets_of(loss, targets, outputs, is_open="?" in str(features))
    start = [variable.numpy() for variable in pure.trained]
    is_one_number = per_example is losses.squared_error

    def one_each(result: Any) -> Any:
        return fl.tf.reshape(result, [-1]) if is_one_number else result

    def initialize(seed: int) -> Any:
        return [fl.tf.constant(array) for array in start]

    def predict(weights: Any, x: Any) -> Any:
        return one_each(pure.call(weights, x, training=False)[0])

    def training(weights: Any, x: Any) -> Any:
        result, penalty, _ = pure.call(weights, x, training=True)
        return one_each(result), penalty

    loss_name = getattr(per_example, "__name__", type(per_example).__name__)
    name = f"Keras model {_kind(pure)} with {loss_name}"
    made = Model(name, initialize, predict, per_example, features, classes)
    return replace(made, targets=y, training=training)


# ------------------------------------------------------------------ the call


@final
@dataclass(frozen=True, eq=False)
class _Pure:
    """A model, and its variables.

    Attributes:
        model: of Keras.
        trained: its variables that gradients change.
        others: its other variables: frozen weights, statistics, seeds.
        constants: what these hold.
    """

    model: Any
    trained: list[Any]
    others: list[Any]
    constants: list[Any]

    def call(self, weights: Any, x: Any, *, training: bool) -> tuple[Any, Any, Any]:
        """The outputs, what layers add to the loss, and all variables afterwards."""
        variables = [*self.trained, *self.others]
        pairs = list(zip(variables, [*weights, *self.constants], strict=True))
        scope = fl.tf.keras.StatelessScope(pairs, collect_losses=True)
        with scope:
            outputs = self.model(_as_keras_takes(x), training=training)
            added = [_as_float32(fl.tf.reduce_sum(loss)) for loss in self.model.losses]
        if hasattr(outputs, "dtype"):
            outputs = _as_float32(outputs)
        return outputs, fl.tf.add_n([fl.tf.constant(0.0), *added]), scope


def _as_float32(numbers: Any) -> Any:
    """Keras may compute in float16 or float64; a mask would be lost in a cast."""
    return numbers if numbers.dtype == "float32" else fl.tf.cast(numbers, "float32")


def _as_keras_takes(x: Any) -> Any:
    """Several inputs in the containers in which they were declared."""
    if isinstance(x, Mapping):
        return {name: _as_keras_takes(each) for name, each in x.items()}
    return list(map(_as_keras_takes, x)) if isinstance(x, list | tuple) else x


def _features(keras_model: Any) -> Any:
    """The type of one x: of the inputs that were declared, or that it was built on."""
    if getattr(keras_model, "inputs", None):
        is_chain = isinstance(keras_model, fl.tf.keras.Sequential)
        declared = keras_model.inputs[0] if is_chain else keras_model.input
    else:
        built: Any = keras_model.get_build_config() or {}
        declared = built.get("input_shape")
    if declared is None:
        raise ProcessError(
            "the model does not say what it takes",
            expected="the type of the x of one example",
            found=f"a {type(keras_model).__name__}, built without an input shape",
            where="inputs",
            do="from_keras_model(…, inputs=(np.float32, [784]))",
        )
    return fl.to_type(_example_type(declared))


def _example_type(declared: Any) -> Any:
    if isinstance(declared, Mapping):
        return OrderedDict((k, _example_type(each)) for k, each in declared.items())
    if hasattr(declared, "shape"):
        dtype = fl.tf.as_dtype(declared.dtype).as_numpy_dtype
        return dtype, list(declared.shape[1:])
    if all(size is None or isinstance(size, int) for size in declared):
        return np.float32, list(declared[1:])
    return list(map(_example_type, declared))


# ------------------------------------------------------------------ its name


def _kind(pure: _Pure) -> str:
    """Its layers, and a digest of their settings and of code of yours in them.

    Keras numbers names within a program, so that a cell that is run again makes
    `dense_1` of `dense`; names are left out.
    """
    layers = pure.model.layers
    kinds = "-".join(type(layer).__name__ for layer in layers)
    found = hashlib.sha256(repr([_nameless(_config(each)) for each in layers]).encode())
    bare = {"stop_training", *vars(fl.tf.keras.Model(name="bare"))}
    for each in pure.model._flatten_layers():  # those that layers hold, too
        found.update(fingerprint([type(each), _of_yours(each, bare)]).encode())
    for variable in pure.model.non_trainable_weights:
        found.update(variable.numpy().tobytes())
    return f"{kinds} {found.hexdigest()[:8]}"


def _config(layer: Any) -> Any:
    try:
        return layer.get_config()
    except NotImplementedError:  # of one's own, with arguments that are no JSON
        return None


def _of_yours(layer: Any, bare: set[str]) -> dict[str, Any]:
    """Functions, and plain settings, which a layer of one's own need not say."""
    own = {k: v for k, v in vars(layer).items() if k[:1] != "_" and k not in bare}
    is_kerass = type(layer).__module__.partition(".")[0] in ("keras", "tensorflow")
    counts = _is_code if is_kerass else lambda each: _is_code(each) or _is_plain(each)
    return {name: each for name, each in own.items() if counts(each)}


def _is_code(thing: Any) -> bool:
    """Whether it is a function of yours that does not hold the layer itself."""
    code = getattr(thing, "__code__", None)
    return bool(code and is_yours(code.co_filename) and "self" not in code.co_freevars)


def _is_plain(thing: Any) -> bool:
    if isinstance(thing, list | tuple):
        return all(map(_is_plain, thing))
    return isinstance(thing, bool | int | float | str)


def _nameless(config: Any) -> Any:
    if isinstance(config, Mapping):
        own = {key: each for key, each in config.items() if key not in _NAMES}
        return {key: _nameless(each) for key, each in sorted(own.items())}
    if isinstance(config, list | tuple):
        return [_nameless(each) for each in config]
    return re.sub(r" at 0x[0-9a-f]+", "", repr(config))


# ------------------------------------------------------------------ what is refused


def _check_weights(keras_model: Any) -> None:
    """Refuses a model that cannot be trained at all."""
    if not hasattr(fl.tf.keras, "StatelessScope"):
        raise ProcessError(
            "models of Keras 2 keep their weights to themselves",
            expected="Keras 3",
            found="TF_USE_LEGACY_KERAS=1",
            do="start Python without it",
        )
    is_model = isinstance(keras_model, fl.tf.keras.Model)
    trained = keras_model.trainable_variables if is_model else []
    waits = is_model and any(not layer.built for layer in keras_model.layers)
    if not is_model or not keras_model.built or (waits and not trained):
        raise ProcessError(
            "the model has no weights yet",
            expected="a built model of Keras",
            found=describe(keras_model),
            do="give it an input shape, keras.Input([784]), or call it on a batch once",
        )
    if not trained:
        raise ProcessError(
            "there is nothing to train in this model",
            expected="trainable weights",
            found=describe(keras_model),
        )
    bound = [each.path for each in trained if getattr(each, "constraint", None)]
    if bound:
        raise ProcessError(
            "a mean of weights need not keep the constraint that each of them keeps",
            expected="weights without constraints",
            found=", ".join(bound),
            do="leave out kernel_constraint=…; a regularizer counts",
        )


def _tried(pure: _Pure, x_type: fl.Type) -> NDArray[np.float32]:
    """What comes out for a made-up batch of this type."""
    weights, x = [each.numpy() for each in pure.trained], _made_up(x_type)
    try:
        found, *_ = pure.call(weights, x, training=False)
        *_, scope = pure.call(weights, x, training=True)
    except Exception as error:
        raise ProcessError(
            "the model cannot be called on such a batch",
            expected=f"a model of x={x_type}",
            found=f"{type(error).__name__}: {str(error).strip().splitlines()[0]}",
            do="say the type of the x of one example, inputs=(np.int32, [None])",
        ) from error
    _check_keeps_nothing(pure, scope)
    if not hasattr(found, "dtype") or found.shape[:1] != (_EXAMPLES,):
        raise ProcessError(
            "a loss takes one output for each example",
            expected="a model with one output",
            found=f"outputs of shape {found.shape}"
            if hasattr(found, "dtype")
            else f"{len(found)} outputs",
            do="concatenate several, or train a model of one of them",
        )
    if getattr(found, "_keras_mask", None) is not None:
        raise ProcessError(
            "the outputs come with a mask, and a loss here counts each place",
            expected="sequences without padding",
            found="mask_zero=True, or a Masking layer, up to the last layer",
            do="leave the mask out; a loss of your own may skip the padded places",
        )
    array = np.asarray(found)
    return array[:, None] if array.ndim == 1 else array


def _made_up(type_: Any) -> Any:
    if isinstance(type_, fl.StructType):
        parts = [_made_up(part) for part in type_]
        names = type_.names()
        return OrderedDict(zip(names, parts, strict=True)) if all(names) else parts
    _, *sizes = type_.shape
    shape = [_EXAMPLES, *(_ANY_LENGTH if size is None else size for size in sizes)]
    if np.issubdtype(type_.dtype, np.floating):
        return np.random.default_rng(0).random(shape).astype(type_.dtype)
    return np.zeros(shape, type_.dtype)  # the one number that any Embedding knows


def _check_keeps_nothing(pure: _Pure, after: Any) -> None:
    """Refuses what changes with a call, which clients would have to keep."""
    pairs = zip(pure.others, pure.constants, strict=True)
    changed = [
        variable
        for variable, before in pairs
        if np.any(np.asarray(after.get_current_value(variable)) != before)
    ]
    unknown = len(after.state_mapping) - len(pure.trained) - len(pure.others)
    if not changed and not unknown:
        return
    statistics = [id(each) for each in pure.model.non_trainable_weights]
    if not changed:
        cure = "leave out stateful=True, and what draws at random"
    elif id(changed[0]) in statistics:
        cure = "take GroupNormalization for BatchNormalization, or freeze the layer"
    else:
        cure = "leave out what draws at random, such as Dropout, or set its rate to 0"
    raise ProcessError(
        "the model keeps something that each call in training changes",
        expected="nothing that changes but trainable weights",
        found=", ".join(_with_owner(pure.model, each) for each in changed)
        or "a state that is none of its weights",
        do=cure,
    )


def _with_owner(keras_model: Any, variable: Any) -> str:
    owner = keras_model
    for layer in _layers(keras_model):
        if any(each is variable for each in layer.variables):
            owner = layer
    return f"{variable.path} of {type(owner).__name__} {owner.name!r}"


def _layers(layer: Any) -> Iterator[Any]:
    for inner in getattr(layer, "layers", ()):
        yield inner
        yield from _layers(inner)
