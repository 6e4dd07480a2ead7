# SPDX-License-Identifier: Apache-2.0
"""Lesson 09a: batch after batch, the loss, a step downhill, a client's training."""

from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final

import numpy as np

from fedlearn_edu.capabilities import has_tensorflow
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson, Sign
from fedlearn_edu.course.mistakes import looks, raises, returns, typed, usual
from fedlearn_edu.simulation import datasets, partitions
from fedlearn_edu.testing.comparison import alike

MODEL: Final = "<weights=float32[784,10],bias=float32[10]>"
BATCH: Final = "<x=float32[?,784],y=int32[?]>"


def softmax() -> Any:
    """The module with the right answers; TensorFlow comes with it, so not at once."""
    return import_module("fedlearn_edu.course.softmax")


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


def probabilities(model: Any, batch: Any) -> Any:
    """`[images,10]`: the softmax of the scores."""
    return _softmax(scores(model, batch))


def _softmax(rows: Any) -> Any:
    return np.exp(rows) / np.exp(rows).sum(axis=1, keepdims=True)


def right(batch: Any) -> Any:
    """`[images,10]`: a one at the digit that is there."""
    return np.eye(DIGITS)[np.asarray(batch["y"])]


def in_right(model: Any, batch: Any) -> Any:
    """`[images]`: the probability of the digit that is there."""
    return (right(batch) * probabilities(model, batch)).sum(axis=1)


def loss(model: Any, batch: Any) -> Any:
    """The mean over the images of -ln(probability of the right digit)."""
    return -np.mean(np.log(in_right(model, batch)))


def gradient(model: Any, batch: Any) -> Any:
    """The gradient of the loss."""
    too_much = (probabilities(model, batch) - right(batch)) / len(batch["y"])
    weights = np.float64(batch["x"]).T @ too_much
    return OrderedDict(weights=weights, bias=too_much.sum(axis=0))


def images(batches: Any) -> float:
    """How many images a client has."""
    return float(sum(len(batch["y"]) for batch in batches))


def moved(model: Any, step: Any, by: float) -> Any:
    """The model, plus so many times a step."""
    return OrderedDict((name, model[name] + by * step[name]) for name in model)


def without_bias(model: Any) -> Any:
    """The model with a bias of zeros."""
    return {**model, "bias": 0 * model["bias"]}


def trained(model: Any, rate: float, batches: Any) -> Any:
    """The model after one step downhill for each batch."""
    for batch in batches:
        model = moved(model, gradient(model, batch), -rate)
    return model


def three_batches() -> Any:
    """Of two images, two, and one."""
    return [a_batch(1, 2), a_batch(3, 4), a_batch(5)]


def unequal_batches() -> Any:
    """Of one image and of four."""
    return [a_batch(8), a_batch(7, 7, 0, 2)]


def _labels(batches: Any) -> list[Any]:
    return [batch["y"] for batch in batches]


IMAGES_OF = Exercise(
    name="images_of",
    title="how many images a client has",
    points=10,
    want=wants.computation(f"({BATCH}* -> float32)", "(LOCAL_DATA_TYPE -> float32)"),
    reference=lambda: softmax().images_of,
    cases=(
        Case(
            "batches of five, two, and one",
            lambda: ([a_batch(0, 1, 2, 3, 4), a_batch(5, 6), a_batch(8)],),
        ),
        Case("two and four", lambda: ([a_batch(8, 9), a_batch(7, 7, 0, 2)],)),
        Case("one batch", lambda: ([a_batch(6, 6, 6)],)),
        Case("no batches: no images", lambda: ([],)),
    ),
    mistakes=usual(
        "this counts the batches: add the number of images in each, not 1",
        len,
        "this is the size of one batch: add the size of each to `so_far`",
        lambda batches: len(_labels(batches)[-1]),
        lambda batches: max(map(len, _labels(batches))),
        raises("(?s)returns something else than the state.*found: +int"),
        "the count begins at 1; with no images yet, `start` is 0",
        lambda batches: 1 + images(batches),
        'only the first number of a shape counts the images, and `len(batch["y"])` '
        "is that number",
        lambda batches: images(batches) * PIXELS,
        lambda batches: len(batches) * PIXELS,
        raises(r"found: +float64\[[12]\]"),
        "you computed with the labels themselves: count them, with `len`",
        lambda batches: sum(labels.sum() for labels in _labels(batches)),
        raises(r"(?m)found: +float64(\[\?\])?$"),
        "you counted the parts of a batch, `x` and `y`: take the length of one of them",
        lambda batches: 2 * len(batches),
        "this stays 0: return `so_far` plus the size of the batch",
        lambda batches: 0.0,
        "each batch has its count now, but they are not added up",
        typed(f"({BATCH}* -> float32*)", f"({BATCH}* -> int32*)"),
        "a whole number: `np.float32(…)` makes it a float, as a later mean needs it",
        typed(f"({BATCH}* -> int32)", f"({BATCH}* -> int64)"),
        "here `start` has to be a float32, as `so_far` is one: begin at `0.0`",
        raises("zero and the result"),
        "this adds up the batches themselves; count the images of each, and carry the "
        "number along with `sequence_reduce`",
        raises("SumIncompatible"),
        "`add_images` is for one batch: `sequence_reduce` calls it for each of them",
        raises("where: +add_images's argument"),
        "`so_far` is a number, and `batch` has the images: the two are swapped",
        raises("float.* is not subscriptable|invalid index to scalar"),
    ),
    hints=(
        "What is known before the first batch? And what changes with each batch?",
        "`write_behind` above has the form: it takes what is known so far and one "
        'element, and returns what is known then. `len(batch["y"])` counts the labels.',
        "A state that grows, and the walk along the batches:\n"
        "    def add_images(so_far, batch):\n"
        "        return so_far + ...\n"
        "\n"
        "    return fl.sequence_reduce(..., ..., add_images)",
        "Before the first batch there are no images; a float has a decimal point:\n"
        "    def add_images(so_far, batch):\n"
        '        return so_far + len(batch["y"])\n'
        "\n"
        "    return fl.sequence_reduce(all_batches, ..., add_images)",
    ),
)


