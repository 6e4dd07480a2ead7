# SPDX-License-Identifier: Apache-2.0
"""Lesson 07: a strategy decides who computes what, and a learner writes one."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, reduce
from traceback import clear_frames
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu import viz
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import MACHINE, Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import looks, raises, returns, usual
from fedlearn_edu.course.single_executor import Members, SingleExecutorStrategy
from fedlearn_edu.errors import UnsupportedIntrinsicError
from fedlearn_edu.framework import (
    FederatingStrategy,
    Handle,
    SyncExecutionContext,
    Tape,
    all_intrinsics,
    compile_tree,
    implements,
    local_executor_factory,
)
from fedlearn_edu.testing import assert_conforms

_PRIMITIVE = {each.uri for each in all_intrinsics() if each.is_primitive}
_OTHERS = {each.uri for each in all_intrinsics() if not each.is_primitive}


_ENOUGH = {"federated_value", "federated_zip", "federated_aggregate", "federated_map"}


def _runs(names: Iterable[str]) -> bool:
    """Whether a mean compiles for a strategy that implements these."""
    average = fl.federated_computation(
        fl.federated_mean, fl.type_at_clients(np.float32)
    )
    try:
        compile_tree(average.tree, frozenset(names), "average")
    except UnsupportedIntrinsicError:
        return False
    return True


def _strangers(names: Iterable[str]) -> list[str]:
    """What is no primitive."""
    return sorted(set(names) - _PRIMITIVE)


def _says_of_mean(names: Iterable[str]) -> str:
    return "a mean runs" if _runs(names) else "a mean is refused"


def _too_many(names: Iterable[str]) -> list[str]:
    """What a mean does not need."""
    return sorted(set(names) - _ENOUGH)


def _lacks(name: str) -> Callable[[Any], bool]:
    return lambda answer: not isinstance(answer, str) and name not in answer


def _is_misspelt(name: str) -> bool:
    return name.startswith("federated_") and name not in _PRIMITIVE | _OTHERS


ENOUGH_FOR_A_MEAN = Exercise(
    name="enough_for_a_mean",
    title="the primitives a mean is made of",
    points=5,
    want=wants.value((set, frozenset, list, tuple), "a set of names"),
    reference=_ENOUGH.copy,
    cases=(
        Case("has only primitives", do=_strangers),
        Case("is enough", do=_says_of_mean),
        Case("has no more than that", do=_too_many),
    ),
    mistakes=usual(
        "a box with the name of a function: which intrinsic runs it?",
        looks(lambda answer: "mean" in answer),
        "this is one string with commas in it: put quotes around each name",
        looks(lambda answer: any("," in name for name in answer)),
        "take the names from the picture: they do not say where a value is",
        looks(lambda answer: any("_at_" in name for name in answer)),
        "there is no `federated_apply` here: a function is mapped, also at the server",
        looks(lambda answer: "federated_apply" in answer),
        "a mean, a sum and the like are derived, not primitive: what does the mean "
        "expand into?",
        looks(lambda answer: bool(_OTHERS & set(answer))),
        "look for a slip: one of these names is not in the language",
        looks(lambda answer: any(map(_is_misspelt, answer))),
        "each name begins with `federated_`, and stands in quotes",
        looks(lambda answer: not set(answer) <= _PRIMITIVE | _OTHERS),
        raises("name 'federated_"),
        "every client puts a 1 beside its reading: how does the 1 get there?",
        looks(_lacks("federated_value")),
        "nothing adds up what the clients hold",
        looks(_lacks("federated_aggregate")),
        "at the end, a function divides the sums at the server: which intrinsic calls "
        "a function with data? (`federated_eval` takes none.)",
        looks(_lacks("federated_map")),
        "nothing in the picture needs all of these: take one for each box",
        looks(lambda answer: set(answer) > _ENOUGH),
    ),
    hints=(
        "After the expansion there are four boxes, and each is one primitive at work.",
        "Look at the picture above. Three boxes have the name of an intrinsic, the "
        "fourth that of a function. Which intrinsic ran functions in lesson 1?",
        "A set of four names:\n"
        "    enough_for_a_mean = {\n"
        '        "federated_value",\n'
        '        "federated_...",\n'
        '        "federated_...",\n'
        '        "federated_...",\n'
        "    }",
        "The box with the name of a function is missing:\n"
        "    enough_for_a_mean = {\n"
        '        "federated_value",\n'
        '        "federated_zip",\n'
        '        "federated_aggregate",\n'
        '        "federated_...",\n'
        "    }",
    ),
)


FLOATS = fl.type_at_clients(np.float32)


@contextmanager
def running_on(
    strategy: type[FederatingStrategy], **options: Any
) -> Iterator[SyncExecutionContext]:
    """A context whose stacks have that strategy.

    The table of a check names a forgotten `await`, so Python need not, for each call.
    """
    factory = local_executor_factory(strategy=strategy, **options)
    with warnings.catch_warnings(), SyncExecutionContext(factory) as context:
        warnings.filterwarnings("ignore", "coroutine .* was never awaited")
        try:
            yield context
        except Exception as error:
            clear_frames(error.__traceback__)  # they hold what was not awaited
            if isinstance(error, AttributeError):
                error.obj = None  # so does this
            raise


def _maps_in_turn() -> Any:
    class MapsInTurn(SingleExecutorStrategy):
        @implements("federated_map")
        async def map_members(self, type_: Any, fn: Handle, value: Handle) -> Members:
            function, members = await self.bring(fn), value.representation
            return tuple([await self.room.create_call(function, m) for m in members])

    return MapsInTurn


def _tripled(
    strategy: type[FederatingStrategy], readings: Any, held_as: fl.Type = FLOATS
) -> Any:
    triple = fl.np_computation(lambda x: np.float32(3) * x, np.float32)
    program = fl.federated_computation(
        lambda readings: fl.federated_map(triple, readings), held_as
    )
    with running_on(strategy):
        return program(readings)


def _tripled_at_server(strategy: type[FederatingStrategy], reading: Any) -> Any:
    return _tripled(strategy, reading, fl.type_at_server(np.float32))


def _drawn(strategy: type[FederatingStrategy]) -> Any:
    """The tape of a map over three clients."""
    tape = Tape(keep_values=True)
    triple = fl.np_computation(lambda x: np.float32(3) * x, np.float32)
    with running_on(strategy, tape=tape):
        fl.federated_map(triple, fl.place([1.0, 2.0, 5.0], fl.CLIENTS))
    return viz.draw_tape(tape)


IN_THE_ROOM = (
    "`await` in `tuple(… for …)`, or a `yield`, makes a generator: collect the results "
    "in a list, `tuple([await … for …])`",
    raises("async_generator"),
    "what happens in the room has to be awaited: an `await` is missing before one of "
    "the calls",
    raises("coroutine"),
    "each entry of the result is a handle: leave its brackets out",
    raises("'(tuple|list)' object has no attribute 'compute'"),
    "numbers stay in the room: return handles, and calculate with `create_call`",
    raises("no attribute 'compute'|unsupported operand|numpy.*'type_signature'"),
    "calls follow one another here, so `gather` is of no use: `await` each in turn",
    raises("waits on an event loop|await wasn't used with future"),
    "write `self.room.create_call(…)`, `self.room.create_struct([…])`, `self.bring(…)`",
    raises(r"(name|attribute) '(room|bring|call|create_\w+)'"),
    "`create_struct` takes a list: `create_struct([…, …])`",
    raises(r"create_struct\(\) takes"),
    "`bring` only brings a function: call it in the room, with `create_call`",
    raises("result is a function"),
    "a handle is not a function: write `await self.room.create_call(function, …)`",
    raises("Handle' object is not callable"),
    "one handle is not a tuple: members are in `value.representation`, and a result by "
    "itself needs a comma, `(result,)`",
    raises("Handle'( object)? (is not iterable|has no)|can only concatenate tuple"),
)

_DERIVED = wants.subclass(
    SingleExecutorStrategy, "a class derived from SingleExecutorStrategy"
)

MAPS_IN_TURN = Exercise(
    name="maps_in_turn",
    title="a strategy that can map",
    points=10,
    want=_DERIVED,
    reference=_maps_in_turn,
    cases=(
        Case("six clients", ([1.0, 2.0, 5.0, 3.0, 9.0, 4.0],), _tripled),
        Case("one client", ([4.0],), _tripled),
        Case("no clients", ([],), _tripled),
        Case("at the server", (2.0,), _tripled_at_server),
    ),
    mistakes=usual(
        "the order is reversed: the result of client 0 comes first",
        lambda readings: [3 * r for r in reversed(readings)],
        "only the first client's result came out: `return` belongs after the loop",
        lambda readings: [3 * r for r in readings[:1]],
        "only the last client's result came out: collect all of them",
        lambda readings: [3 * r for r in readings[-1:]],
        "every client got the first one's result: call it for each member",
        lambda readings: [3 * readings[0] for _ in readings],
        "the function was called twice for each member",
        lambda readings: [9 * r for r in readings],
        "the first member was left out",
        lambda readings: [3 * r for r in readings[1:]],
        "the results are in another order than the members: a set has none",
        returns(lambda got, given: sorted(got) == sorted(3 * r for r in given)),
        *IN_THE_ROOM,
        "each call takes one member, as it is: no tuple, list or structure",
        raises("found: +a (tuple|list)|type <.* assignable"),
        "use the function that `bring` has brought into the room, and the members in "
        "`value.representation`",
        raises("embedded in the executor|type_signature"),
    ),
    hints=(
        "One call for each member, in order; the results become a tuple.",
        "The table above has the call, `self.room.create_call(function, member)`; it "
        "has to be awaited. The members are in `value.representation`.",
        "A loop that collects:\n"
        "    results = []\n"
        "    for member in ...:\n"
        "        results.append(await ...)\n"
        "    return tuple(results)",
        "What is called with what?\n"
        "    results = []\n"
        "    for member in value.representation:\n"
        "        results.append(await self.room.create_call(...))\n"
        "    return tuple(results)",
    ),
    reward=_drawn,
)


NOT_ASKED_FOR = ("federated_select", "federated_pairwise_masks")


def _folds_in_order() -> Any:
    maps_in_turn: Any = _maps_in_turn()

    class FoldsInOrder(maps_in_turn):  # type: ignore[misc]  # it is made when needed
        async def fold_group(self, members: Members, zero: Any, accumulate: Any) -> Any:
            step, state = await self.bring(accumulate), await self.bring(zero)
            for member in members:
                pair = await self.room.create_struct([state, member])
                state = await self.room.create_call(step, pair)
            return state

        async def call_with(self, function: Handle, argument: Any) -> Any:
            return await self.room.create_call(await self.bring(function), argument)

        @implements("federated_aggregate")
        async def fold(
            self, type_: Any, value: Handle, zero: Any, step: Any, _: Any, report: Any
        ) -> Members:
            state = await self.fold_group(value.representation, zero, step)
            return (await self.call_with(report, state),)

    return FoldsInOrder


def _folded(strategy: type[FederatingStrategy], digits: Any) -> Any:
    """Writes digits behind a 7; merge and report are odd, so every slip shows."""
    write, merge, finish = (
        fl.np_computation(made, *[np.int32] * count)
        for made, count in ((_written, 2), (_merged, 2), (_finished, 1))
    )

    @fl.federated_computation(fl.type_at_clients(np.int32))
    def program(digits: Any) -> Any:
        return fl.federated_aggregate(digits, 7, write, merge, finish)

    with running_on(strategy):
        return program(digits)


def _written(number: Any, digit: Any) -> Any:
    return 10 * number + digit


def _merged(left: Any, right: Any) -> Any:
    return left - 2 * right


def _finished(number: Any) -> Any:
    return 1000 - number


@cache
def _conforms(strategy: type[FederatingStrategy]) -> str:
    average = fl.federated_computation(fl.federated_mean, FLOATS)
    with running_on(strategy, support_sequence_ops=True) as context:
        if abs(average([1.0, 2.0, 9.0]) - 4) > 1e-5:
            return "a mean differs, so the suite was not run"
        try:
            assert_conforms(context, lacks=NOT_ASKED_FOR)
        except AssertionError as error:
            how_many, first, *_ = str(error).splitlines()
            return f"{how_many}; the first: {first}"
    return "no case differs from the reference"


def _write(digits: Any, number: int = 7) -> int:
    return reduce(_written, digits, number)


def _reported_each_time(digits: Any) -> int:
    return reduce(lambda state, digit: _finished(_written(state, digit)), digits, 7)


FOLDS_IN_ORDER = Exercise(
    name="folds_in_order",
    title="a strategy that can aggregate",
    points=15,
    want=_DERIVED,
    reference=_folds_in_order,
    cases=(
        Case("three clients, in order", ([1, 2, 3],), _folded),
        Case("one client", ([5],), _folded),
        Case("no clients: zero is reported", ([],), _folded),
        Case("the conformance suite", do=_conforms),
    ),
    mistakes=usual(
        "the last state was not reported: call `report` with it",
        _write,
        "you folded from the last client to the first",
        lambda digits: _finished(_write(reversed(digits))),
        "the pair is the wrong way round: the state so far comes first",
        lambda digits: _finished(7 + 10 * sum(digits)),
        "each step began at zero again: the state is what the step before gave",
        lambda digits: _finished(_write(digits[-1:])),
        "only the first client is in this: make the pair in the loop, and report and "
        "`return` after it",
        lambda digits: _finished(_write(digits[:1])),
        "`zero` was left out: it is the first state",
        lambda digits: _finished(_write(digits, 0)),
        "the last client was left out: take in all members",
        lambda digits: _finished(_write(digits[:-1])),
        "you took `merge`, which joins the states of two groups: `accumulate` takes a "
        "member in",
        lambda digits: _finished(reduce(_merged, digits, 7)),
        lambda digits: _finished(reduce(_merged, [70 + d for d in digits], 7)),
        "`report` was called in each step: call it once, at the end",
        _reported_each_time,
        lambda digits: _finished(_reported_each_time(digits)),
        *IN_THE_ROOM,
        "this is `merge`, which joins states of groups: `step` takes members in, and "
        "`report` the last state",
        raises("assignable to type <left"),
        "one member at a time, in a loop: `step` takes the state and one `member`",
        raises("type <int32,(int32,|<)"),
        "`step` takes the state and one member: `create_struct([state, member])`",
        raises("found: +a (tuple|list)|from 2 to 3|assignable to type <"),
        "what `fold` is given is not in the room yet: take `state` and `step`, and "
        "bring `report`",
        raises("embedded in the executor"),
        "end with `return (result,)`: a value at the server is a tuple with one member",
        raises("subscriptable|not iterable|IndexError"),
    ),
    hints=(
        "In each step a state and a member go in, and the next state comes out.",
        "The formula above is a loop over `value.representation`, and a call after it. "
        "The table above exercise 2 has what makes a pair, and what calls.",
        "A loop, and a report after it:\n"
        "    for member in value.representation:\n"
        "        pair = await self.room.create_struct([..., ...])\n"
        "        state = await self.room.create_call(..., pair)\n"
        "    last = await self.bring(...)\n"
        "    return (await self.room.create_call(last, ...),)",
        "What is in the pair?\n"
        "    for member in value.representation:\n"
        "        pair = await self.room.create_struct(...)\n"
        "        state = await self.room.create_call(step, pair)\n"
        "    last = await self.bring(report)\n"
        "    return (await self.room.create_call(last, state),)",
    ),
    limit_s=120.0,
)


def _folds_in_halves() -> Any:
    folds_in_order: Any = _folds_in_order()

    class FoldsInHalves(folds_in_order):  # type: ignore[misc]  # it is made when needed
        @implements("federated_aggregate")
        async def fold(
            self,
            type_: Any,
            value: Handle,
            zero: Any,
            step: Any,
            merge: Any,
            report: Any,
        ) -> Members:
            half = len(value.representation) // 2
            halves = value.representation[:half], value.representation[half:]
            states = [await self.fold_group(part, zero, step) for part in halves]
            pair = await self.room.create_struct(states)
            state = await self.call_with(merge, pair)
            return (await self.call_with(report, state),)

    return FoldsInHalves


def _both(make: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """What comes of the states of both halves."""

    def made(digits: Any) -> Any:
        half = len(digits) // 2
        return make(_write(digits[:half]), _write(digits[half:]))

    return made


FOLDS_IN_HALVES = Exercise(
    name="folds_in_halves",
    title="groups, and a merge",
    points=10,
    want=_DERIVED,
    reference=_folds_in_halves,
    cases=(
        Case("two and two clients", ([4, 1, 2, 6],), _folded),
        Case("two and three clients", ([1, 9, 2, 6, 4],), _folded),
        Case("one client, in the second half", ([5],), _folded),
        Case("no clients: two zeros are merged", ([],), _folded),
        Case("the conformance suite", do=_conforms),
    ),
    mistakes=usual(
        "an empty half has a state, too, `zero`: merge it all the same",
        lambda digits: len(digits) < 2 and _finished(_write(digits)),
        "this is still one group: fold `left`, fold `right`, then merge their states",
        lambda digits: _finished(_write(digits)),
        _write,
        "only the left half is in this: report the state that `merge` makes of both",
        _both(lambda left, right: _finished(left)),
        _both(lambda left, right: left),
        "one half was merged with itself: `merge` takes the states of both",
        _both(lambda left, right: _finished(_merged(right, right))),
        _both(lambda left, right: _finished(_merged(left, left))),
        "the states are the wrong way round: the left half comes first",
        _both(lambda left, right: _finished(_merged(right, left))),
        "the merged state was not reported: call `report` with it",
        _both(_merged),
        "`report` comes once, after the merge: halves hand up their states",
        _both(lambda left, right: _merged(_finished(left), _finished(right))),
        _both(
            lambda left, right: _finished(_merged(_finished(left), _finished(right)))
        ),
        "you took `accumulate`, which takes one member in: `merge` joins two states",
        _both(lambda left, right: _finished(10 * left + right)),
        "each half begins at `zero`, and `merge` joins them: no third `zero` is needed",
        _both(lambda left, right: _finished(_merged(_merged(7, left), right))),
        *IN_THE_ROOM,
        "these are methods: `await self.fold_group(…)`, `await self.call_with(…)`",
        raises("name '(fold_group|call_with)' is not defined"),
        "`merge` takes one handle: fold `left` and `right`, and make a pair of their "
        "states with `create_struct([…, …])`",
        raises(r"found: +a (list|tuple)|from 2 to 3|call_with\(\) takes"),
        "`self.fold_group(…)` takes the members of a group, then `zero`, then "
        "`accumulate`, as they came; `self.call_with(…)` a function, then its argument",
        raises(r"fold(_group)?\(\)|attribute 'type_signature'|only functions"),
        "`fold_group` and `call_with` bring what they are given: pass it as it came",
        raises("a function was expected"),
        "`fold_group` takes `left` and `right` as they are; only a `value` has a "
        "`representation`",
        raises("'tuple' object has no attribute"),
        "`merge` takes a pair: the state of `left` and that of `right`, no more",
        raises("assignable to type <left"),
        "`report` takes one state: `merge` makes one of the pair",
        raises("type <int32,int32> is not assignable to type int32"),
        "`merge` and `report` are not in the room yet: `call_with` brings them",
        raises("embedded in the executor"),
        "end with `return (result,)`: a value at the server is a tuple with one member",
        raises("subscriptable|not iterable|IndexError"),
    ),
    hints=(
        "Two groups, two states; `merge` makes one state of them, `report` the result.",
        "`await self.fold_group(left, zero, accumulate)` gives the state of the left "
        "half. `merge` is called with a pair, `report` with what comes of it.",
        "Fold twice, merge once, report once:\n"
        "    one = await self.fold_group(left, zero, accumulate)\n"
        "    other = await self.fold_group(...)\n"
        "    pair = await self.room.create_struct([..., ...])\n"
        "    state = await self.call_with(..., pair)\n"
        "    return (await self.call_with(..., state),)",
        "What is in the pair?\n"
        "    one = await self.fold_group(left, zero, accumulate)\n"
        "    other = await self.fold_group(right, zero, accumulate)\n"
        "    pair = await self.room.create_struct([..., ...])\n"
        "    state = await self.call_with(merge, pair)\n"
        "    return (await self.call_with(report, state),)",
    ),
    limit_s=120.0,
)


LESSON: Final = Lesson(
    name="07_strategies",
    title="Who decides how a mean is computed?",
    minutes=60,
    goals=(
        "say what a strategy does itself, and what the compiler expands for it",
        "write a strategy, and find out whether it gives the required results",
        "fold clients in groups, and say what may change, and what must not",
    ),
    needs="lessons 4 and 6",
    exercises=(ENOUGH_FOR_A_MEAN, MAPS_IN_TURN, FOLDS_IN_ORDER, FOLDS_IN_HALVES),
    path=MACHINE,
    outcomes={
        "what-goes-up": "their sum and their number",
        "a-median": "some cases differ",
    },
)
