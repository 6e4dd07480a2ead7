# SPDX-License-Identifier: Apache-2.0
"""A conformance case: a program, what it is run on, and what must come out.

The files in `cases/` fill one `CaseBook` each; `conformance.py` runs the cases. A
program is written once, as the body of a federated computation that is also handed a
decorator for leaf code, and becomes a case for each runtime. Nothing is traced, and no
runtime loaded, before a case is asked for its computation.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, final

from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.federated_computation import federated_computation
from fedlearn_edu.runtimes.numpy.computation import np_computation

# Decorates leaf code: `np_computation`, `tf_computation`, or the two in turn.
Leaf = Callable[..., Any]
# Gets the decorator of leaf code, then the parameters of a body, if it is one.
Program = Callable[..., Any]

NUMPY, TENSORFLOW, MIXED = "numpy", "tensorflow", "mixed"
EITHER = (NUMPY, TENSORFLOW)
ALL = (NUMPY, TENSORFLOW, MIXED)


@final
@dataclass(frozen=True, eq=False)
class Case:
    """One program on one input.

    Attributes:
        name: program and input, e.g. `sum_of_integers-nobody`.
        build: traces the program; loads the runtime if need be. A case of a book
            takes `runtime=`, a decorator for other leaf code.
        arguments: what it is called with.
        keywords: what it is called with by name.
        expected: the result, worked out by hand. A Python number stands for a NumPy
            scalar of its kind; everything else is compared with its dtype.
        runtime: whose leaf code it has: `"numpy"`, `"tensorflow"` or `"mixed"`.
        needs_sequences: whether only a stack with the sequence layer can run it.
        says: the law it checks, in a sentence.
    """

    name: str
    build: Callable[..., Computation]
    arguments: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    expected: Any = None
    runtime: str = NUMPY
    needs_sequences: bool = False
    says: str = ""

    @cached_property
    def computation(self) -> Computation:
        """The program, traced once."""
        return self.build()

    def run(self) -> Any:
        """Calls the program; the current context says what that means."""
        return self.computation(*self.arguments, **self.keywords)


@final
@dataclass(frozen=True, eq=False)
class Example:
    """One input of a program and the result it gives."""

    expected: Any
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]


def gives(expected: Any, *arguments: Any, **keywords: Any) -> Example:
    """Reads as: the program gives `expected` when it is called with `arguments`."""
    return Example(expected, arguments, keywords)


@final
class CaseBook:
    """Collects programs and their examples; iterating yields cases."""

    def __init__(self) -> None:
        self._cases: list[Case] = []

    def __iter__(self) -> Iterator[Case]:
        return iter(self._cases)

    def add(
        self,
        only: Example | None = None,
        /,
        *,
        runtimes: tuple[str, ...] = EITHER,
        needs_sequences: bool = False,
        of: Sequence[Any] | None = None,
        **examples: Example,
    ) -> Callable[[Program], Program]:
        """Adds the decorated program on one example, or on several named ones.

        With `of`, the types of its parameters, it is the body of a federated
        computation; without, it returns a computation.
        """
        named = {f"-{name}": example for name, example in examples.items()}
        if only is not None:
            named[""] = only

        def register(program: Program) -> Program:
            for runtime, (suffix, example) in itertools.product(
                runtimes, named.items()
            ):
                case = Case(
                    name=program.__name__ + suffix,
                    build=partial(_build, program, of, runtime=runtime),
                    arguments=example.arguments,
                    keywords=example.keywords,
                    expected=example.expected,
                    runtime=runtime,
                    needs_sequences=needs_sequences,
                    says=(program.__doc__ or "").strip(),
                )
                self._cases.append(case)
            return program

        return register


def _build(
    program: Program, of: Sequence[Any] | None, *, runtime: str | Leaf
) -> Computation:
    leaf = _leaf_decorator(runtime) if isinstance(runtime, str) else runtime
    made = program(leaf) if of is None else _computation(program, leaf, of)
    assert isinstance(made, Computation)
    return made


def _computation(program: Program, leaf: Leaf, of: Sequence[Any]) -> Any:
    body = partial(program, leaf)
    body.__name__ = program.__name__  # type: ignore[attr-defined]
    return federated_computation(body, *of)


def _leaf_decorator(runtime: str) -> Leaf:
    if runtime == NUMPY:
        return np_computation
    from fedlearn_edu.runtimes.tensorflow.computation import tf_computation

    if runtime == TENSORFLOW:
        return tf_computation
    decorators = itertools.cycle([np_computation, tf_computation])
    return lambda *args: next(decorators)(*args)