FLOAT64: Final = (
    "this is a `float64`, NumPy's way with decimal numbers; `np.float32(…)` around an "
    "answer makes it a `float32`"
)
_LOSS: Final = f"<model={MODEL},batch={BATCH}>"
_STEP: Final = f"<model={MODEL},batch={BATCH},learning_rate=float32>"


def _log(numbers: Any) -> Any:
    """Of negative numbers and zeros, too, without a warning."""
    with np.errstate(all="ignore"):
        return np.log(numbers)


def _picked(numbers: Any, batch: Any) -> Any:
    with np.errstate(all="ignore"):
        return -np.mean((right(batch) * numbers).sum(axis=1))


def _over_images(model: Any, batch: Any) -> Any:
    powers = np.exp(scores(model, batch))
    return powers / powers.sum(axis=0)


def _over_all(model: Any, batch: Any) -> Any:
    powers = np.exp(scores(model, batch))
    return powers / powers.sum()


def _on_a_probe(wrong: Callable[[Any, Any], Any]) -> Sign:
    """On a batch that tells them apart: scores above zero, all digits twice."""
    batch, model = a_batch(*range(DIGITS), *range(DIGITS)), a_model(1).copy()
    model["bias"] = model["bias"] + np.float32(20)
    return looks(
        lambda answer: alike(answer(model, batch), -wrong(model, batch).mean())
    )


_ONE_HOT, _ADD, _PROBABILITIES = (
    ("tf.one_hot", "tf.reduce_sum", "tf.nn.softmax(scores)")
    if has_tensorflow()
    else ("one_hot", "np.sum", "softmax(scores)")
)
_RIGHT: Final = f'    right = {_ONE_HOT}(batch["y"], 10)\n'

