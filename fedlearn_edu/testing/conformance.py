# SPDX-License-Identifier: Apache-2.0
"""Does a context give programs their meaning? Ask it all conformance cases.

For people who write a strategy, an executor or a context: the answer is a report, or an
`AssertionError` that lists the cases which differ from the reference.
"""

import inspect
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.compiler.expansion import expand_intrinsics
from fedlearn_edu.contexts.calls import finish
from fedlearn_edu.contexts.reference import ReferenceContext
from fedlearn_edu.errors import TypeMismatchError, UnsupportedIntrinsicError, counted
from fedlearn_edu.ir.traversal import intrinsics
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.context_stack import Context
from fedlearn_edu.testing.case import Case
from fedlearn_edu.testing.cases import cases as all_cases
from fedlearn_edu.testing.comparison import difference

_MAX_LISTED = 10


@final
@dataclass(frozen=True)
class Conformance:
    """What a context made of the conformance cases.

    Attributes:
        agreed: names of the cases that gave what the reference gives.
        refused: names of the cases that were refused, as they had to be.
    """

    agreed: tuple[str, ...]
    refused: tuple[str, ...]

    def __str__(self) -> str:
        refused = f"; {len(self.refused)} were refused" if self.refused else ""
        return f"{counted(len(self.agreed), 'case')} agree with the reference{refused}"


def assert_conforms(
    context: Context,
    cases: Iterable[Case] | None = None,
    *,
    lacks: Collection[str] = (),
) -> Conformance:
    """Runs cases in a context and compares with `ReferenceContext`.

    Args:
        context: for example a `SyncExecutionContext` over your own executor factory.
        cases: by default all cases that need NumPy only.
        lacks: primitive intrinsics the context does not implement. A case that needs
            one of them may be refused; any other must run.

    Raises:
        AssertionError: if a case gives another result, fails, or is refused without
            need; lists them.

    >>> from fedlearn_edu import framework
    >>> factory = framework.local_executor_factory(support_sequence_ops=True)
    >>> report = assert_conforms(framework.SyncExecutionContext(factory))
    >>> report.refused
    ()
    """
    if not isinstance(context, Context):
        raise TypeMismatchError(
            "conformance is a property of a context",
            expected="for example SyncExecutionContext(local_executor_factory())",
            found=f"{context!r} ({type(context).__name__})",
            do="wrap an executor factory in SyncExecutionContext",
        )
    agreed, refused, problems = [], [], []
    for case in all_cases() if cases is None else cases:
        try:
            problem = compare_with_reference(case, context)
        except UnsupportedIntrinsicError as error:
            if not primitives(case) & set(lacks):
                problems.append(f"{case.name} was refused: {error}")
            refused.append(case.name)
            continue
        except Exception as error:
            problem = f"raised {type(error).__name__}: {error}"
        agreed.append(case.name)
        problems += [f"{case.name}: {problem}"] if problem else []
    if problems:
        raise AssertionError(_listed(problems, len(agreed) + len(refused)))
    return Conformance(tuple(agreed), tuple(refused))


def compare_with_reference(case: Case, context: Context) -> str | None:
    """The first difference between what `context` and the reference make of a case."""
    with ReferenceContext():
        expected = case.run()
    return difference(run_in(context, case), expected)


def run_in(context: Context, case: Case) -> Any:
    """What a context makes of a case; waits if it answers with a coroutine."""
    case.computation  # noqa: B018 (traced outside of the context)
    with context:
        result = case.run()
    return finish(result) if inspect.iscoroutine(result) else result


def primitives(case: Case) -> frozenset[str]:
    """The primitive intrinsics a case needs when everything derived is written out."""
    functions = [case.computation, *case.arguments, *case.keywords.values()]
    trees = [fn.tree for fn in functions if isinstance(fn, Computation)]
    expanded = [expand_intrinsics(tree, frozenset()) for tree in trees]
    return frozenset(i.uri for tree in expanded for i in intrinsics(tree))


def _listed(problems: list[str], count: int) -> str:
    lines = [
        f"{len(problems)} of {counted(count, 'case')} differ from the reference",
        *problems,
    ]
    more = len(problems) - _MAX_LISTED
    if more > 0:
        lines[_MAX_LISTED + 1 :] = [f"and {more} more"]
    return "\n".join(lines)
