# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Lesson 09: from the loss of one batch to what a model costs everybody."""

from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import Sign, raises, returns, typed, usual
from fedlearn_edu.testing.comparison import alike

MODEL: Final = "<weights=float32[784,10],bias=float32[10]>"
BATCH: Final = "<x=float32[?,784],y=int32[?]>"

MODEL_TYPE: Final = fl.to_type(
    OrderedDict(weights=(np.float32, [784, 10]), bias=(np.float32, [10]))
)
BATCH_TYPE: Final = fl.to_type(
    OrderedDict(x=(np.float32, [None, 784]), y=(np.int32, [None]))
)
LOCAL_DATA_TYPE: Final = fl.SequenceType(BATCH_TYPE)
SERVER_MODEL_TYPE: Final = fl.type_at_server(MODEL_TYPE)
CLIENT_DATA_TYPE: Final = fl.type_at_clients(LOCAL_DATA_TYPE)


@cache
def batch_loss() -> Any:
    """`(<MODEL,BATCH> -> float32)`: cross-entropy, averaged over the batch."""
    tf = fl.tf

    @fl.tf_computation(MODEL_TYPE, BATCH_TYPE)
    def batch_loss(model: Any, batch: Any) -> Any:
        scores = tf.matmul(batch["x"], model["weights"]) + model["bias"]
        belief = tf.nn.softmax(scores)
        right = tf.one_hot(batch["y"], 10)
        return -tf.reduce_mean(tf.reduce_sum(right * tf.math.log(belief), axis=1))

    return batch_loss


