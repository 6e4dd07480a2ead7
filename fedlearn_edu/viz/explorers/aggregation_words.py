# SPDX-License-Identifier: Apache-2.0
"""Says in words what an aggregation has come to."""

from collections.abc import Mapping

from fedlearn_edu.viz.explorers.aggregation_run import AggregationRun, Kind, Step
from fedlearn_edu.viz.explorers.mean_texts import number


def words(run: AggregationRun, step: int, others: Mapping[int | None, float]) -> str:
    """The step just taken; after the last one what other groupings give.

    Args:
        run: What was run.
        step: How many of its steps are shown.
        others: The result of the same with each fan-out; `None` is a single group.
    """
    count = len(run.steps)
    if step == 0:
        folding = sum(not server.below for server in run.servers)
        who = "The server begins" if folding == 1 else f"{folding} groups begin"
        return f"Step 0 of {count}: {who} from zero = {number(run.zero)}."
    said = f"Step {step} of {count}: {_what(run, run.steps[step - 1], step)}"
    return f"{said} {_compare(run, others)}" if step == count else said


def _what(run: AggregationRun, step: Step, place: int) -> str:
    state, other, result = map(number, (step.state, step.other, step.result))
    match step.kind:
        case Kind.ACCUMULATE:
            server = next(s for s in run.servers if s.name == step.who)
            taken = sum(s.who == step.who for s in run.steps[:place])
            client = server.clients[0] + taken - 1
            whose = "The server" if step.who == "server" else "A group"
            return (
                f"{whose} has {state} and accumulates client {client}'s {other}: "
                f"{result}."
            )
        case Kind.MERGE:
            return f"{state} and {other}, of two groups, are merged: {result}."
        case Kind.REPORT:
            return f"The server reports {result}."


def _compare(run: AggregationRun, others: Mapping[int | None, float]) -> str:
    if len(set(others.values())) == 1:
        return f"Every grouping gives {number(run.result)}."
    listed = [
        f"{number(result)} with {fan_out}"
        for fan_out, result in others.items()
        if fan_out is not None
    ]
    listed[0] = listed[0].replace("with", "with fan-out")
    alone = number(others[None])
    return f"This zero counts once per group: {alone} in one, {', '.join(listed)}."