BATCH_LOSS = Exercise(
    name="batch_loss",
    title="how wrong a model is on a batch",
    points=10,
    want=wants.computation(
        f"({_LOSS} -> float32)", "(MODEL_TYPE, BATCH_TYPE -> float32)"
    ),
    reference=lambda: softmax().batch_loss,
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
        "you averaged over the ten digits, too, or divided by 10: add over digits "
        "(`axis=1`), average over images",
        lambda model, batch: loss(model, batch) / DIGITS,
        "the logarithm is missing: this averages the probabilities themselves",
        lambda model, batch: _picked(probabilities(model, batch), batch),
        lambda model, batch: np.mean(in_right(model, batch)),
        lambda model, batch: 1 - np.mean(in_right(model, batch)),
        "softmax twice: a function `…_with_logits` takes the scores, not probabilities",
        lambda model, batch: _picked(
            _log(_softmax(probabilities(model, batch))), batch
        ),
        "this is the most probable digit; the loss asks for the digit that is there",
        lambda model, batch: -np.mean(_log(probabilities(model, batch).max(axis=1))),
        "the softmax adds up over all images: each has its own sum, `axis=1` with "
        "`keepdims=True`",
        lambda model, batch: _picked(_log(_over_all(model, batch)), batch),
        "you took the logarithm of the average probability; take it for each image, "
        "then average",
        lambda model, batch: -_log(np.mean(in_right(model, batch))),
        "you added up over the images, too: `axis=1` adds over the digits only",
        lambda model, batch: -_log(np.sum(in_right(model, batch))),
        "the softmax is missing: this is the logarithm of scores",
        lambda model, batch: _picked(_log(scores(model, batch)), batch),
        _on_a_probe(
            lambda model, batch: _log((right(batch) * scores(model, batch)).sum(1))
        ),
        "each image is a row, so add up along `axis=1`",
        _on_a_probe(
            lambda model, batch: _log(
                (right(batch) * probabilities(model, batch)).sum(axis=0)
            )
        ),
        "ln 0 is minus infinity: add up along `axis=1` first, then take the logarithm",
        lambda model, batch: -_log(right(batch) * probabilities(model, batch)).mean(),
        "nothing picks the right digit: this averages the logarithms of all ten",
        lambda model, batch: -np.mean(_log(probabilities(model, batch))),
        "the softmax goes down the images; it goes over the ten digits of each image",
        lambda model, batch: _picked(_log(_over_images(model, batch)), batch),
        "this is one loss for each image; average them",
        typed(f"({_LOSS} -> float32[?])"),
        "this is a table of images and digits: add up over the digits (`axis=1`), then "
        "average",
        typed(f"({_LOSS} -> float32[?,10])"),
        "this is a squared error; the loss is minus the logarithm of a probability",
        lambda model, batch: np.mean((right(batch) - probabilities(model, batch)) ** 2),
        FLOAT64,
        typed(f"({_LOSS} -> float64)"),
        "the sum over the digits lost its axis: `keepdims=True` keeps it, and "
        "`tf.nn.softmax` does the whole",
        raises(r"(?s)ncompatible shapes|not be broadcast|required broadcastable"),
        "ten digits are needed, from this batch and not from the demo: "
        '`tf.nn.softmax(scores)` and `tf.one_hot(batch["y"], 10)`',
        raises("are 3 and 10|are 10 and 3|parameter 'indices'|Missing required pos"),
        '`x` and `y` are parts of the batch: `batch["y"]`',
        raises("name '[xy]' is not"),
        "this function wants a one-hot row for each image, not its label: "
        '`tf.one_hot(batch["y"], 10)`',
        raises("requires a multiple of 10"),
        "to pick, multiply by `right` element by element, with `*`, and add up along "
        "`axis=1`: no index, no `tf.matmul`",
        raises("are valid indices|size-incompatible"),
    ),
    hints=(
        "Go through the formula from the inside out: scores, probabilities, "
        "the logarithm of the right digit's probability, the mean over the batch, and "
        "the sign.",
        "The cell before the exercise has most of it, for two images and three digits. "
        "Only the logarithm, the mean and the sign are new.",
        f"The form:\n{_RIGHT}    picked = {_ADD}(...)\n    return ...",
        "Nearly all of it. `picked` has one probability for each image:\n"
        f"{_RIGHT}"
        f"    picked = {_ADD}(right * {_PROBABILITIES}, axis=1)\n"
        "    return -...",
    ),
)


def _steps(wrong: Callable[[Any, Any, float], Any]) -> Sign:
    """This model is what came out, or its bias where only the bias is looked at."""

    def like(got: Any, *inputs: Any) -> bool:
        made = wrong(*inputs)
        return alike(got, made) or alike(got, made["bias"])

    return returns(like)


def _names(answer: Any) -> Any:
    """Those of the parts of what comes out, if there are two."""
    one, other = answer.type_signature.result.items()
    return one[0], other[0]


def _bias(answer: Any, *arguments: Any) -> Any:
    return answer(*arguments)["bias"]


def _one_part(part: str) -> Callable[[Any, Any, float], Any]:
    def step(model: Any, batch: Any, rate: float) -> Any:
        return {**model, part: trained(model, rate, [batch])[part]}

    return step


_GRADIENT: Final = (
    "tape.gradient(loss, model)" if has_tensorflow() else "gradient_of(model, batch)"
)
_PUBLISHED: Final = (0.19690, 0.13176, 0.10113, 0.08274, 0.07030)


