# SPDX-License-Identifier: Apache-2.0
"""Every case on every stack: the same program means the same thing everywhere."""

import pytest

from fedlearn_edu.errors import UnsupportedIntrinsicError
from fedlearn_edu.framework import (
    ReferenceContext,
    SyncExecutionContext,
    Tape,
    all_intrinsics,
    local_executor_factory,
)
from fedlearn_edu.testing import Case, cases, primitives, run_in
from fedlearn_edu.testing.comparison import difference
from tests.conformance.stacks import STACKS, Stack, count_clients

# The language's own, before any test defines more.
PRIMITIVES = frozenset(d.uri for d in all_intrinsics() if d.is_primitive)

HEAVY = ("tensorflow", "mixed")
EVERY_CASE = [case for runtime in ("numpy", *HEAVY) for case in cases(runtime)]


def _marks(runtime: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.tensorflow] if runtime in HEAVY else []


def _named(case: Case) -> str:
    return f"{case.name}-{case.runtime}"


@pytest.mark.parametrize(
    "case", [pytest.param(c, id=_named(c), marks=_marks(c.runtime)) for c in EVERY_CASE]
)
def test_reference_gives_what_was_worked_out_by_hand(case: Case) -> None:
    """The oracle itself is tested."""
    found = run_in(ReferenceContext(), case)
    assert difference(found, case.expected) is None, case.says


@pytest.mark.parametrize(
    ("stack", "case"),
    [
        pytest.param(s, c, id=f"{s.name}:{c.name}", marks=_marks(s.runtime))
        for s in STACKS
        for c in cases(s.runtime)
    ],
)
def test_stack_agrees_with_reference_or_refuses(stack: Stack, case: Case) -> None:
    """A stack gives the reference's result, or says early what is missing."""
    if _lacks_sequences(stack, case):
        _check_refusal(stack, case)
        return
    found, meant = run_in(stack.context, case), run_in(ReferenceContext(), case)
    assert difference(found, meant) is None, case.says
    assert difference(found, case.expected) is None, case.says


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


@pytest.mark.parametrize("case", [c for c in cases() if c.needs_sequences], ids=_named)
def test_nothing_has_run_when_a_stack_refuses(case: Case) -> None:
    tape = Tape()
    context = SyncExecutionContext(local_executor_factory(tape=tape))
    with pytest.raises(UnsupportedIntrinsicError, match="sequence_"):
        run_in(context, case)
    assert len(tape) == 0


@pytest.mark.parametrize(
    "case", [c for c in cases() if not c.name.startswith("reduce_")], ids=_named
)
def test_case_says_truly_whether_it_needs_sequences(case: Case) -> None:
    uses = any(uri.startswith("sequence_") for uri in primitives(case))
    assert uses == case.needs_sequences


def test_cases_use_every_primitive_intrinsic() -> None:
    assert frozenset().union(*map(primitives, cases())) >= PRIMITIVES


def test_cases_have_different_names_and_say_what_they_check() -> None:
    for runtime in ("numpy", *HEAVY):
        names = [case.name for case in cases(runtime)]
        assert len(set(names)) == len(names)
    assert all(case.says.endswith((".", "?")) for case in EVERY_CASE)
