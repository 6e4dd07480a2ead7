# SPDX-License-Identifier: Apache-2.0
"""Lesson 03: the body writes a program, once, and the program is what runs."""

from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu import viz
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import MACHINE, Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import NO_RETURN, looks, raises, typed, usual

_MEAN: Final = (
    "there is no `mean` here: it is `fl.federated_mean(readings)`",
    raises("NameError: name 'mean'"),
)
WITH_TARGET: Final = "<readings={float32}@CLIENTS,target=float32@SERVER>"


def _target_gap() -> Any:
    @fl.federated_computation(
        fl.type_at_clients(np.float32), fl.type_at_server(np.float32)
    )
    def target_gap(readings: Any, target: Any) -> Any:
        return fl.federated_mean(readings) - target

    return target_gap


TARGET_GAP = Exercise(
    name="target_gap",
    title="how far from the target?",
    points=10,
    want=wants.computation(f"({WITH_TARGET} -> float32@SERVER)"),
    reference=_target_gap,
    cases=(
        Case("three homes", ([18.0, 20.5, 24.5], 20.0)),
        Case("too cold: a negative gap", ([15.0, 16.0], 20.0)),
        Case("one home", ([21.5], 18.0)),
    ),
    mistakes=usual(
        "the gap has a sign, too cold is negative: leave out `abs`",
        lambda readings, target: abs(np.mean(readings) - target),
        raises(r"abs\(\)"),
        "this is the target minus the mean; subtract the other way round",
        lambda readings, target: target - np.mean(readings),
        "subtract the target from the mean",
        lambda readings, target: np.mean(readings),
        lambda readings, target: np.mean(readings) / target,
        lambda readings, target: np.mean(readings) + target,
        "you took the sum of the readings, not their mean",
        lambda readings, target: np.sum(readings) - target,
        "20 is frozen in: use the parameter `target`, which comes with the call",
        lambda readings, target: np.mean(readings) - 20.0,
        *_MEAN,
        "`average` is a program: call it, `average(readings)`",
        raises("(?s)plain values only.*->"),
        "the mean is of the readings alone: subtract the target after it",
        raises("weighted_mean|average takes one"),
        "mean and target are both at the server: leave out `federated_broadcast`",
        raises(r"found: +<float32@\w+,float32@"),
        "each home has its own distance: take the mean of the readings first",
        raises("several placements"),
        typed(f"({WITH_TARGET} -> {{float32}}@CLIENTS)"),
        "these are two results side by side: subtract one from the other with `-`",
        typed(f"({WITH_TARGET} -> <float32@SERVER,float32@SERVER>)"),
    ),
    hints=(
        "There are two steps: the server gets the mean, and there the target is "
        "subtracted.",
        "The first cell of the lesson has the mean, and `fahrenheit` has arithmetic on "
        "values. It works if both sides are at the same place, and here both are at "
        "the server.",
        "A difference of two values:\n    return fl.federated_mean(...) - ...",
        "The readings give the mean. What is subtracted?\n"
        "    @fl.federated_computation(\n"
        "        fl.type_at_clients(np.float32), fl.type_at_server(np.float32)\n"
        "    )\n"
        "    def target_gap(readings, target):\n"
        "        return fl.federated_mean(readings) - ...",
    ),
    reward=lambda answer: viz.draw_graph(answer),
)


def _heat(mean: Any) -> Any:
    return 0.0 if mean > 20 else 1.0


def _heating() -> Any:
    heat = fl.np_computation(_heat, np.float32)

    @fl.federated_computation(fl.type_at_clients(np.float32))
    def heating(readings: Any) -> Any:
        return fl.federated_map(heat, fl.federated_mean(readings))

    return heating


def _decisions(answer: Any, *homes: Any) -> list[float]:
    return [float(answer(readings)) for readings in homes]


def _if(decide: Any) -> Any:
    """A function of several rounds of readings: what `decide` says in each."""
    return lambda *homes: [decide(readings) for readings in homes]


