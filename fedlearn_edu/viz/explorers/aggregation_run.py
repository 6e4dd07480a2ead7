# SPDX-License-Identifier: Apache-2.0
"""What happens in a `federated_aggregate`, taken from a run: fold, merge, report.

The clients are put into groups of groups as `local_executor_factory(max_fanout=…)` puts
them; the stack is built by hand so that each server on the way can be watched.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import is_whole_number
from fedlearn_edu.structure import Struct
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.capture import Call, numbers, watch

MOST_CLIENTS = 12
_LARGEST = 1e9


class Kind(Enum):
    """The three functions of an aggregation."""

    ACCUMULATE = "accumulate"
    MERGE = "merge"
    REPORT = "report"


@final
@dataclass(frozen=True)
class Step:
    """One call at one server.

    Attributes:
        kind: which function was called.
        who: the server, as in `Server.name`.
        state: what that server had before.
        other: the client's value, or the other group's state; for a report, the state.
        result: what it has now.
    """

    kind: Kind
    who: str
    state: float
    other: float
    result: float


@final
@dataclass(frozen=True)
class Server:
    """One server: of a group of clients, or above other servers.

    Attributes:
        name: `"server"` is the one at the top, `"server 0.1"` below it.
        clients: the first of its clients, and the one after the last.
        below: the servers it merges; none if it folds clients itself.
        level: 0 if it folds clients, otherwise one more than those below it.
    """

    name: str
    clients: tuple[int, int]
    below: tuple["Server", ...]
    level: int


@final
@dataclass(frozen=True)
class AggregationRun:
    """One aggregation with `accumulate` = `merge` = `+`.

    Attributes:
        values: what each client holds.
        zero: where every fold begins.
        servers: all servers, from the lowest level to the top.
        steps: in the order they were taken.
        result: what the report gave.
    """

    values: tuple[float, ...]
    zero: float
    servers: tuple[Server, ...]
    steps: tuple[Step, ...]
    result: float


def run_aggregation(
    values: Sequence[float], zero: float, fan_out: int | None
) -> AggregationRun:
    """Runs a `federated_aggregate` of at most twelve values.

    >>> [run_aggregation([1, 2, 3, 4, 5], 1, n).result for n in (None, 3, 2)]
    [16, 17, 18]

    Args:
        values: One number per client.
        zero: Where every fold begins.
        fan_out: `max_fanout` of the stack: from this many clients on they are put into
            groups, and so are the groups; `None` is a single group.

    Raises:
        FigureDataError: for no values or too many, numbers that are not finite or over
            a billion, and a fan-out below 2.
    """
    held, start, most = check_aggregation(values, zero, fan_out)
    groups = grouped(len(held), most)
    whole = all(isinstance(each, int) for each in (*held, start))
    program = _program(np.int64 if whole else np.float64)
    result, seen = watch(program, list(held), start, groups=groups)
    servers = _servers(groups or tuple(range(len(held))), "server")
    by_name = {server.name: server for server in servers}
    calls = [c for c in seen if isinstance(c, Call) and c.who in by_name]
    steps = [_step(call, by_name[call.who]) for call in calls]
    # Servers below the top report what they have, unchanged: that is no step.
    told = [s for s in steps if s.kind is not Kind.REPORT or s.who == "server"]
    (number,) = numbers(result)
    return AggregationRun(held, start, tuple(servers), tuple(told), number)


def _step(call: Call, server: Server) -> Step:
    (result,) = numbers(call.result)
    if not isinstance(call.argument, Struct):
        (state,) = numbers(call.argument)
        return Step(Kind.REPORT, call.who, state, state, result)
    state, other = numbers(call.argument)
    kind = Kind.MERGE if server.below else Kind.ACCUMULATE
    return Step(kind, call.who, state, other, result)


def grouped(count: int, fan_out: int | None) -> Any:
    """The clients of each group, as stacks with this `max_fanout` have them.

    >>> grouped(5, 2), grouped(5, 3), grouped(5, 6)
    ((((0, 1), (2, 3)), ((4,),)), ((0, 1, 2), (3, 4)), None)
    """
    if fan_out is None or count < fan_out:
        return None
    level: tuple[Any, ...] = tuple(range(count))
    while len(level) > 1 or isinstance(level[0], int):
        starts = range(0, len(level), fan_out)
        level = tuple(level[start : start + fan_out] for start in starts)
    only = level[0]
    return (only,) if isinstance(only[0], int) else only


def _servers(group: Any, name: str) -> list[Server]:
    """The server of a group and all below it, those that come first in a run first."""
    if not group or isinstance(group[0], int):
        first = group[0] if group else 0
        return [Server(name, (first, first + len(group)), (), 0)]
    path = name.removeprefix("server").strip()
    names = [f"server {path}.{i}".replace(" .", " ") for i in range(len(group))]
    lower = [_servers(g, each) for g, each in zip(group, names, strict=True)]
    below = tuple(servers[-1] for servers in lower)
    clients = below[0].clients[0], below[-1].clients[1]
    own = Server(name, clients, below, below[0].level + 1)
    return [*(server for servers in lower for server in servers), own]


@cache
def _program(dtype: Any) -> Any:
    """`accumulate` = `merge` = `+`, from a `zero` given with the values."""
    add = fl.np_computation(lambda a, b: a + b, dtype, dtype)
    same = fl.np_computation(lambda a: a, dtype)
    return fl.federated_computation(
        lambda v, zero: fl.federated_aggregate(v, zero, add, add, same),
        fl.type_at_clients(dtype),
        dtype,
    )


def check_aggregation(
    values: Any, zero: Any, fan_out: Any
) -> tuple[tuple[float, ...], float, int | None]:
    """The same as plain numbers, or an error that says what is wrong."""
    given = list(values) if isinstance(values, list | tuple | np.ndarray) else []
    if not 1 <= len(given) <= MOST_CLIENTS:
        raise style.FigureDataError(
            "an aggregation is drawn over a few clients",
            expected=f"a list of 1 to {MOST_CLIENTS} numbers",
            found=f"{len(given)} values" if given else repr(values)[:60],
            do="take fewer: the picture has a line for each",
        )
    if fan_out is not None and not (is_whole_number(fan_out) and fan_out >= 2):
        raise style.FigureDataError(
            "a group of one is no group",
            expected="a fan-out of 2 or more, or None for a single group",
            found=repr(fan_out),
        )
    most = None if fan_out is None else int(fan_out)
    return tuple(map(_number, given)), _number(zero), most


def _number(given: Any) -> float:
    is_number = isinstance(given, int | float | np.integer | np.floating)
    if not is_number or isinstance(given, bool) or not abs(given) <= _LARGEST:
        raise style.FigureDataError(
            "this is no number that can be added up here",
            expected=f"a finite number up to {_LARGEST:,.0f}",
            found=repr(given)[:60],
        )
    return int(given) if float(given).is_integer() else float(given)