def _five_steps(step: Any) -> str:
    """The losses after five steps on client 5's last batch, beside those published."""
    digits = datasets.load("auto")
    is_mnist = digits.name == "mnist"
    each, size = (1000, 100) if is_mnist else (140, 14)
    mine = partitions.one_label_per_client(digits.train[1], 10, each)[5]
    batch = partitions.batches(*digits.train, mine, size)[-1]
    model, losses = a_model(0), []
    for _ in _PUBLISHED:
        model = step(model, batch, 0.1)
        losses.append(float(loss(model, batch)))
    yours = " ".join(f"{each:.4f}" for each in losses)
    said = (
        f"Five steps on the last batch of client 5, and the loss after each: {yours}."
    )
    published = " ".join(f"{each:.4f}" for each in _PUBLISHED)
    return said + f" Published for MNIST: {published}." * is_mnist


BATCH_TRAIN = Exercise(
    name="batch_train",
    title="one step of gradient descent",
    points=10,
    want=wants.computation(
        f"({_STEP} -> {MODEL})", "(MODEL_TYPE, BATCH_TYPE, float32 -> MODEL_TYPE)"
    ),
    reference=lambda: softmax().batch_train,
    cases=(
        Case("the bias", lambda: (a_model(1), a_batch(5, 5, 1), 0.1), _bias),
        Case("weights and bias", lambda: (a_model(0), a_batch(2, 3), 0.5)),
        Case("a single image", lambda: (a_model(2), a_batch(9), 0.01)),
        Case("a rate of 0 changes nothing", lambda: (a_model(3), a_batch(4), 0.0)),
    ),
    mistakes=usual(
        "you went uphill: the gradient points to where the loss grows, so subtract it",
        _steps(lambda model, batch, rate: trained(model, -rate, [batch])),
        "there is no learning rate in your step: multiply the gradient by it",
        _steps(lambda model, batch, rate: trained(model, 1.0, [batch])),
        "the rate is always 0.1 here; use `learning_rate`",
        _steps(lambda model, batch, rate: trained(model, 0.1, [batch])),
        "the learning rate multiplies the gradient, and nothing else",
        _steps(
            lambda model, batch, rate: moved(model, gradient(model, batch), -1 / rate)
        ),
        _steps(
            lambda model, batch, rate: {
                name: part - rate for name, part in trained(model, 1.0, [batch]).items()
            }
        ),
        _steps(
            lambda model, batch, rate: {
                name: rate * part for name, part in trained(model, 1.0, [batch]).items()
            }
        ),
        "nothing moved: this is the old model",
        looks(lambda answer: alike(answer(a_model(0), a_batch(2), 1.0), a_model(0))),
        "you trained only one of the two, weights and bias",
        _steps(_one_part("weights")),
        _steps(_one_part("bias")),
        "this returns the gradient; return the model after the step",
        _steps(lambda model, batch, rate: gradient(model, batch)),
        "this returns the step alone; return the model minus the step",
        _steps(
            lambda model, batch, rate: moved(
                dict.fromkeys(model, 0.0), gradient(model, batch), rate
            )
        ),
        _steps(
            lambda model, batch, rate: moved(
                dict.fromkeys(model, 0.0), gradient(model, batch), -rate
            )
        ),
        "you moved by the loss; move by its gradient",
        _steps(
            lambda model, batch, rate: moved(
                model, dict.fromkeys(model, loss(model, batch)), -rate
            )
        ),
        "it is the other way round: the model, minus `learning_rate` times gradient",
        _steps(lambda model, batch, rate: moved(gradient(model, batch), model, -rate)),
        _steps(
            lambda model, batch, rate: moved(
                {name: -model[name] for name in model}, gradient(model, batch), rate
            )
        ),
        "you return the loss; return the model after the step",
        typed(f"({_STEP} -> float32)"),
        "the names are missing: return an `OrderedDict` with `weights` and `bias`",
        typed(f"({_STEP} -> <float32[784,10],float32[10]>)"),
        "the parts are called `weights` and `bias`, in this order; a plain `dict` is "
        "sorted by name here, an `OrderedDict` is not",
        looks(lambda answer: _names(answer) != ("weights", "bias")),
        "the bias has moved by the gradient of the weights: `tape.gradient(loss, "
        "model)` has both",
        typed(f"({_STEP} -> <weights=float32[784,10],bias=float32[784,10]>)"),
        "the gradient of a list is a list: `tape.gradient(loss, model)` has names",
        raises("list indices"),
        "no optimizer, no `assign`: they change variables, and here are none. Return a "
        "new model, the old one minus `learning_rate` times gradient",
        raises("_unique_id|assign"),
        "`tape.gradient` found nothing: the loss comes first, then the model",
        raises("'NoneType' object is not subscriptable"),
        "keep what `tape.gradient(loss, model)` gives, and take the parts of that: a "
        "tape has none, and answers once",
        raises("one set of gradients|GradientTape' object"),
        "you return one of the two parts; a model has `weights` and `bias`",
        typed(f"({_STEP} -> float32[784,10])", f"({_STEP} -> float32[10])"),
    ),
    hints=(
        "The gradient points uphill, towards a larger loss. A step goes the other way, "
        "and the learning rate says how far.",
        "The cell with x² shows how a tape gives a derivative. With a model in "
        "place of x, the gradient has the model's names: `weights` and `bias`."
        if has_tensorflow()
        else "`gradient_of`, above, gives the gradient. It has the model's names: "
        "`weights` and `bias`.",
        "The form: one line for the gradient, then a model whose parts are old minus "
        "learning rate times gradient:\n"
        "    gradient = ...\n"
        "    return OrderedDict(\n"
        '        weights=model["weights"] - ...,\n'
        "        bias=...,\n"
        "    )",
        "Nearly all of it:\n"
        f"    gradient = {_GRADIENT}\n"
        "    return OrderedDict(\n"
        '        weights=model["weights"] - learning_rate * gradient["weights"],\n'
        "        bias=...,\n"
        "    )",
    ),
    reward=_five_steps,
)


