# SPDX-License-Identifier: Apache-2.0
"""Every case on every stack: the same program means the same thing everywhere.

The reference and three stacks run all cases; the other stacks run a few that use every
primitive intrinsic, and the rest of them in the thorough tests.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from fedlearn_edu.errors import UnsupportedIntrinsicError
from fedlearn_edu.framework import ReferenceContext, all_intrinsics
from fedlearn_edu.testing import Case, cases, primitives, run_in
from fedlearn_edu.testing.comparison import difference
from tests.conformance.stacks import SMOKE, STACKS, Stack, count_clients, is_tried_first

# The language's own, before any test defines more.
PRIMITIVES = frozenset(d.uri for d in all_intrinsics() if d.is_primitive)

HEAVY = ("tensorflow", "mixed")
EVERY_CASE = [case for runtime in ("numpy", *HEAVY) for case in cases(runtime)]


def _params() -> Iterator[Any]:
    for case in EVERY_CASE:
        stacks = [stack for stack in STACKS if stack.runtime == case.runtime]
        first = [stack for stack in stacks if is_tried_first(stack, case)]
        others = [stack for stack in stacks if stack not in first]
        name = f"{case.name}-{case.runtime}"
        marks = [pytest.mark.tensorflow] if case.runtime in HEAVY else []
        yield pytest.param(case, first, id=name, marks=marks)
        if others:
            marks = [*marks, pytest.mark.thorough]
            yield pytest.param(case, others, id=f"{name}-other stacks", marks=marks)


@pytest.mark.parametrize(("case", "stacks"), list(_params()))
def test_stacks_give_what_the_reference_gives_or_refuse(
    case: Case, stacks: list[Stack]
) -> None:
    """The oracle itself is tested; a stack agrees, or says early what is missing."""
    meant = run_in(ReferenceContext(), case)
    assert difference(meant, case.expected) is None, case.says
    for stack in stacks:
        try:
            if _lacks_sequences(stack, case):
                _check_refusal(stack, case)
                continue
            found = run_in(stack.context, case)
        except Exception as error:
            error.add_note(f"on the stack {stack.name}")
            raise
        assert difference(found, meant) is None, (stack.name, case.says)


def _check_refusal(stack: Stack, case: Case) -> None:
    with pytest.raises(
        UnsupportedIntrinsicError, match="support_sequence_ops=True"
    ) as caught:
        run_in(stack.context, case)
    assert "sequence_" in str(caught.value.found)


def _lacks_sequences(stack: Stack, case: Case) -> bool:
    """Groups of clients collect and then read; one group is folded by its strategy."""
    in_groups = count_clients(case) >= stack.max_fanout
    reads = case.needs_sequences or (case.name.startswith("reduce_") and in_groups)
    return reads and not stack.sequences


def test_cases_say_truly_whether_they_need_sequences() -> None:
    for case in cases():
        uses = any(uri.startswith("sequence_") for uri in primitives(case))
        assert uses == case.needs_sequences or case.name.startswith("reduce_"), case


@pytest.mark.parametrize(
    "some", [cases(), [c for c in cases() if c.name in SMOKE]], ids=["all", "smoke"]
)
def test_cases_use_every_primitive_intrinsic(some: Sequence[Case]) -> None:
    assert frozenset().union(*map(primitives, some)) >= PRIMITIVES


def test_cases_have_different_names_and_say_what_they_check() -> None:
    for runtime in ("numpy", *HEAVY):
        names = [case.name for case in cases(runtime)]
        assert len(set(names)) == len(names)
    assert all(case.says.endswith((".", "?")) for case in EVERY_CASE)
