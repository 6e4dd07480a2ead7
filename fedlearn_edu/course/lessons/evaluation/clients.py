# SPDX-License-Identifier: Apache-2.0
"""Lesson 09, one client: it trains on all its batches, and judges a model on them."""

from typing import Any, Final

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.lessons.evaluation import plain, program
from fedlearn_edu.course.lessons.evaluation.plain import a_batch, a_model
from fedlearn_edu.course.mistakes import gives, typed

_TRAIN: Final = (
    f"<model={program.MODEL},learning_rate=float32,all_batches={program.BATCH}*>"
)
_EVAL: Final = f"<model={program.MODEL},all_batches={program.BATCH}*>"


def _three() -> Any:
    return [a_batch(1, 2), a_batch(3, 4), a_batch(5)]


def _unequal() -> Any:
    return [a_batch(8), a_batch(7, 7, 0, 2)]


def _restarted(model: Any, rate: float, batches: Any) -> Any:
    return plain.trained(model, rate, batches[-1:])


LOCAL_TRAIN = Exercise(
    name="local_train",
    title="a client trains on all its batches",
    points=10,
    want=wants.computation(f"({_TRAIN} -> {program.MODEL})"),
    reference=program.local_train,
    cases=(
        Case("three batches", lambda: (a_model(1), 0.03, _three())),
        Case("one batch", lambda: (a_model(0), 0.05, [a_batch(6, 6)])),
        Case("batches of unequal size", lambda: (a_model(2), 0.02, _unequal())),
        Case("no batches: nothing to learn", lambda: (a_model(3), 0.5, [])),
    ),
    mistakes=(
        gives(
            "nobody trained: `step` returns the model that it got",
            lambda model, rate, batches: model,
        ),
        gives(
            "the captured `learning_rate` is not used: these steps have the rate 0.1",
            lambda model, rate, batches: plain.trained(model, 0.1, batches),
        ),
        gives(
            "the captured `learning_rate` is not used: these steps have the rate 1",
            lambda model, rate, batches: plain.trained(model, 1.0, batches),
        ),
        gives(
            "every step began anew at the first model, so only the last batch counts; "
            "go on from the model that `step` is given",
            _restarted,
        ),
        gives(
            "every step began anew, at zeros, so only the last batch counts; go on "
            "from the model that `step` is given",
            lambda model, rate, batches: _restarted(a_model(0), rate, batches),
        ),
        gives(
            "you started from a model of zeros, not from the one that is given",
            lambda model, rate, batches: plain.trained(a_model(0), rate, batches),
        ),
        gives(
            "every batch was used twice",
            lambda model, rate, batches: plain.trained(
                model, rate, [each for each in batches for _ in (1, 2)]
            ),
        ),
        gives(
            "you went through all batches twice",
            lambda model, rate, batches: plain.trained(model, rate, [*batches] * 2),
        ),
        typed(
            "this keeps a model for each batch; a reduction keeps only the last one",
            f"({_TRAIN} -> {program.MODEL}*)",
        ),
        typed(
            "this returns a loss; return the trained model", f"({_TRAIN} -> float32)"
        ),
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


def _judged_by_zeros(model: Any, batches: Any) -> Any:
    return plain.summed(a_model(0), batches)


def _trained_first(model: Any, batches: Any) -> Any:
    trained = [plain.trained(model, 0.1, [each]) for each in batches]
    return sum(map(plain.loss, trained, batches))


def _over_images(model: Any, batches: Any) -> Any:
    return sum(plain.loss(model, each) * len(each["y"]) for each in batches)


LOCAL_EVAL = Exercise(
    name="local_eval",
    title="a client judges a model on all its batches",
    points=10,
    want=wants.computation(f"({_EVAL} -> float32)"),
    reference=program.local_eval,
    cases=(
        Case("three batches", lambda: (a_model(1), _three())),
        Case("one batch", lambda: (a_model(2), [a_batch(0, 1)])),
        Case("batches of unequal size", lambda: (a_model(3), _unequal())),
        Case("no batches: nothing is lost", lambda: (a_model(1), [])),
    ),
    mistakes=(
        gives(
            "you divided by the number of batches; add the losses up "
            "(a mean is fine, but here the sum is asked for)",
            lambda model, batches: plain.summed(model, batches) / len(batches),
        ),
        gives("you added up over images, not over batches", _over_images),
        gives("this counts the batches", lambda model, batches: float(len(batches))),
        gives(
            "this is the loss of the last batch only: add up, do not replace",
            lambda model, batches: plain.loss(model, batches[-1]),
        ),
        gives(
            "this is the loss of the first batch only",
            lambda model, batches: plain.loss(model, batches[0]),
        ),
        gives("you judged the zero model, not the captured `model`", _judged_by_zeros),
        gives(
            "you trained on each batch before judging it; only judge", _trained_first
        ),
        gives("the sign changed on the way", lambda m, b: -plain.summed(m, b)),
        gives("this is always zero: what is added up?", lambda *_: 0.0),
        typed(
            "this has one loss for each batch; add them up with `sequence_sum`",
            f"({_EVAL} -> float32*)",
        ),
        typed(
            "this returns the model; return what it costs",
            f"({_EVAL} -> {program.MODEL})",
        ),
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