_TRAIN: Final = f"<model={MODEL},learning_rate=float32,all_batches={BATCH}*>"


LOCAL_TRAIN = Exercise(
    name="local_train",
    title="a client trains on all its batches",
    points=10,
    want=wants.computation(
        f"({_TRAIN} -> {MODEL})", "(MODEL_TYPE, float32, LOCAL_DATA_TYPE -> MODEL_TYPE)"
    ),
    reference=lambda: softmax().local_train,
    cases=(
        Case("three batches", lambda: (a_model(1), 0.03, three_batches())),
        Case("one batch", lambda: (a_model(0), 0.05, [a_batch(6, 6)])),
        Case("batches of unequal size", lambda: (a_model(2), 0.02, unequal_batches())),
        Case("no batches: nothing to learn", lambda: (a_model(3), 0.5, [])),
    ),
    mistakes=usual(
        "the captured `learning_rate` is not used: these steps have another rate",
        lambda model, rate, batches: trained(model, 0.1, batches),
        lambda model, rate, batches: trained(model, 1.0, batches),
        "every step began anew, so only the last batch counts; go on from the model "
        "that `step` is given",
        lambda model, rate, batches: trained(model, rate, batches[-1:]),
        lambda model, rate, batches: trained(a_model(0), rate, batches[-1:]),
        "you started from a model of zeros, not from the one that is given",
        lambda model, rate, batches: trained(a_model(0), rate, batches),
        "you went through all batches twice",
        lambda model, rate, batches: trained(model, rate, [*batches] * 2),
        "this keeps a model for each batch; a reduction keeps only the last one",
        typed(f"({_TRAIN} -> {MODEL}*)"),
        "return the model that `fl.sequence_reduce(all_batches, model, step)` makes",
        typed(
            f"({_TRAIN} -> float32)",
            f"({_TRAIN} -> (<model={MODEL},batch={BATCH}> -> {MODEL}))",
        ),
        "each batch needs the model that the batch before it made, and "
        "`fl.sequence_map` hands on nothing: `fl.sequence_reduce`",
        raises("sequence_map cannot use"),
        "pass `step` itself, without calling it",
        raises("(?s)needs a computation.*where: +local_train_0|where: +step's arg"),
        "`step` has to return the next model: call `batch_train` in it",
        raises("something else than the state it takes|`local_train` has no answer"),
    ),
    hints=(
        "One batch after the other: each step begins with the model that the step "
        "before it made.",
        "A step is one call of `batch_train`, which you have just written. The text "
        "above the exercise says what `fl.sequence_reduce` takes, and in which order.",
        "The form:\n"
        "    def step(model, batch):\n"
        "        return batch_train(...)\n"
        "\n"
        "    return fl.sequence_reduce(...)",
        "Nearly all of it. Three things are needed here: the sequence, where to start, "
        "and the step:\n"
        "    def step(model, batch):\n"
        "        return batch_train(model, batch, learning_rate)\n"
        "\n"
        "    return fl.sequence_reduce(...)",
    ),
)


LESSON: Final = Lesson(
    name="09a_local_training",
    title="How does a client train a model?",
    minutes=65,
    goals=(
        "go through a client's data one batch at a time",
        "say in one number how wrong a model is, and make it a little better",
        "let a client train a model on all its data",
    ),
    needs="lessons 1 and 8, and derivatives",
    exercises=(IMAGES_OF, BATCH_LOSS, BATCH_TRAIN, LOCAL_TRAIN),
    outcomes={"digits": "123", "zeros": "fives"},
)
