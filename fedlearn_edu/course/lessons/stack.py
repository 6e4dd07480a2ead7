# SPDX-License-Identifier: Apache-2.0
"""Lesson 06: a stack of executors, built by hand from the leaf upwards."""

import inspect
import re
import warnings
from collections.abc import Awaitable, Sequence
from functools import cache
from traceback import clear_frames
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.contexts.calls import finish
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import MACHINE, Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import NO_RETURN, looks, raises, returns, typed, usual
from fedlearn_edu.framework import (
    Executor,
    ExecutorValue,
    FederatedResolvingStrategy,
    FederatingExecutor,
    NumPyExecutor,
    RecordingExecutor,
    ReferenceResolvingExecutor,
    SequenceExecutor,
    SyncExecutionContext,
    Tape,
    local_executor_factory,
)
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.viz.executors import Layer, layer_of

NEVER_AWAITED: Final = "a coroutine that nobody awaited"
NUMBERS: Final = fl.SequenceType(np.float32)
OF_FRAMEWORK: Final = (
    "this is in `framework`: write `framework.` before its name",
    raises(r"(: name|_edu has no) '(\w+Executor|\w+Strategy|\w+Context|\w+_factory)'"),
)


async def run_on(executor: Any, program: Any, data: Any, type_: Any) -> Any:
    """Runs a program on data of a type: the reference answer."""
    fn = await executor.create_value(program)
    arg = await executor.create_value(data, type_)
    result = await executor.create_call(fn, arg)
    return await result.compute()


