# SPDX-License-Identifier: Apache-2.0
"""Eager equals traced: every intrinsic, on random types and data, on several stacks.

What an intrinsic does in a body and what it does outside of one is the same: the type
of the result, and the data in it. So is a computation's result on plain and on placed
arguments.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedlearn_edu as fl
from fedlearn_edu import CLIENTS, SERVER
from fedlearn_edu.framework import ReferenceContext
from fedlearn_edu.testing import assert_same
from fedlearn_edu.types import FederatedType, Type
from tests.programs import local
from tests.strategies import data_types, element_types, tensor_types, value_of

I32 = fl.to_type(np.int32)
DEFAULT_CLIENTS = 2
CONTEXTS = [
    ReferenceContext(DEFAULT_CLIENTS),
    *(
        local(DEFAULT_CLIENTS, max_fanout=fanout, support_sequence_ops=True)
        for fanout in (100, 2)
    ),
]

FOUR = fl.np_computation(lambda: np.int32(4))
WORDS = fl.np_computation(lambda: OrderedDict(a=np.array(["x"]), b=(np.float32(0.5),)))


def numeric_tensors(kinds: str) -> st.SearchStrategy[Type]:
    """Tensors of numbers, of static shape."""
    dtypes = [
        d
        for d in (np.int32, np.int64, np.uint8, np.float32, np.float64)
        if np.dtype(d).kind in kinds
    ]
    shapes = st.lists(st.integers(0, 3), max_size=2)
    return st.builds(fl.TensorType, st.sampled_from(dtypes), shapes)


def numeric_types(kinds: str = "iuf") -> st.SearchStrategy[Type]:
    """The same, and structures of them."""

    def structures(parts: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
        named = st.builds(lambda a, b: OrderedDict(b=a, a=b), parts, parts)
        return st.one_of(st.lists(parts, max_size=2), named).map(fl.to_type)

    return st.recursive(numeric_tensors(kinds), structures, max_leaves=4)


def at(
    member: Type, draw: Any, *placements: Any, equal: bool | None = None
) -> FederatedType:
    """That type at one of the placements, at CLIENTS equal everywhere or not."""
    placement = draw(st.sampled_from(placements or (CLIENTS,)))
    if placement is CLIENTS and equal is None:
        equal = draw(st.booleans())
    return FederatedType(member, placement, equal or placement is SERVER)


def changed(member: Type, draw: Any) -> Any:
    """A function of one value of that type."""
    bodies: list[Callable[[Any], Any]] = [
        lambda x: x,
        lambda x: OrderedDict(same=x, three=3),
        lambda x: [x, (x,)],
        lambda x: fl.federated_computation(lambda y: (y, 1), member)(x)[0],
    ]
    return fl.federated_computation(draw(st.sampled_from(bodies)), member)


def counted(member: Type) -> tuple[Any, Any]:
    """A state and how an element of that type changes it."""
    zero = OrderedDict(n=np.int32(0), seven=7)
    state = fl.to_type(OrderedDict(n=np.int32, seven=np.int32))

    def body(state: Any, element: Any) -> Any:
        return OrderedDict(n=state.n * 3 + 1, seven=state.seven)

    return zero, fl.federated_computation(body, state, member)


Use = tuple[Sequence[Type], Callable[..., Any]]


def _aggregate(draw: Any) -> Use:
    member = draw(data_types())
    zero, step = counted(member)
    state = step.type_signature.result
    first = fl.federated_computation(lambda a, b: a, state, state)
    report = changed(state, draw)
    return [at(member, draw)], (
        lambda v: fl.federated_aggregate(v, zero, step, first, report)
    )


def _reduce(draw: Any) -> Use:
    member = draw(element_types())
    zero, step = counted(member)
    return [at(member, draw)], lambda v: fl.federated_reduce(v, zero, step)


def _map(draw: Any) -> Use:
    member = draw(data_types())
    fn = changed(member, draw)
    return [at(member, draw, CLIENTS, SERVER)], lambda v: fl.federated_map(fn, v)


def _apply(draw: Any) -> Use:
    member = draw(data_types())
    fn = changed(member, draw)
    return [at(member, draw, SERVER)], lambda v: fl.federated_apply(fn, v)


def _map_zipped(draw: Any) -> Use:
    members = [draw(data_types()), draw(data_types())]
    fn = changed(fl.to_type(members), draw)
    types = [at(member, draw) for member in members]
    return types, lambda v, w: fl.federated_map(fn, [v, w])


def _mean(draw: Any) -> Use:
    return [at(draw(numeric_types("f")), draw)], lambda v: fl.federated_mean(v)


def _weight(draw: Any) -> FederatedType:
    return at(fl.to_type(draw(st.sampled_from([np.int32, np.float32]))), draw)


def _weighted_mean(draw: Any) -> Use:
    types = [at(draw(numeric_types("f")), draw), _weight(draw)]
    return types, lambda v, w: fl.federated_mean(v, weight=w)


def _secure(name: str, bound: int) -> Callable[[Any], Use]:
    def use(draw: Any) -> Use:
        type_ = at(draw(numeric_types("i")), draw)
        return [type_], lambda v: getattr(fl, name)(v, bound)

    return use


def _select(draw: Any) -> Use:
    source = draw(element_types())
    keys = at(fl.TensorType(np.int32, [draw(st.integers(0, 3))]), draw)
    fn = fl.federated_computation(lambda s, key: (key, s), source, I32)
    types: list[Type] = [keys, fl.type_at_server(I32), fl.type_at_server(source)]
    return types, lambda k, limit, s: fl.federated_select(k, limit, s, fn)


def _zip(draw: Any) -> Use:
    placement = draw(st.sampled_from([CLIENTS, SERVER]))
    types = [at(draw(data_types()), draw, placement) for _ in range(2)]
    return types, lambda v, w: fl.federated_zip(OrderedDict(b=v, a=(w, [v])))


def _value(draw: Any) -> Use:
    leaves = tensor_types().flatmap(value_of)
    value = draw(
        st.recursive(
            leaves,
            lambda parts: st.one_of(
                st.lists(parts, max_size=2),
                st.tuples(parts, parts),
                st.builds(lambda part: OrderedDict(a=part), parts),
            ),
            max_leaves=3,
        )
    )
    placement = draw(st.sampled_from([CLIENTS, SERVER]))
    return [], lambda: fl.federated_value(value, placement)


def _eval(name: str) -> Callable[[Any], Use]:
    def use(draw: Any) -> Use:
        fn = draw(st.sampled_from([FOUR, WORDS]))
        placement = draw(st.sampled_from([CLIENTS, SERVER]))
        return [], lambda: getattr(fl, name)(fn, placement)

    return use


def _unary(
    name: str, members: Callable[[], st.SearchStrategy[Type]], *placements: Any
) -> Callable[[Any], Use]:
    def use(draw: Any) -> Use:
        return [at(draw(members()), draw, *placements)], (
            lambda v: getattr(fl, name)(v)
        )

    return use


def _sequence_type(draw: Any, element: Type) -> Type:
    """A sequence, nowhere in particular or at a placement."""
    sequence = fl.SequenceType(element)
    return sequence if draw(st.booleans()) else at(sequence, draw, CLIENTS, SERVER)


def _sequence_map(draw: Any) -> Use:
    element = draw(element_types())
    fn = changed(element, draw)
    return [_sequence_type(draw, element)], lambda s: fl.sequence_map(fn, s)


def _sequence_reduce(draw: Any) -> Use:
    element = draw(element_types())
    zero, step = counted(element)
    return [_sequence_type(draw, element)], (
        lambda s: fl.sequence_reduce(s, zero, step)
    )


def _sequence_sum(draw: Any) -> Use:
    element = draw(numeric_tensors("iuf"))
    type_ = _sequence_type(draw, element)
    if isinstance(type_, FederatedType):
        type_ = FederatedType(
            fl.SequenceType(draw(numeric_types())), type_.placement, type_.all_equal
        )
    return [type_], lambda s: fl.sequence_sum(s)


def _operator(draw: Any) -> Use:
    member = draw(numeric_types("f"))
    placement = draw(st.sampled_from([CLIENTS, SERVER]))
    types = [at(member, draw, placement) for _ in range(2)]
    bodies: list[Callable[[Any, Any], Any]] = [
        lambda v, w: v + w,
        lambda v, w: v - w,
        lambda v, w: v * w,
        lambda v, w: w / v,
    ]
    return types, draw(st.sampled_from(bodies))


USES: dict[str, Callable[[Any], Use]] = {
    "federated_aggregate": _aggregate,
    "federated_apply": _apply,
    "federated_broadcast": _unary("federated_broadcast", data_types, SERVER),
    "federated_collect": _unary("federated_collect", element_types),
    "federated_compute": _eval("federated_compute"),
    "federated_eval": _eval("federated_eval"),
    "federated_map": _map,
    "federated_map of a pair": _map_zipped,
    "federated_max": _unary("federated_max", numeric_types),
    "federated_mean": _mean,
    "federated_mean with weights": _weighted_mean,
    "federated_min": _unary("federated_min", numeric_types),
    "federated_reduce": _reduce,
    "federated_secure_modular_sum": _secure("federated_secure_modular_sum", 9),
    "federated_secure_sum": _secure("federated_secure_sum", 100),
    "federated_secure_sum_bitwidth": _secure("federated_secure_sum_bitwidth", 7),
    "federated_select": _select,
    "federated_sum": _unary("federated_sum", numeric_types),
    "federated_value": _value,
    "federated_weighted_mean": _weighted_mean,
    "federated_zip": _zip,
    "sequence_map": _sequence_map,
    "sequence_reduce": _sequence_reduce,
    "sequence_sum": _sequence_sum,
    "operators": _operator,
}
# What a secure sum may be asked to add.
LARGEST = {"federated_secure_sum": 100, "federated_secure_sum_bitwidth": 127}


def _arguments(draw: Any, types: Sequence[Type], most: int | None) -> list[Any]:
    """Data for parameters of those types, with one number of clients for all."""
    count = draw(st.integers(0, 4))
    arguments = []
    for type_ in types:
        value = value_of(type_)
        if isinstance(type_, FederatedType) and not type_.all_equal:
            one = value_of(type_.member)
            value = st.lists(one, min_size=count, max_size=count)
        drawn = draw(value)
        arguments.append(drawn if most is None else _at_most(drawn, most))
    return arguments


def _at_most(value: Any, most: int) -> Any:
    """The same containers with numbers from 0 to `most`: what secure sums take."""
    if isinstance(value, dict):
        return type(value)((k, _at_most(v, most)) for k, v in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_at_most(v, most) for v in value))
    if isinstance(value, fl.Struct):
        return value.map(lambda v: _at_most(v, most))
    if isinstance(value, list | tuple):
        return type(value)(_at_most(v, most) for v in value)
    return value % value.dtype.type(most + 1)


def _placed(value: Any, type_: Type) -> Any:
    """The same data for a use outside of bodies."""
    if isinstance(type_, FederatedType):
        return fl.FederatedValue(value, type_)
    assert isinstance(type_, fl.SequenceType)
    element = type_.element
    if not isinstance(element, fl.TensorType) or not element.has_static_shape:
        return value  # the function says what its elements are
    assert isinstance(element.shape, tuple)
    stacked: Any = np.zeros((len(value), *element.shape), element.dtype)
    for i, one in enumerate(value):
        stacked[i] = one
    return stacked


def _outcome(run: Callable[[], Any], type_: Type) -> Any:
    """What came out: data in Python form, or which error."""
    try:
        result = run()
    except fl.FedLearnError as error:
        return type(error).__name__, error.summary
    if not isinstance(result, fl.FederatedValue):
        return result
    assert result.type_signature == type_
    return result.value if result.type_signature.all_equal else result.members


@settings(max_examples=max(settings().max_examples // 3, 1))
@pytest.mark.parametrize("name", USES)
@given(st.data())
def test_eager_equals_traced(name: str, data: st.DataObject) -> None:
    """The same data, recorded and run, run at once, and placed for a recorded run."""
    types, use = USES[name](data.draw)
    program = fl.federated_computation(use, *types)
    type_ = program.type_signature.result
    arguments = _arguments(data.draw, types, LARGEST.get(name))
    placed = [_placed(a, t) for a, t in zip(arguments, types, strict=True)]
    with data.draw(st.sampled_from(CONTEXTS)), np.errstate(all="ignore"):
        recorded = _outcome(lambda: program(*arguments), type_)
        assert_same(_outcome(lambda: use(*placed), type_), recorded, relative=0)
        assert_same(_outcome(lambda: program(*placed), type_), recorded, relative=0)


def test_no_intrinsic_is_left_out() -> None:
    public = {
        name for name in fl.__all__ if name.startswith(("federated_", "sequence_"))
    }
    assert public - {"federated_computation"} <= set(USES)