@cache
def batch_train() -> Any:
    """`(<MODEL,BATCH,float32> -> MODEL)`: one step of gradient descent."""
    tf, loss_of = fl.tf, batch_loss()

    @fl.tf_computation(MODEL_TYPE, BATCH_TYPE, np.float32)
    def batch_train(model: Any, batch: Any, learning_rate: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(model)
            loss = loss_of(model, batch)
        slopes = tape.gradient(loss, model)
        return OrderedDict(
            weights=model["weights"] - learning_rate * slopes["weights"],
            bias=model["bias"] - learning_rate * slopes["bias"],
        )

    return batch_train


@cache
def local_train() -> Any:
    """`(<MODEL,float32,BATCH*> -> MODEL)`: one step for each batch of a client."""
    train = batch_train()

    @fl.federated_computation(MODEL_TYPE, np.float32, LOCAL_DATA_TYPE)
    def local_train(model: Any, learning_rate: Any, all_batches: Any) -> Any:
        @fl.federated_computation(MODEL_TYPE, BATCH_TYPE)
        def step(model: Any, batch: Any) -> Any:
            return train(model, batch, learning_rate)

        return fl.sequence_reduce(all_batches, model, step)

    return local_train


@cache
def local_eval() -> Any:
    """`(<MODEL,BATCH*> -> float32)`: the losses of a client's batches, added up."""
    loss_of = batch_loss()

    @fl.federated_computation(MODEL_TYPE, LOCAL_DATA_TYPE)
    def local_eval(model: Any, all_batches: Any) -> Any:
        @fl.federated_computation(BATCH_TYPE)
        def loss_on(batch: Any) -> Any:
            return loss_of(model, batch)

        return fl.sequence_sum(fl.sequence_map(loss_on, all_batches))

    return local_eval


@cache
def federated_evaluation() -> Any:
    """`(<MODEL@SERVER,{BATCH*}@CLIENTS> -> float32@SERVER)`: the mean over clients."""
    evaluate = local_eval()

    @fl.federated_computation(SERVER_MODEL_TYPE, CLIENT_DATA_TYPE)
    def federated_eval(model: Any, data: Any) -> Any:
        losses = fl.federated_map(evaluate, [fl.federated_broadcast(model), data])
        return fl.federated_mean(losses)

    return federated_eval


PIXELS, DIGITS = 784, 10


@cache
def a_model(seed: int) -> Any:
    """A model that has learned something, no matter what; 0 is the one of zeros."""
    random = np.random.default_rng(seed)
    scale = 0.05 if seed else 0.0
    return OrderedDict(
        weights=(scale * random.standard_normal([PIXELS, DIGITS])).astype(np.float32),
        bias=(10 * scale * random.standard_normal(DIGITS)).astype(np.float32),
    )


def a_batch(*labels: int) -> Any:
    """One image for each label, a tenth of it ink."""
    random = np.random.default_rng(sum(labels))
    ink = random.random([len(labels), PIXELS])
    return OrderedDict(
        x=np.where(ink > 0.9, ink, 0).astype(np.float32),
        y=np.asarray(labels, np.int32).reshape(-1),
    )


def scores(model: Any, batch: Any) -> Any:
    """`[images,10]`, as float64."""
    images, weights = (
        np.asarray(each, np.float64) for each in (batch["x"], model["weights"])
    )
    return images @ weights + model["bias"]


def belief(model: Any, batch: Any) -> Any:
    """`[images,10]`: the softmax of the scores."""
    powers = np.exp(scores(model, batch))
    return powers / powers.sum(axis=1, keepdims=True)


def right(batch: Any) -> Any:
    """`[images,10]`: a one at the digit that is there."""
    return np.eye(DIGITS)[np.asarray(batch["y"])]


def in_right(model: Any, batch: Any) -> Any:
    """`[images]`: the belief in the digit that is there."""
    return (right(batch) * belief(model, batch)).sum(axis=1)


def loss(model: Any, batch: Any) -> Any:
    """The mean over the images of -ln(belief in the right digit)."""
    return -np.mean(np.log(in_right(model, batch)))


def slopes(model: Any, batch: Any) -> Any:
    """The gradient of the loss."""
    too_much = (belief(model, batch) - right(batch)) / len(batch["y"])
    weights = np.float64(batch["x"]).T @ too_much
    return OrderedDict(weights=weights, bias=too_much.sum(axis=0))


def moved(model: Any, step: Any, by: float) -> Any:
    """The model, plus so many times a step."""
    return OrderedDict((name, model[name] + by * step[name]) for name in model)


def without_bias(model: Any) -> Any:
    """The model with a bias of zeros."""
    return {**model, "bias": 0 * model["bias"]}


def trained(model: Any, rate: float, batches: Any) -> Any:
    """The model after one step downhill for each batch."""
    for batch in batches:
        model = moved(model, slopes(model, batch), -rate)
    return model


def summed(model: Any, batches: Any) -> float:
    """The losses of all batches, added up."""
    return float(sum(loss(model, batch) for batch in batches))


_LOSS: Final = f"<model={MODEL},batch={BATCH}>"
_STEP: Final = f"<model={MODEL},batch={BATCH},learning_rate=float32>"


def _log(numbers: Any) -> Any:
    """Of negative numbers and zeros, too, without a warning."""
    with np.errstate(all="ignore"):
        return np.log(numbers)


def _picked(numbers: Any, batch: Any) -> Any:
    with np.errstate(all="ignore"):
        return -np.mean((right(batch) * numbers).sum(axis=1))


BATCH_LOSS = Exercise(
    name="batch_loss",
    title="how wrong a model is on a batch",
    points=10,
    want=wants.computation(f"({_LOSS} -> float32)"),
    reference=batch_loss,
    cases=(
        Case("a model of zeros, two images", lambda: (a_model(0), a_batch(3, 5))),
        Case("a model that prefers some digits", lambda: (a_model(1), a_batch(0, 9))),
        Case("a single image", lambda: (a_model(2), a_batch(7))),
        Case("five images", lambda: (a_model(3), a_batch(1, 1, 4, 8, 2))),
    ),
    mistakes=usual(
        "the sign: a logarithm of something below 1 is negative, and a loss is not",
        lambda model, batch: -loss(model, batch),
        "you summed over the batch; average, so that its size does not matter",
        lambda model, batch: loss(model, batch) * len(batch["y"]),
        "you averaged over the ten digits, too: add over digits (`axis=1`), average "
        "over images",
        lambda model, batch: loss(model, batch) / DIGITS,
        "the softmax is missing: this is the logarithm of the scores",
        lambda model, batch: _picked(_log(scores(model, batch)), batch),
        "the softmax is missing: these are the scores",
        lambda model, batch: _picked(scores(model, batch), batch),
        "the logarithm is missing: this is the belief itself, averaged",
        lambda model, batch: _picked(belief(model, batch), batch),
        lambda model, batch: np.mean(in_right(model, batch)),
        "you took the logarithm of the average belief; take it for each image, then "
        "average",
        lambda model, batch: -_log(np.mean(in_right(model, batch))),
        "you added up over the images, too: `axis=1` adds over the digits only",
        lambda model, batch: -_log(np.sum(in_right(model, batch))),
        "you took the log of the wrong thing: `right` is full of zeros, so take the "
        "logarithm of `belief`, and multiply by `right` then",
        lambda model, batch: np.inf,
        "you took the log of the wrong thing: of the belief in the other digits",
        lambda model, batch: _picked(_log(1 - belief(model, batch)), batch),
        "nothing picks the right digit: this averages the logarithms of all ten",
        lambda model, batch: -np.mean(_log(belief(model, batch))),
        "nothing picks the right digit: this adds the logarithms of all ten",
        lambda model, batch: -np.mean(_log(belief(model, batch)).sum(axis=1)),
        "the bias is missing in the scores",
        lambda model, batch: loss(without_bias(model), batch),
        "this is one loss for each image; average them",
        typed(f"({_LOSS} -> float32[?])"),
        "this is a table of images and digits: add up over the digits (`axis=1`), then "
        "average",
        typed(f"({_LOSS} -> float32[?,10])"),
    ),
    hints=(
        "Four things, in the order of the text: scores, belief, the logarithm of the "
        "belief in the right digit, the average over the batch with its sign changed.",
        "loss = -(1/n) · Σ ln(belief of image i in its own digit). `right * something` "
        "is zero except at the right digit, so adding up over `axis=1` picks it out.",
        "Fill the gaps:\n"
        '    scores = tf.matmul(batch["x"], ...) + ...\n'
        "    belief = ...(scores)\n"
        '    right = tf.one_hot(batch["y"], 10)\n'
        "    picked = tf.reduce_sum(right * ..., axis=1)\n"
        "    return -tf.reduce_mean(picked)",
    ),
)


def _steps(wrong: Callable[[Any, Any, float], Any]) -> Sign:
    """This model is what came out, or its bias where only the bias is looked at."""

    def like(got: Any, *inputs: Any) -> bool:
        made = wrong(*inputs)
        return alike(got, made) or alike(got, made["bias"])

    return returns(like)


def _bias(answer: Any, *arguments: Any) -> Any:
    return answer(*arguments)["bias"]


def _one_part(part: str) -> Callable[[Any, Any, float], Any]:
    def step(model: Any, batch: Any, rate: float) -> Any:
        return {**model, part: trained(model, rate, [batch])[part]}

    return step


BATCH_TRAIN = Exercise(
    name="batch_train",
    title="one step of gradient descent",
    points=10,
    want=wants.computation(f"({_STEP} -> {MODEL})"),
    reference=batch_train,
    cases=(
        Case("the bias", lambda: (a_model(1), a_batch(5, 5, 1), 0.1), _bias),
        Case("weights and bias", lambda: (a_model(0), a_batch(2, 3), 0.5)),
        Case("a single image", lambda: (a_model(2), a_batch(9), 0.01)),
        Case("a rate of 0 changes nothing", lambda: (a_model(3), a_batch(4), 0.0)),
    ),
    mistakes=usual(
        "you went uphill: the slope says where the loss grows, so subtract it",
        _steps(lambda model, batch, rate: trained(model, -rate, [batch])),
        "there is no learning rate in your step: multiply the slope by it",
        _steps(lambda model, batch, rate: trained(model, 1.0, [batch])),
        "you trained only the weights, not the bias",
        _steps(_one_part("weights")),
        "you trained only the bias, not the weights",
        _steps(_one_part("bias")),
        "this returns the gradient; return the model after the step",
        _steps(lambda model, batch, rate: slopes(model, batch)),
        "this returns the step; return the model, less the step",
        _steps(
            lambda model, batch, rate: moved(
                dict.fromkeys(model, 0.0), slopes(model, batch), rate
            )
        ),
        "you moved by the loss; move by the slopes, which the tape has",
        _steps(
            lambda model, batch, rate: moved(
                model, dict.fromkeys(model, loss(model, batch)), -rate
            )
        ),
        "nothing moved: this is the old model",
        _steps(lambda model, *_: model),
        "this is slope less model: it is the other way round",
        _steps(
            lambda model, batch, rate: moved(
                {name: -model[name] for name in model}, slopes(model, batch), rate
            )
        ),
        "you return the loss; return the model after the step",
        typed(f"({_STEP} -> float32)"),
        "`weights` comes first, then `bias`; an `OrderedDict` keeps this order, a "
        "plain `dict` does not",
        typed(f"({_STEP} -> <bias=float32[10],weights=float32[784,10]>)"),
        "the names are missing: return an `OrderedDict` with `weights` and `bias`",
        raises("tuple indices|list indices"),
        "you return one of the two parts; a model has `weights` and `bias`",
        typed(f"({_STEP} -> float32[784,10])", f"({_STEP} -> float32[10])"),
    ),
    hints=(
        "`tape.gradient(loss, model)` has the slopes, under the names of the model. "
        "Downhill is where the slope does not point.",
        "new = old - learning_rate · slope, for the weights and for the bias.",
        "Fill the gaps:\n"
        "    slopes = tape.gradient(..., model)\n"
        "    return OrderedDict(\n"
        '        weights=model["weights"] - ... * slopes["weights"],\n'
        "        bias=...,\n"
        "    )",
    ),
)


_TRAIN: Final = f"<model={MODEL},learning_rate=float32,all_batches={BATCH}*>"
_EVAL: Final = f"<model={MODEL},all_batches={BATCH}*>"


def _three_batches() -> Any:
    return [a_batch(1, 2), a_batch(3, 4), a_batch(5)]


def _unequal_batches() -> Any:
    return [a_batch(8), a_batch(7, 7, 0, 2)]


LOCAL_TRAIN = Exercise(
    name="local_train",
    title="a client trains on all its batches",
    points=10,
    want=wants.computation(f"({_TRAIN} -> {MODEL})"),
    reference=local_train,
    cases=(
        Case("three batches", lambda: (a_model(1), 0.03, _three_batches())),
        Case("one batch", lambda: (a_model(0), 0.05, [a_batch(6, 6)])),
        Case("batches of unequal size", lambda: (a_model(2), 0.02, _unequal_batches())),
        Case("no batches: nothing to learn", lambda: (a_model(3), 0.5, [])),
    ),
    mistakes=usual(
        "nobody trained: `step` returns the model that it got",
        lambda model, rate, batches: model,
        "the captured `learning_rate` is not used: these steps have the rate 0.1",
        lambda model, rate, batches: trained(model, 0.1, batches),
        "the captured `learning_rate` is not used: these steps have the rate 1",
        lambda model, rate, batches: trained(model, 1.0, batches),
        "every step began anew at the first model, so only the last batch counts; go "
        "on from the model that `step` is given",
        lambda model, rate, batches: trained(model, rate, batches[-1:]),
        "every step began anew, at zeros, so only the last batch counts; go on from "
        "the model that `step` is given",
        lambda model, rate, batches: trained(a_model(0), rate, batches[-1:]),
        "you started from a model of zeros, not from the one that is given",
        lambda model, rate, batches: trained(a_model(0), rate, batches),
        "every batch was used twice",
        lambda model, rate, batches: trained(
            model, rate, [each for each in batches for _ in (1, 2)]
        ),
        "you went through all batches twice",
        lambda model, rate, batches: trained(model, rate, [*batches] * 2),
        "this keeps a model for each batch; a reduction keeps only the last one",
        typed(f"({_TRAIN} -> {MODEL}*)"),
        "this returns a loss; return the trained model",
        typed(f"({_TRAIN} -> float32)"),
    ),
    hints=(
        "`step` is one call of the function you wrote before. What is done with every "
        "batch in turn is `sequence_reduce`.",
        "`sequence_reduce(sequence, start, step)`: model ← step(model, batch), for one "
        "batch after the other. The learning rate is that of the function around it.",
        "Fill the gaps:\n"
        "    def step(model, batch):\n"
        "        return batch_train(model, batch, ...)\n"
        "\n"
        "    return fl.sequence_reduce(..., model, ...)",
    ),
)


LOCAL_EVAL = Exercise(
    name="local_eval",
    title="a client judges a model on all its batches",
    points=10,
    want=wants.computation(f"({_EVAL} -> float32)"),
    reference=local_eval,
    cases=(
        Case("three batches", lambda: (a_model(1), _three_batches())),
        Case("one batch", lambda: (a_model(2), [a_batch(0, 1)])),
        Case("batches of unequal size", lambda: (a_model(3), _unequal_batches())),
        Case("no batches: nothing is lost", lambda: (a_model(1), [])),
    ),
    mistakes=usual(
        "you divided by the number of batches; add the losses up (a mean is fine, but "
        "here the sum is asked for)",
        lambda model, batches: summed(model, batches) / len(batches),
        "you added up over images, not over batches",
        lambda model, batches: sum(loss(model, b) * len(b["y"]) for b in batches),
        "this counts the batches",
        lambda model, batches: float(len(batches)),
        "this is the loss of the last batch only: add up, do not replace",
        lambda model, batches: loss(model, batches[-1]),
        "this is the loss of the first batch only",
        lambda model, batches: loss(model, batches[0]),
        "you judged the zero model, not the captured `model`",
        lambda model, batches: summed(a_model(0), batches),
        "you trained on each batch before judging it; only judge",
        lambda model, batches: sum(loss(trained(model, 0.1, [b]), b) for b in batches),
        "the sign changed on the way",
        lambda m, b: -summed(m, b),
        "this is always zero: what is added up?",
        lambda *_: 0.0,
        "this has one loss for each batch; add them up with `sequence_sum`",
        typed(f"({_EVAL} -> float32*)"),
        "this returns the model; return what it costs",
        typed(f"({_EVAL} -> {MODEL})"),
    ),
    hints=(
        "Two steps: make a loss of every batch, then add the losses up. "
        "The model is captured, as the learning rate was before.",
        "`sequence_map(f, sequence)` applies f to every element, "
        "`sequence_sum(sequence)` adds the elements up.",
        "Fill the gaps:\n"
        "    def loss_on(batch):\n"
        "        return batch_loss(..., batch)\n"
        "\n"
        "    return fl.sequence_sum(fl.sequence_map(..., all_batches))",
    ),
)


_ASKED: Final = f"<model={MODEL}@SERVER,data={{{BATCH}*}}@CLIENTS>"


def _two_clients() -> Any:
    return [[a_batch(1, 2), a_batch(3)], [a_batch(4, 5, 6)]]


def _unequal_clients() -> Any:
    return [[a_batch(7)], [a_batch(8, 8)], [a_batch(9), a_batch(0, 1), a_batch(2)]]


def _losses(model: Any, data: Any) -> Any:
    return np.array([summed(model, batches) for batches in data])


def images(batches: Any) -> float:
    """How many images a client has."""
    return float(sum(len(batch["y"]) for batch in batches))


def _weighted(weigh: Callable[[Any], float]) -> Callable[[Any, Any], Any]:
    """A mean over clients that do not count the same."""
    return lambda model, data: np.average(
        _losses(model, data), weights=list(map(weigh, data))
    )


FEDERATED_EVAL = Exercise(
    name="federated_eval",
    title="the mean over clients of what a model costs",
    points=15,
    want=wants.computation(f"({_ASKED} -> float32@SERVER)"),
    reference=federated_evaluation,
    cases=(
        Case("two clients", lambda: (a_model(1), _two_clients())),
        Case("one client", lambda: (a_model(2), [[a_batch(3), a_batch(4)]])),
        Case("three clients, unequal", lambda: (a_model(3), _unequal_clients())),
        Case("a client without batches", lambda: (a_model(1), [[a_batch(5)], []])),
    ),
    mistakes=usual(
        "you added over the clients; take the mean",
        lambda model, data: _losses(model, data).sum(),
        "you averaged over clients and over their batches; each client counts the same "
        "here",
        lambda model, data: _losses(model, data).sum() / sum(map(len, data)),
        "you weighted the clients by their images; here each counts the same",
        _weighted(images),
        "you weighted the clients by their batches; here each counts the same",
        _weighted(len),
        "this is the loss of the worst client",
        lambda model, data: _losses(model, data).max(),
        "this is the loss of the best client",
        lambda model, data: _losses(model, data).min(),
        "you judged a model of zeros, not the one of the server",
        lambda model, data: _losses(a_model(0), data).mean(),
        "you weighted the losses by themselves: give the mean one argument",
        lambda model, data: np.average(
            _losses(model, data), weights=_losses(model, data)
        ),
        "the losses are still at the clients: take their mean",
        typed(f"({_ASKED} -> {{float32}}@CLIENTS)"),
        "the server now holds every client's loss; it only needs their mean",
        typed(f"({_ASKED} -> float32*@SERVER)"),
        "this returns the model; return what it costs",
        typed(f"({_ASKED} -> {MODEL}@SERVER)", f"({_ASKED} -> {MODEL}@CLIENTS)"),
    ),
    hints=(
        "Three moves: the model goes to the clients, each client judges it, "
        "the losses come back.",
        "`federated_broadcast(model)` is the model at the clients. "
        "`federated_map(f, [a, b])` gives both to f at each client.",
        "Fill the gaps:\n"
        "    losses = fl.federated_map(..., [fl.federated_broadcast(...), data])\n"
        "    return fl.federated_...(losses)",
    ),
)


LESSON: Final = Lesson(
    name="09_local_training_and_evaluation",
    title="How good is a model for everybody?",
    minutes=55,
    goals=(
        "write what a model costs, and one step of learning",
        "let each client train, and judge, on all its own data",
        "tell what a loss was averaged over, and when that fools you",
    ),
    needs="lessons 1 and 6",
    exercises=(BATCH_LOSS, BATCH_TRAIN, LOCAL_TRAIN, LOCAL_EVAL, FEDERATED_EVAL),
)