HEATING = Exercise(
    name="heating",
    title="heat, or not",
    points=10,
    want=wants.computation("({float32}@CLIENTS -> float32@SERVER)"),
    reference=_heating,
    cases=(
        Case("cold days, and a warm one", ([18.0], [10.0, 12.0], [24.0]), _decisions),
        Case("most homes are cold, their mean is warm", ([19, 19, 28],), _decisions),
        Case("exactly 20 degrees", ([20.0],), _decisions),
        Case("near 20", ([20.04, 20.06], [18, 21], [19, 22.5]), _decisions),
    ),
    mistakes=usual(
        "the mean is at the server, and so is the decision: leave out "
        "`federated_broadcast`",
        looks(lambda answer: "federated_broadcast" in answer.to_text()),
        *_MEAN,
        "this decides by one home, the warmest or the coldest: take the mean",
        _if(lambda readings: _heat(np.max(readings))),
        _if(lambda readings: _heat(np.min(readings))),
        "you added up the readings: take their mean",
        _if(lambda readings: _heat(np.sum(readings))),
        "each home decides for itself here: take the mean first, then apply `heat`",
        typed("({float32}@CLIENTS -> {float32}@CLIENTS)"),
        "each home decided for itself, and then you took the mean of the decisions: "
        "take the mean of the readings first",
        _if(lambda readings: np.mean([_heat(each) for each in readings])),
        "at exactly 20 degrees there is heating, too: 0.0 only above 20",
        _if(lambda readings: float(np.mean(readings) < 20)),
        "the limit is 20: it is 0.0 as soon as the mean is above",
        _if(lambda readings: float(np.mean(readings) < 20.5)),
        _if(lambda readings: float(np.mean(readings) < 21)),
        "it is the wrong way round: 1.0 when it is cold",
        _if(lambda readings: float(np.mean(readings) > 20)),
        "this is the mean itself: `federated_map` applies `heat` to it",
        _if(np.mean),
        "take the mean in `heating`; `heat` gets one number, `mean`",
        raises("not for leaf code|in leaf code|NameError: name 'readings'"),
        "`heat` works on a number: `federated_map(heat, …)` applies it at a placement",
        raises("not assignable to type float32"),
        "`heat` returns 1.0 or 0.0, with a decimal point: neither truth values nor "
        "whole numbers",
        typed(
            "({float32}@CLIENTS -> bool@SERVER)", "({float32}@CLIENTS -> int32@SERVER)"
        ),
    ),
    hints=(
        "Two moves: the homes' mean comes to the server, and there a leaf looks at the "
        "number.",
        "`one_if_above` is a leaf that compares. `federated_map` applies a leaf to a "
        "value at the server as well as to values at the clients.",
        "An `if` is allowed in the leaf:\n"
        "    if mean > ...:\n"
        "        return 0.0\n"
        "    return ...\n"
        "and the body has no `if` at all:\n"
        "    return fl.federated_map(..., ...)",
        "What is `heat` applied to?\n    return fl.federated_map(heat, ...)",
    ),
)


FROZEN: Final = 21.0
"""What `limit_now` is in the notebook when the first program is defined."""
LATER: Final = 15.0
WITH_LIMIT: Final = "<readings={float32}@CLIENTS,limit=float32@SERVER>"


def _share_above() -> Any:
    one_if_above = fl.np_computation(
        lambda reading, limit: np.float32(reading > limit), np.float32, np.float32
    )

    @fl.federated_computation(
        fl.type_at_clients(np.float32), fl.type_at_server(np.float32)
    )
    def share_above(readings: Any, limit: Any) -> Any:
        limits = fl.federated_broadcast(limit)
        return fl.federated_mean(fl.federated_map(one_if_above, (readings, limits)))

    return share_above


def _share(readings: Any, limit: float) -> Any:
    return np.mean(np.asarray(readings) > limit, dtype=np.float32)


