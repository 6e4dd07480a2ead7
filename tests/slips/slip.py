# SPDX-License-Identifier: Apache-2.0
"""What a learner's slip is, and how the tests make it happen.

The modules beside this one each hold the slips of one subject: tiny functions that do
what a beginner would do. `CATALOG` is filled by importing them. A message that
`tests/refusals` has, but for names, is there only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final


@final
@dataclass(frozen=True)
class Slip:
    """One slip.

    Attributes:
        number: its place in the catalog; the golden file starts with it.
        commit: does it.
        builtin: the exception a Python programmer would have expected.
        names: words the message must contain: the client, the field, the cure.
        theirs: whether the learner's own exception must come through as itself.
        tensorflow: whether it needs TensorFlow.
    """

    number: int
    commit: Callable[[], object]
    builtin: type[Exception]
    names: tuple[str, ...]
    theirs: bool = False
    tensorflow: bool = False

    @property
    def name(self) -> str:
        """The number and the name of the function."""
        return f"{self.number:03d}_{self.commit.__name__}"

    def error(self) -> Exception:
        """The error that committing it raises."""
        try:
            self.commit()
        except Exception as error:
            return error
        raise AssertionError(f"{self.name} went unnoticed")


CATALOG: dict[int, Slip] = {}


def enter(
    number: int,
    builtin: type[Exception],
    commit: Callable[[], object],
    *names: str,
    theirs: bool = False,
    tensorflow: bool = False,
) -> None:
    """Puts a slip into the catalog."""
    assert number not in CATALOG, f"two slips have the number {number}"
    CATALOG[number] = Slip(number, commit, builtin, names, theirs, tensorflow)


def slip(
    number: int, builtin: type[Exception], *names: str, **options: bool
) -> Callable[[Callable[[], object]], Callable[[], object]]:
    """Puts the function that commits a slip into the catalog."""

    def register(commit: Callable[[], object]) -> Callable[[], object]:
        enter(number, builtin, commit, *names, **options)
        return commit

    return register


def named(name: str, function: Any) -> Any:
    """A lambda that looks as if it had been written with `def`."""
    function.__name__ = function.__qualname__ = name
    return function


def calls(*slips: tuple[Any, ...], tensorflow: bool = False) -> None:
    """Puts slips of one expression into the catalog.

    Each is its number, exception and name, the expression, and what must be named.
    """
    for number, builtin, name, commit, *names in slips:
        enter(number, builtin, named(name, commit), *names, tensorflow=tensorflow)


def definitions(
    decorator: Callable[..., Any], *slips: tuple[Any, ...], tensorflow: bool = False
) -> None:
    """Puts slips into the catalog that decorate a function of one expression.

    Each is its number, exception and name, the types of the parameters, the name and
    the body of the function, and what must be named.
    """
    for number, builtin, name, types, title, body, *names in slips:
        function = named(title, body)
        commit = named(name, lambda f=function, t=types: decorator(*t)(f))
        enter(number, builtin, commit, *names, tensorflow=tensorflow)


def whole_message(error: BaseException) -> str:
    """The message with the name of its class and its notes, as Python prints it."""
    notes = getattr(error, "__notes__", [])
    return "\n".join([f"{type(error).__name__}: {error}", *notes])
