# SPDX-License-Identifier: Apache-2.0
"""Groups, and groups of groups: how much reaches the server on top."""

import math
from typing import Any

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, returns


def _messages(clients: int, fan_out: int) -> int:
    return clients if clients < fan_out else _grouped(clients, fan_out)


def _grouped(clients: int, fan_out: int) -> int:
    groups = math.ceil(clients / fan_out)
    return groups if groups <= fan_out else _grouped(groups, fan_out)


def _rounded_down(clients: int, fan_out: int) -> int:
    if clients < fan_out:
        return clients
    groups = clients // fan_out
    return groups if groups <= fan_out else _rounded_down(groups, fan_out)


def _levels(clients: int, fan_out: int) -> int:
    """How often something is grouped."""
    groups = math.ceil(clients / fan_out)
    return 1 if groups <= fan_out else 1 + _levels(groups, fan_out)


def _messages_at_top() -> Any:
    return _messages


MESSAGES_AT_TOP = Exercise(
    name="messages_at_top",
    title="how many states reach the server on top",
    points=10,
    want=wants.function(2),
    reference=_messages_at_top,
    cases=(
        Case("too few for groups", (6, 100)),
        Case("two groups of three", (6, 3)),
        Case("groups of groups", (9, 2)),
        Case("a group that is not full", (7, 3)),
        Case("as many groups as may be", (1000, 10)),
        Case("all in one group", (5, 5)),
        Case("nobody", (0, 10)),
    ),
    mistakes=(
        gives(
            "that would be a flat stack, which has fewer clients than `fan_out`; "
            "groups hand up one state each",
            lambda clients, fan_out: clients,
        ),
        gives("fewer clients than `fan_out` are not put into groups", _grouped),
        gives(
            "these are the groups at the bottom: if there are more than `fan_out`, "
            "they are put into groups, too",
            lambda clients, fan_out: math.ceil(clients / fan_out),
        ),
        gives(
            "the last group may be smaller, and is one, too: round up", _rounded_down
        ),
        gives(
            "clients cannot be in a fraction of a group: round up",
            lambda clients, fan_out: clients / fan_out,
        ),
        returns(
            "a group is a group, even if it is not full: round up at every level",
            lambda got, *_: got != int(got),
        ),
        gives("you counted the levels of groups", _levels),
        gives(
            "you counted the levels of groups",
            lambda clients, fan_out: 0 if clients < fan_out else -1,
        ),
        gives(
            "as many groups as `fan_out` fit under one server: you went one level too "
            "far",
            lambda clients, fan_out: 1,
        ),
        gives(
            "this is how many there may be at most", lambda clients, fan_out: fan_out
        ),
    ),
    hints=(
        "Work it out by hand for 9 clients and a fan-out of 2: how many groups, how "
        "many groups of groups? Stop when they fit under one server.",
        "n < fan_out: n. Otherwise n ← ⌈n / fan_out⌉, and again as long as "
        "n > fan_out.",
        "Fill the gaps:\n"
        "    if clients < fan_out:\n"
        "        return ...\n"
        "    groups = math.ceil(clients / fan_out)\n"
        "    while groups > ...:\n"
        "        groups = math.ceil(... / fan_out)\n"
        "    return groups",
    ),
)