SHARE_ABOVE = Exercise(
    name="share_above",
    title="make the limit a parameter",
    points=10,
    want=wants.computation(f"({WITH_LIMIT} -> float32@SERVER)"),
    reference=_share_above,
    cases=(
        Case("a low limit", ([7.0, 8.0, 9.0, 12.0, 14.0, 18.0, 24.0], 10.0)),
        Case("a high limit", ([22.0, 26.0, 31.0, 33.0, 36.0], 30.0)),
        Case("exactly at the limit is not above", ([5.0, 5.0, 6.0, 7.0], 5.0)),
        Case("one home", ([-3.0], -4.0)),
    ),
    mistakes=usual(
        "the limit is still frozen in: it is what `limit_now` was at definition",
        lambda readings, limit: _share(readings, FROZEN),
        lambda readings, limit: _share(readings, LATER),
        "this is the share of homes below the limit: is the pair the wrong way round, "
        "or did you subtract the share from 1?",
        lambda readings, limit: np.mean(np.asarray(readings) < limit),
        lambda readings, limit: 1 - _share(readings, limit),
        "this is the number of homes above the limit: take the mean to get the share",
        lambda readings, limit: np.sum(np.asarray(readings) > limit),
        "you also counted homes that are exactly at the limit",
        lambda readings, limit: np.mean(np.asarray(readings) >= limit),
        "this is one answer for all homes: each has to answer for itself, and the mean "
        "of the answers is the share",
        lambda readings, limit: float(np.max(readings) > limit),
        lambda readings, limit: float(np.mean(readings) > limit),
        "`limit` is at the server: pair the readings with what "
        "`fl.federated_broadcast(limit)` returns",
        raises("several placements|plain values only"),
        "one argument only: `federated_broadcast(limit)`, "
        "`federated_zip((readings, limits))`",
        raises("federated_(broadcast|zip) was called"),
        "clients need the limit: broadcast it, and map `one_if_above` over the pair",
        raises("the function <lambda>"),
        "the limit comes in as `limit`: broadcast that",
        raises("(?s)federated_broadcast.*placed|place it first"),
        "each home has to compare first, with `one_if_above`: that gives 0 or 1",
        lambda readings, limit: np.mean(readings),
        lambda readings, limit: np.mean(readings) - limit,
        "the answers are still at the homes: take their mean",
        typed(f"({WITH_LIMIT} -> {{float32}}@CLIENTS)"),
    ),
    hints=(
        "The limit must come from the parameter, not from a Python variable, and every "
        "client needs it before it can compare.",
        "Look at `frozen_share`: only the line that reads `limit_now` has to change. "
        "`federated_broadcast` sends a value from the server to the clients.",
        "One line for the limits, one for the share:\n"
        "    limits = fl.federated_broadcast(...)\n"
        "    return fl.federated_mean(fl.federated_map(one_if_above, ...))",
        "Each client applies `one_if_above` to a pair:\n"
        "    def share_above(readings, limit):\n"
        "        limits = fl.federated_broadcast(limit)\n"
        "        above = fl.federated_map(one_if_above, (readings, ...))\n"
        "        return fl.federated_mean(above)",
    ),
)


def _composed(first: Any, second: Any) -> Any:
    parameter = first.type_signature.parameter
    return fl.federated_computation(lambda x: second(first(x)), parameter)


def _add_one() -> Any:
    return fl.federated_computation(_plus_one, np.float32)


def _plus_one(x: Any) -> Any:
    return x + 1.0


def _times_ten() -> Any:
    return fl.federated_computation(_ten_times, np.float32)


def _ten_times(x: Any) -> Any:
    return x * 10.0


def _answered(answer: Any, first: Any, second: Any, data: Any) -> Any:
    return _checked(answer(first, second))(data)


def _typed(answer: Any, first: Any, second: Any) -> str:
    return str(_checked(answer(first, second)).type_signature)


def _checked(made: Any) -> Any:
    """What was made, if it is a computation: a Python function has no type."""
    if made is not None and not isinstance(made, fl.Computation):
        is_open = "polymorphic" in repr(made)
        found = "a polymorphic computation" if is_open else type(made)
        raise TypeError(f"compose returned {found}, not a computation with a type")
    return made


def _lacks_parameter(answer: Any) -> bool:
    names = answer.__code__.co_names
    return "type_signature" in names and "parameter" not in names


