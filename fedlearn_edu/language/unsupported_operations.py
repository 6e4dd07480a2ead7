# SPDX-License-Identifier: Apache-2.0
"""What Python lets one try with a value that is not computed yet, and what to do.

`Value` inherits these. Each of them would otherwise fail far away or, worse, silently:
`x == 0` would be `False` while the program is written, whatever `x` will be.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from fedlearn_edu.errors import (
    FedLearnError,
    FieldError,
    TracingError,
    describe,
    short_traceback,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.language.context_stack import current_tracing_context
from fedlearn_edu.types import FederatedType, Placed, SequenceType, StructType, Type
from fedlearn_edu.types.mismatch import clip
from fedlearn_edu.types.relations import BY_ELEMENT, by_element

_INSIDE = "inside an np_computation or tf_computation, and call that"

_OTHERS = {
    **{"**": "pow", "%": "mod", "//": "floordiv", "@": "matmul", "divmod()": "divmod"},
    **{"&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift"},
}


def _elsewhere(sign: str) -> Callable[..., NoReturn]:
    @short_traceback
    def refuse(self: "FourOperators", *_: object) -> NoReturn:
        raise self.elsewhere(sign)

    return refuse


class FourOperators:
    """The operators are `+ - * /` and signs; `elsewhere` is the error for others."""

    __slots__ = ()

    def elsewhere(self, sign: str) -> Exception:
        """The error for another operator."""
        raise NotImplementedError

    def __pos__(self) -> Any:
        return self

    def __neg__(self) -> Any:
        return 0 - self  # type: ignore[operator]

    __invert__, __abs__ = _elsewhere("~"), _elsewhere("abs()")


for _sign, _name in _OTHERS.items():
    setattr(FourOperators, f"__{_name}__", _elsewhere(_sign))
    setattr(FourOperators, f"__r{_name}__", _elsewhere(_sign))


class Refusals(FourOperators):
    """Python's operators that make no sense while a program is written."""

    __slots__ = ()
    node: ir.Node
    type_signature: Type

    def refused(self, problem: str, use: str, do: str) -> TracingError:
        """The error for a `use` of this value."""
        context = current_tracing_context()
        if context is None or not context.has_values:
            do = "make the value a parameter of this function, and pass it in the call"
        elif isinstance(self.type_signature, FederatedType) and do != BY_ELEMENT:
            do = f"{do} through federated_map"
        return TracingError(
            f"{problem}: the program is being written, not run",
            expected="a computation, an intrinsic, or + - * / of values",
            found=f"{use} a value of type {self.type_signature}",
            where=self._name(),
            do=do,
        )

    def elsewhere(self, sign: str) -> TracingError:
        """The error for an operator that the language does not have."""
        problem = f"{sign} is no operation of values"
        do = by_element(self.type_signature) or f"write it {_INSIDE}"
        return self.refused(problem, f"{sign} on", do)

    __round__ = _elsewhere("round()")

    def __contains__(self, _: object) -> bool:
        raise self._compared("`in`")

    def __setattr__(self, name: str, value: object) -> None:
        if name not in Refusals.__annotations__:
            raise self._unchangeable(f"{name} = …")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise self._unchangeable(f"del {name}")

    def __setitem__(self, key: object, value: object) -> None:
        raise self._unchangeable(f"[{key!r}] = …", TracingError)

    def _unchangeable(
        self, found: str, error: type[FedLearnError] = FieldError
    ) -> FedLearnError:
        return error(
            "a value cannot be changed",
            expected="a new structure, made of old and new fields",
            found=found,
            where=f"{self._name()}, of type {clip(self.type_signature)}",
            do="make one: OrderedDict(weight=new, bias=old.bias), for instance",
        )

    def __bool__(self) -> bool:
        use = "`if`, `and`, `or`, `not` or `while` on"
        do = f"decide {_INSIDE}"
        raise self.refused("a value is not true or false yet", use, do)

    def __eq__(self, other: object) -> bool:
        # NB(TFF): there, `==` compares Python objects, and is False without a word.
        if self is other:
            return True
        raise self._compared("== or !=")

    __hash__ = object.__hash__

    def __lt__(self, other: object) -> bool:
        raise self._compared("< or >")

    def __le__(self, other: object) -> bool:
        raise self._compared("<= or >=")

    __gt__, __ge__ = __lt__, __le__

    def _compared(self, signs: str) -> TracingError:
        problem = "values cannot be compared yet"
        return self.refused(problem, f"{signs} with", f"compare {_INSIDE}")

    def __float__(self) -> float:
        problem, do = "a value is not a number yet", f"convert it {_INSIDE}"
        raise self.refused(problem, "float() of", do)

    def __index__(self) -> int:
        problem, do = "a value is not a number yet", f"count {_INSIDE}"
        raise self.refused(problem, "int(), range() or an index made of", do)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        problem, do = "NumPy cannot read a value yet", f"move it {_INSIDE}"
        raise self.refused(problem, "NumPy code on", do)

    def __tf_tensor__(self, *_: Any, **__: Any) -> NoReturn:
        problem, do = "TensorFlow cannot read a value yet", "and call that"
        do = f"move it into a tf_computation, {do}"
        raise self.refused(problem, "TensorFlow code on", do)

    def no_function(self) -> TracingError:
        """The error for calling data."""
        return TracingError(
            "only functions can be called",
            expected="a value of a type such as (int32 -> int32)",
            found=str(self.type_signature),
            where=self._name(),
            do="this is data: give it to a computation, or drop the parentheses",
        )

    def no_field(self, key: object, fields: StructType | None) -> FieldError:
        """The error for a field that does not exist."""
        names = [name for name in fields.names() if name] if fields is not None else []
        count = 0 if fields is None else len(fields)
        known = [", ".join(names)] if names else []
        if count:
            known.append(f"an index from 0 to {count - 1}")
        return FieldError(
            "there is no such field",
            expected=" or ".join(known) or "no field: this value has none",
            found=repr(key),
            where=f"{self._name()}, of type {clip(self.type_signature)}",
            do=_cure_of_field(key, bool(names)),
        )

    def no_parts(self, use: str) -> TracingError:
        """The error for taking apart what has no parts."""
        type_ = self.type_signature
        member = type_.member if isinstance(type_, FederatedType) else type_
        if isinstance(member, SequenceType):
            do = "use sequence_map, sequence_reduce or sequence_sum"
        elif isinstance(type_, FederatedType):
            do = (
                "nobody sees the members one by one: use federated_map to work at each "
                "participant, federated_sum, federated_mean, … to combine them"
            )
        else:
            do = f"take it apart {_INSIDE}"
        return TracingError(
            f"{use} needs a structure",
            expected="a value of a structure type, such as <a=int32,b=float32>",
            found=str(type_),
            where=self._name(),
            do=do,
        )

    def _name(self) -> str:
        return clip(to_text(self.node))


def _cure_of_field(key: object, has_names: bool) -> str:
    if not isinstance(key, str):
        return "count fields from 0, and not from the end"
    if hasattr(dict, key) or hasattr(list, key):
        return "a value is no dict or list: name its fields, or iterate over it"
    if has_names:
        return "check the spelling of the field"
    return "`.type_signature` is all that is known before the program runs"


def not_a_part(thing: object) -> TracingError:
    """The error for something a federated body cannot mention."""
    if isinstance(thing, Mapping):
        do = "use an OrderedDict: the order of the fields matters"
    elif inspect.isawaitable(thing):
        do = "await it first"
    elif isinstance(thing, Placed):
        do = "make it a parameter of this function, and pass it in the call"
    elif type(thing).__module__.startswith("tensorflow"):
        do = "move the TensorFlow code into a tf_computation and call that"
    elif callable(thing):
        do = "decorate it: np_computation, tf_computation or federated_computation"
    else:
        do = "make a value, a constant or a container of it first"
    return TracingError(
        "this cannot be part of a federated computation",
        expected="a value, a computation, a constant, or a container of these",
        found=describe(thing),
        do=do,
    )