def wait_for(work: Any) -> Any:
    """What an awaitable gives; warnings about forgotten `await`s are not needed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            result = finish(_finished(work)) if inspect.isawaitable(work) else work
        except Exception as error:
            # What holds a forgotten coroutine goes now, while warnings are off.
            clear_frames(error.__traceback__)
            if isinstance(error, AttributeError):
                error.obj = None
            raise
        if inspect.iscoroutine(result):
            result.close()
            return NEVER_AWAITED
        return result


async def _finished(work: Awaitable[Any]) -> Any:
    return await work


def _ran(executor: Any, program: Any, data: Any, type_: Any = np.float32) -> Any:
    """What comes out of a program on an executor."""
    return wait_for(run_on(executor, program, data, type_))


def _is_executor(answer: Any) -> bool:
    return isinstance(answer, Executor)


_UNCALLED: Final = "hand in the function itself; this is what it returns"


@cache
def double() -> Any:
    """Leaf code: twice a number."""
    return fl.np_computation(lambda x: x * np.float32(2), np.float32)


@cache
def four_times() -> Computation:
    """A function of functions: no leaf knows it."""
    return fl.federated_computation(lambda x: double()(double()(x)), np.float32)


@cache
def _negative() -> Any:
    """Leaf code for a type of its own."""
    return fl.np_computation(lambda x: -x, np.int32)


@cache
def _both_signs() -> Any:
    """Leaf code whose result is no single number."""
    return fl.np_computation(lambda x: (x, -x), np.float32)


def _asked(program: Any, layers: Any = NumPyExecutor, type_: Any = np.float32) -> Any:
    """Lets an answer run a program on an executor."""
    return lambda answer, data: wait_for(answer(layers(), program(), data, type_))


def _two_layers() -> Executor:
    return ReferenceResolvingExecutor(NumPyExecutor())


def _requests(answer: Any) -> list[str]:
    tape = Tape()
    leaf = RecordingExecutor(NumPyExecutor(), tape)
    wait_for(answer(leaf, double(), 1.0, np.float32))
    return sorted(event.what for event in tape)


RUN_ON = Exercise(
    name="run_on",
    title="four requests to any executor",
    points=10,
    want=wants.function(4),
    reference=lambda: run_on,
    cases=(
        Case("leaf code on the leaf", (21.0,), _asked(double)),
        Case("another number", (-0.5,), _asked(double)),
        Case(
            "a function of functions, one layer up",
            (3.0,),
            _asked(four_times, _two_layers),
        ),
        Case("a whole number", (7,), _asked(_negative, type_=np.int32)),
        Case("makes each request once", (), _requests),
        Case("two results", (2.0,), _asked(_both_signs)),
    ),
    mistakes=usual(
        "this is a handle, not a number: `compute()` is the fourth request",
        returns(lambda got, *_: isinstance(got, ExecutorValue)),
        raises("object Handle can't"),
        "an `await` is missing before the last step: this is a promise of a number",
        returns(lambda got, *_: isinstance(got, str) and got == NEVER_AWAITED),
        "you called the program yourself: the executor got no request",
        raises("synchronous call|object numpy"),
        "an `await` is missing: all four requests need one",
        raises("coroutine"),
        "data need their type: it is the second argument of `create_value`",
        raises("needs a type"),
        "`create_call` takes the function first, then its argument",
        raises("only functions can be called|argument too many|not callable"),
        "embed the data, too, with their type: `create_call` takes handles only",
        raises("embedded in the executor|create_call.. takes"),
        "you called the program yourself: the executor got no request",
        returns(lambda got, *_: isinstance(got, list) and not got),
        "do not close the executor: it is not yours, and others may still use it",
        returns(lambda got, *_: isinstance(got, list) and "close" in got),
        "one request too many: the program and the data are taken in once each",
        returns(lambda got, *_: isinstance(got, list) and len(got) > 4),
        "in a notebook, write `await` in place of `asyncio.run`",
        raises(r"asyncio\.run"),
        "`compute` has to be called: `compute()`",
        raises("object method can't"),
        "return what comes as it is: not every result is one number",
        raises(r"(float|int)\(\) argument|scalar"),
        "one argument needs no struct: hand in its handle",
        raises(r"type <\w+> is not assignable"),
        "a program brings its type along: `type_` is that of the data",
        raises(r"type \(.* is not assignable|holds what one participant has"),
        "take the type that is handed in, `type_`: the data are not always numbers of "
        "the same kind",
        raises("NotAssignable"),
        "an executor has no `compute`: ask the handle for its value",
        raises("Executor' object has no attribute 'compute'"),
        "this goes to another executor than the one that is handed in",
        raises("own leaf code only"),
        "you called `double`: take the program that is handed in",
        lambda n: 2 * n,
        "21.0 is still in it: take the data that are handed in, `data`",
        lambda _data: 42.0,
        "a function that waits for others begins with `async def`",
        looks(lambda answer: not inspect.iscoroutinefunction(answer)),
    ),
    hints=(
        "Four requests: take the program in, take the data in, call, compute.",
        "The cell above the exercise makes them to `leaf`. Here it is `executor`, and "
        "the rest is handed in, too.",
        "Each request is awaited:\n"
        "    fn = await executor.create_value(...)\n"
        "    arg = await executor.create_value(..., ...)\n"
        "    result = await executor.create_call(..., ...)\n"
        "    return await ...",
        "Which request brings a value out of its handle?\n"
        "    fn = await executor.create_value(program)\n"
        "    arg = await executor.create_value(data, type_)\n"
        "    result = await executor.create_call(fn, arg)\n"
        "    return await result....",
    ),
)


_NAMES: Final = "ReferenceResolvingExecutor"
_SEQUENCES: Final = "SequenceExecutor"
_LEAF: Final = "NumPyExecutor"


def participant_stack(leaf: Executor) -> Executor:
    """The stack of one participant: the reference answer."""
    names = ReferenceResolvingExecutor(leaf)
    return ReferenceResolvingExecutor(SequenceExecutor(names))


def names_of(executor: Executor) -> list[str]:
    """The classes of a chain of executors, from the top."""
    layer, names = layer_of(executor), []
    while True:
        names.append(layer.name)
        if len(layer.below) != 1:
            return names
        layer = layer.below[0][2]


@cache
def _sum_of_doubles() -> Computation:
    add = fl.np_computation(lambda a, b: a + b, np.float32, np.float32)
    step = fl.federated_computation(
        lambda a, b: add(a, double()(b)), np.float32, np.float32
    )
    return fl.federated_computation(
        lambda values: fl.sequence_reduce(values, 0.0, step), NUMBERS
    )


def _on_leaf(program: Any, type_: Any = np.float32) -> Any:
    """Runs a program on the stack of an answer."""
    return lambda answer, data: _ran(answer(NumPyExecutor()), program(), data, type_)


_REDUCE: Final = _on_leaf(_sum_of_doubles, NUMBERS)


def _names(answer: Any) -> list[str]:
    return names_of(answer(NumPyExecutor()))


def _leaf_is_used(answer: Any) -> bool:
    tape = Tape()
    _ran(answer(RecordingExecutor(NumPyExecutor(), tape)), double(), 1.0)
    return len(tape) > 0


def _built(*names: str) -> Any:
    return lambda answer: _names(answer) == list(names)


PARTICIPANT_STACK = Exercise(
    name="participant_stack",
    title="the stack of one participant",
    points=10,
    want=wants.function(1),
    reference=lambda: participant_stack,
    cases=(
        Case("runs a function of functions", (21.0,), _on_leaf(four_times)),
        Case("reduces a sequence", ([1.0, 2.0, 4.0],), _REDUCE),
        Case("reduces an empty sequence", ([],), _REDUCE),
        Case("stands on the leaf it is given", (), _leaf_is_used),
        Case("has these layers, from the top", (), _names),
    ),
    mistakes=usual(
        _UNCALLED,
        looks(_is_executor),
        *NO_RETURN,
        "`leaf` is the leaf: it needs no other one around it",
        raises(r"NumPyExecutor\(\) takes"),
        "each layer needs the one below it, in parentheses",
        raises("Layer.*positional|needs a type"),
        "a factory builds its own stack: put yours together, upwards from `leaf`",
        raises("Factory' object"),
        "this is the leaf alone",
        looks(_built(_LEAF)),
        "a layer for sequences is built, and not returned: return the topmost layer",
        looks(
            lambda answer: (
                _SEQUENCES not in _names(answer)
                and _SEQUENCES in answer.__code__.co_names
            )
        ),
        "there is no layer for sequences: put a `SequenceExecutor` on top, and names "
        "on top of that",
        looks(lambda answer: _SEQUENCES not in _names(answer)),
        "there is a layer too many: four are enough, the leaf among them",
        looks(lambda answer: len(_names(answer)) > 4),
        "the layer for names on top is missing: `sequence_reduce` stands in a "
        "function, and somebody has to open it",
        looks(lambda answer: _names(answer)[0] == _SEQUENCES),
        "the layers for names are side by side: the one for sequences belongs between "
        "them",
        looks(lambda answer: _names(answer)[:2] == [_NAMES, _NAMES]),
        "names are needed below the sequences, too: what is applied to each element "
        "may itself be a function of functions",
        looks(lambda answer: _names(answer)[-2] == _SEQUENCES),
        "this stands on another leaf than the one handed in: use `leaf`, the parameter",
        looks(lambda answer: not _leaf_is_used(answer)),
        "these stand side by side: each layer takes the one below it, in parentheses, "
        "and the topmost is returned",
        raises("'(list|tuple)' object has no attribute"),
        "an executor such as `names` or `leaf` is built already: for a new layer take "
        "the class, `framework.ReferenceResolvingExecutor(…)`",
        raises("not callable"),
        *OF_FRAMEWORK,
    ),
    hints=(
        "Four layers, three of them to be added. Begin with the leaf, and wrap.",
        "The cell with `names = …` wraps a leaf in one layer. What is needed right "
        "above the leaf, and what at the very top, so that functions are opened?",
        "From the bottom to the top:\n"
        "    names = framework.ReferenceResolvingExecutor(...)\n"
        "    sequences = framework.SequenceExecutor(...)\n"
        "    return framework.ReferenceResolvingExecutor(...)",
        "What is right below the topmost layer?\n"
        "    names = framework.ReferenceResolvingExecutor(leaf)\n"
        "    sequences = framework.SequenceExecutor(names)\n"
        "    return framework.ReferenceResolvingExecutor(...)",
    ),
)


_FEDERATING: Final = "FederatingExecutor"
_AT_CLIENTS: Final = fl.type_at_clients(np.float32)


def federated_stack(
    server: Executor, clients: Sequence[Executor], unplaced: Executor
) -> Executor:
    """The whole stack, over those of the participants: the reference answer."""
    targets: dict[Any, Any] = {fl.SERVER: server, fl.CLIENTS: list(clients)}
    strategy = FederatedResolvingStrategy.factory(targets)
    return ReferenceResolvingExecutor(FederatingExecutor(strategy, unplaced))


def _participant() -> Executor:
    return participant_stack(NumPyExecutor())


@cache
def _average() -> Computation:
    return fl.federated_computation(fl.federated_mean, _AT_CLIENTS)


@cache
def _doubled() -> Computation:
    return fl.federated_computation(
        lambda values: fl.federated_map(four_times(), values), _AT_CLIENTS
    )


def _of(answer: Any, count: int) -> Any:
    clients = [_participant() for _ in range(count)]
    return answer(_participant(), clients, _participant())


def _at_clients(program: Any) -> Any:
    """Runs a program on the stack of an answer, with a client for each value."""
    return lambda answer, values: _ran(
        _of(answer, len(values)), program(), values, _AT_CLIENTS
    )


def _who_calls(answer: Any, program: Any, data: Any, type_: Any) -> list[str]:
    """Those that are asked to call something while a program runs."""
    tape = Tape()

    def seen(who: str) -> Executor:
        return RecordingExecutor(_participant(), tape, participant=who)

    clients = [seen("client 0"), seen("client 1")]
    stack = answer(seen("server"), clients, seen("nowhere"))
    _ran(stack, program, data, type_)
    return sorted({event.participant for event in tape if event.what == "create_call"})


def _who_computes(answer: Any) -> list[str]:
    return _who_calls(answer, _average(), [1.0, 2.0], _AT_CLIENTS)


def _who_runs_the_rest(answer: Any) -> list[str]:
    return _who_calls(answer, double(), 1.0, np.float32)


def _outline(layer: Layer) -> Any:
    if layer.name == _FEDERATING:
        parts = [[word, count, _outline(each)] for word, count, each in layer.below]
        return [layer.name, parts]
    return [layer.name, *(_outline(below) for _, _, below in layer.below[:1])]


def _layers(answer: Any) -> str:
    return str(_outline(layer_of(_of(answer, 3))))


def _beside_the_factory(answer: Any) -> str:
    factory = local_executor_factory(support_sequence_ops=True)
    theirs = layer_of(factory.create_executor({fl.CLIENTS: 3}))
    same = "all" if layer_of(_of(answer, 3)) == theirs else "not all"
    return f"With three clients, {same} layers are those of the library's own stack."


FEDERATED_STACK = Exercise(
    name="federated_stack",
    title="the whole stack",
    points=15,
    want=wants.function(3),
    reference=lambda: federated_stack,
    cases=(
        Case("a mean over three clients", ([1.0, 2.0, 6.0],), _at_clients(_average)),
        Case("one client", ([21.5],), _at_clients(_average)),
        Case("functions at two clients", ([1.0, -3.0],), _at_clients(_doubled)),
        Case("who adds up for a mean", (), _who_computes),
        Case("who runs what has no placement", (), _who_runs_the_rest),
        Case("has these layers, from the top", (), _layers),
    ),
    mistakes=usual(
        _UNCALLED,
        looks(_is_executor),
        "the layer for names is missing on top of the federating executor",
        raises("does not call lambdas"),
        *NO_RETURN,
        "`unplaced` is missing: it is the second argument of `FederatingExecutor`",
        raises("'unplaced_executor'"),
        "the class has a `factory`: `FederatedResolvingStrategy.factory(targets)`",
        raises("is not iterable"),
        "`factory` takes one dictionary, `targets`",
        raises(r"factory\(\) takes"),
        "`factory` has to be called, with a dictionary: `factory(targets)`",
        raises("maps placements to executors"),
        "a dictionary with placements as its keys, and `clients` as it is: "
        "`{fl.SERVER: …, fl.CLIENTS: …}`",
        raises("unhashable"),
        "a `FederatingExecutor` takes two things: first what "
        "`FederatedResolvingStrategy.factory(targets)` gives, not the class itself "
        "and not `targets`; then `unplaced`",
        raises("'values'|strategy_factory|positional arguments|not callable"),
        "what comes back is not an executor: return the topmost layer",
        looks(lambda answer: not isinstance(_of(answer, 2), Executor)),
        "`clients` is a list already: hand it in as it is",
        raises("something else than executors"),
        "`targets` needs both `fl.SERVER` and `fl.CLIENTS`",
        raises("no participant at"),
        "there are more executors than clients: hand in `clients` as it is",
        looks(
            lambda answer: re.search("'CLIENTS', [4-9]", _layers(answer)) is not None
        ),
        "`server` goes to `fl.SERVER`, all of `clients` to `fl.CLIENTS`",
        raises("CardinalityError"),
        "on top, one layer for names is enough: participants read sequences themselves",
        looks(
            lambda answer: (
                _layers(answer).partition(_FEDERATING)[0].count("Executor") > 1
            )
        ),
        "the participants have all their layers: hand them in as they are",
        looks(lambda answer: _layers(answer).count("Executor") > 14),
        "the unplaced executor does the work of the server here",
        looks(lambda answer: _who_computes(answer) == ["nowhere"]),
        "this builds a stack of its own: use the executors that are handed in",
        looks(lambda answer: not _who_runs_the_rest(answer)),
        "what has no placement is the work of `unplaced`, behind the strategy",
        looks(lambda answer: _who_runs_the_rest(answer) != ["nowhere"]),
        *OF_FRAMEWORK,
        "the strategy needs `fl.SERVER` and `fl.CLIENTS`, the placements, as keys",
        raises("Placement|placement"),
    ),
    hints=(
        "Which executors belong to a placement? Those go into one dictionary. The "
        "third has none.",
        "The text above the exercise names both classes. What opens functions is on "
        "top of `participant_stack`, too.",
        "Inside out, and each name is used in the next line:\n"
        "    targets = {fl.SERVER: ..., fl.CLIENTS: ...}\n"
        "    strategy = framework.FederatedResolvingStrategy.factory(...)\n"
        "    federating = framework.FederatingExecutor(strategy, ...)\n"
        "    return framework.ReferenceResolvingExecutor(...)",
        "Who does the work that has no placement?\n"
        "    targets = {fl.SERVER: server, fl.CLIENTS: clients}\n"
        "    strategy = framework.FederatedResolvingStrategy.factory(targets)\n"
        "    federating = framework.FederatingExecutor(strategy, ...)\n"
        "    return framework.ReferenceResolvingExecutor(federating)",
    ),
    reward=_beside_the_factory,
)


_READINGS_AT_CLIENTS: Final = fl.type_at_clients(NUMBERS)


@cache
def _plain() -> SyncExecutionContext:
    """A context without the layer for sequences."""
    return SyncExecutionContext(local_executor_factory())


def _warm_counts() -> Any:
    @fl.np_computation(NUMBERS)
    def warm_at_home(readings: Any) -> Any:
        return np.int32(sum(reading > 21 for reading in readings))

    @fl.federated_computation(_READINGS_AT_CLIENTS)
    def warm_counts(readings: Any) -> Any:
        return fl.federated_map(warm_at_home, readings)

    return warm_counts


def _without_the_layer(answer: Any, data: Any) -> list[int]:
    with _plain():
        return [int(count) for count in answer(data)]


def _of_each(count: Any) -> Any:
    """A function of the clients' readings: what `count` makes of each."""
    return lambda clients: [int(count(readings)) for readings in clients]