def _at_clients() -> tuple[Any, ...]:
    readings = fl.type_at_clients(np.float32)
    double = fl.federated_computation(lambda x: x + x, readings)
    average = fl.federated_computation(fl.federated_mean, readings)
    return double, average, [1.0, 2.0, 6.0]


COMPOSE = Exercise(
    name="compose",
    title="one after the other",
    points=15,
    want=wants.function(2),
    reference=lambda: _composed,
    cases=(
        Case("the order matters", lambda: (_add_one(), _times_ten(), 2.0), _answered),
        Case(
            "its type says what goes in and comes out",
            lambda: (
                fl.np_computation(lambda degrees: degrees > 20, np.float32),
                fl.federated_computation(lambda said: (said, said), np.bool_),
            ),
            _typed,
        ),
        Case("twice the same", lambda: (_add_one(), _add_one(), 0.5), _answered),
        Case("clients first, then the server", _at_clients, _answered),
    ),
    mistakes=usual(
        "what came back is a Python function: return one that "
        "`@fl.federated_computation(…)` decorates",
        raises("returned <class 'function'>"),
        "the decorator has no types: take the type from `first`, as the text says",
        raises("returned a polymorphic"),
        "`federated_map` is for placed values; here, just call `second`",
        raises("federated_map needs"),
        "the type of the parameter comes from `first`: it differs from case to case",
        raises(r"type [^(]\S* is not assignable"),
        "`.parameter` is missing: the decorator wants the type of what goes in",
        looks(_lacks_parameter),
        "there is no `x` yet: write a body, `def composed(x): …`, decorate it, and "
        "return it without calling it",
        raises("NameError: name 'x'"),
        "the type that goes in is `first.type_signature.parameter`",
        raises("has no '(parameter|parameter_type|type)'|'TensorType' object"),
        "the body has one parameter, `x`, and the decorator one type; return the "
        "program without calling it",
        raises("without its arg|takes 0 positional|not fit together|with one value"),
        "a leaf works without clients, and `first` may need them: decorate with "
        "`fl.federated_computation`",
        raises("not for leaf code"),
        "a computation is applied to data, not to another one or to a type: write a "
        "new body that calls both",
        raises("NotAssignable|cannot be part|become the declared"),
        "the function comes first, then its type",
        raises("(?s)not denote a type.*<lambda>"),
        *NO_RETURN,
        "`second` ran before `first`: the inner call runs first",
        lambda first, second, data: first(second(data)),
        "`second` gets what `first` made of `x`, and that one result is returned",
        lambda first, second, data: first(data) + second(data),
        lambda first, second, data: (first(data), second(first(data))),
        lambda first, second, data: (first(data), second(data)),
        "only one of the two was applied",
        lambda first, second, data: first(data),
        lambda first, second, data: second(data),
    ),
    hints=(
        "Define a program inside `compose`, with one parameter, whose body calls both "
        "computations. Return that program.",
        "Look at `climb`: it defines a program inside a body, and calls one after the "
        "other. The decorator needs the type of the parameter; the text says where to "
        "find it.",
        "A decorator, a body, and a `return` for each function:\n"
        "    @fl.federated_computation(...)\n"
        "    def composed(x):\n"
        "        return ...\n"
        "\n"
        "    return ...",
        "What runs first is the inner call:\n"
        "    def compose(first, second):\n"
        "        @fl.federated_computation(first.type_signature.parameter)\n"
        "        def composed(x):\n"
        "            return second(...)\n"
        "\n"
        "        return composed",
    ),
)


LESSON: Final = Lesson(
    name="03_computations_and_tracing",
    title="When does your function run?",
    minutes=55,
    goals=(
        "tell what runs when a program is defined, and what runs when it is called",
        "find what was frozen into a program, and free it",
        "build programs from other programs",
    ),
    needs="lessons 1 and 2",
    exercises=(TARGET_GAP, SHARE_ABOVE, HEATING, COMPOSE),
    path=MACHINE,
    outcomes={"prints": "never"},
)