_TWO_HOMES: Final = [[18.0, 22.0, 23.0, 20.5, 21.2, 25.5], [23.0, 24.0, 19.0]]


def _streak(readings: Any) -> int:
    """The warm readings since the last cold one."""
    cold = [at for at, reading in enumerate(readings, 1) if reading <= 21]
    return len(readings[max(cold, default=0) :])


WARM_COUNTS = Exercise(
    name="warm_counts",
    title="a count without the layer",
    points=10,
    want=wants.computation("({float32*}@CLIENTS -> {int32}@CLIENTS)"),
    reference=_warm_counts,
    cases=(
        Case("two homes", (_TWO_HOMES,), _without_the_layer),
        Case("21 is not above 21", ([[21.0, 21.5], [21.0]],), _without_the_layer),
        Case("a home without readings", ([[], [22.0]],), _without_the_layer),
        Case("no clients", ([],), _without_the_layer),
    ),
    mistakes=usual(
        "the federated body has more than a `federated_map`: operators on sequences, "
        "and loops over readings, are work of the leaf",
        raises("UnsupportedIntrinsicError|iteration needs"),
        "a home hands over all its readings at once: its leaf takes a whole sequence, "
        "`np_computation(READINGS)`",
        raises("(?s)federated_map cannot use.*float32 ->"),
        "this is for a value at the server; for clients it is `federated_map`",
        raises("works on values at another placement"),
        "a reading has the name that you write after `for`",
        raises("NameError: name '(reading|r|x)'"),
        "add them up with `sum`",
        raises("'generator'"),
        "a sequence is no array: loop over its readings",
        raises("SequenceList"),
        "only the first reading counts: is `return` inside the loop?",
        _of_each(lambda readings: sum(r > 21 for r in readings[:1])),
        "this begins again after each cold reading: count all warm ones",
        _of_each(_streak),
        "compare a reading as it is: 21.2 is above 21",
        _of_each(lambda readings: sum(int(r) > 21 for r in readings)),
        _of_each(lambda readings: sum(round(r) > 21 for r in readings)),
        "a reading of exactly 21 is not above 21",
        _of_each(lambda readings: sum(r >= 21 for r in readings)),
        "you added up readings: count the warm ones",
        _of_each(sum),
        _of_each(lambda readings: sum(r for r in readings if r > 21)),
        "you counted all readings, warm or not",
        _of_each(len),
        "you counted the cold readings",
        _of_each(lambda readings: sum(r <= 21 for r in readings)),
        "this is 1 if there is any warm reading: count all of them",
        _of_each(lambda readings: any(r > 21 for r in readings)),
        "this is one number at the server: each home keeps its own count",
        typed("({float32*}@CLIENTS -> int32@SERVER)"),
        raises("can be averaged"),
        "this is one number for each reading: add them up",
        raises("depends on the size of its input"),
        typed("({float32*}@CLIENTS -> {int32[?]}@CLIENTS)"),
        "a count is a whole number of 32 bits: put `np.int32(…)` around it",
        typed(
            "({float32*}@CLIENTS -> {int64}@CLIENTS)",
            "({float32*}@CLIENTS -> {float32}@CLIENTS)",
            "({float32*}@CLIENTS -> {bool}@CLIENTS)",
        ),
    ),
    hints=(
        "The stack has no layer for sequences, but each of its leaves runs any Python "
        "code on a whole sequence. So let the leaf count.",
        "`sum_in_leaf` above is made in the same way: an `np_computation` that takes a "
        "whole sequence, and a `federated_map`.",
        "In leaf code, `readings` is something to loop over:\n"
        "    return np.int32(sum(... for reading in readings))\n"
        "and in the federated body each client runs it:\n"
        "    return fl.federated_map(..., ...)",
        "What is 1 for a warm reading, and 0 for another one?\n"
        "    return np.int32(sum(... for reading in readings))\n"
        "and then:\n"
        "    return fl.federated_map(warm_at_home, readings)",
    ),
)


LESSON: Final = Lesson(
    name="06_executor_stack",
    title="Who runs your program?",
    minutes=65,
    goals=(
        "run a program on an executor, step by step",
        "build the stack that runs all programs, and say what each layer is for",
        "say why a stack refuses a program, and fix it",
    ),
    needs="lessons 1 to 5",
    exercises=(RUN_ON, PARTICIPANT_STACK, FEDERATED_STACK, WARM_COUNTS),
    path=MACHINE,
    outcomes={"events": "more than 150", "calls": "12", "plain": "only `sum_in_leaf`"},
)
