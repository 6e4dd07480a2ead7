# SPDX-License-Identifier: Apache-2.0
"""What the server sees of its clients, and in which way."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.language import intrinsic
from tests.programs import FLOATS, INTS
from tests.viz.dataflow import programs

CALL = "call of a parameter"


def seen(program: Any) -> list[tuple[str, str, str, int | None]]:
    """Path, exposure, intrinsic and bytes of each value."""
    values = fl.what_the_server_sees(program).values
    return [(v.path, str(v.exposure), v.intrinsic, v.nbytes) for v in values]


def test_round_of_a_process_shows_sums() -> None:
    model = fl.learning.models.softmax_regression()
    process = fl.learning.build_fed_avg(model, 0.1)
    mean = "combined", "federated_weighted_mean"
    assert seen(process) == seen(process.next) == [
        ("update", *mean, 31_400),
        ("weight", *mean, 4),
        ("counts", "combined", "federated_sum", 12),
    ]  # fmt: skip
    text = repr(fl.what_the_server_sees(process))
    assert "no single client's value; the machine that combines them could" in text


def test_what_stays_with_clients_or_comes_from_elsewhere_is_not_seen() -> None:
    @fl.federated_computation(FLOATS, fl.type_at_server(np.float32))
    def stay(x: Any, y: Any) -> Any:
        everywhere = fl.federated_broadcast(y)
        constant = fl.federated_value(np.float32(1), fl.SERVER)
        return fl.federated_zip([x, everywhere]), constant

    assert seen(stay) == []
    assert repr(fl.what_the_server_sees(stay)) == (
        "stay: nothing of a client reaches the server."
    )


def test_keys_are_seen_and_masked_sums_are_not() -> None:
    assert seen(programs.select) == [("keys", "single", "federated_select", 8)]
    masked = fl.what_the_server_sees(programs.secret)
    assert [v.path for v in masked.of("masked")] == ["x"]
    assert masked.sentence == (
        "secret: the server sees sums alone; masks hide what is added up."
    )


def test_what_is_sent_in_a_computation_that_is_called_is_seen() -> None:
    sizes = fl.type_at_clients(fl.SequenceType(np.int32))
    count = fl.np_computation(lambda xs: np.int32(len(list(xs))), sizes.member)
    collect = fl.federated_computation(lambda x: fl.federated_collect(x), INTS)

    @fl.federated_computation(sizes)
    def outer(data: Any) -> Any:
        return collect(fl.federated_map(count, data))

    [value] = fl.what_the_server_sees(outer).of("single")
    assert (value.path, str(value.type), value.nbytes) == (
        "result of lambda",
        "int32",
        4,
    )


def test_intrinsics_of_ones_own_hide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intrinsic, "_registry", dict(intrinsic._registry))

    @fl.framework.derived("({T}@CLIENTS -> T*@SERVER)")
    def federated_innocent(value: Any) -> Any:
        return fl.federated_collect(value)

    wrapped = fl.federated_computation(federated_innocent, INTS)
    assert seen(wrapped) == [("value", "single", "federated_collect", 4)]
    definition = fl.framework.define("federated_odd", "({T}@CLIENTS -> T@SERVER)")
    apply = fl.framework.apply
    odd = fl.federated_computation(lambda x: apply(definition, [x]), INTS)
    [value] = fl.what_the_server_sees(odd).values
    assert (value.exposure, value.way) == ("unknown", "in a way that is not known here")
    for name, result in (("both", "<T@SERVER,T@SERVER>"), ("round", "{T}@CLIENTS")):
        own = fl.framework.define(f"federated_{name}", f"({{T}}@CLIENTS -> {result})")
        program = fl.federated_computation(lambda x, own=own: apply(own, [x]), INTS)
        assert seen(program) == [("x", "unknown", f"federated_{name}", 4)]


AT_SERVER, ITSELF = fl.type_at_server(np.float32), ("x", "unknown", CALL, 4)
SENDS, KEEPS = fl.FunctionType(FLOATS, AT_SERVER), fl.FunctionType(FLOATS, FLOATS)
BOTH = fl.FunctionType(FLOATS, (AT_SERVER, FLOATS))
PASSES = fl.FunctionType(AT_SERVER, AT_SERVER)
HALVES = fl.np_computation(lambda x: x / 2, np.float32)


def nested(f: Any, x: Any) -> Any:
    return fl.federated_computation(lambda y: f(y), FLOATS)(x)


CALLED: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "directly": (lambda f, x: f(x), [SENDS, FLOATS], [ITSELF]),
    "nested": (nested, [SENDS, FLOATS], [ITSELF]),
    "to the clients": (lambda f, x: f(x), [KEEPS, FLOATS], [ITSELF]),
    "to both": (
        lambda f, x: fl.federated_collect(f(x)[1]),
        [BOTH, FLOATS],
        [ITSELF, ("a value", "single", "federated_collect", 4)],
    ),
    "in a struct": (lambda s: s.f(s.x), [[("f", SENDS), ("x", FLOATS)]], [ITSELF]),
    "of what was mapped": (
        lambda f, x: f(fl.federated_map(HALVES, x)),
        [SENDS, FLOATS],
        [("result of lambda", "unknown", CALL, 4)],
    ),
    "twice": (
        lambda f, g, x: f(g(x)),
        [SENDS, KEEPS, FLOATS],
        [ITSELF, ("a value", "unknown", CALL, 4)],
    ),
    "of the server": (
        lambda f, x: f(x),
        [PASSES, AT_SERVER],
        [("f", "unknown", CALL, None)],
    ),
    "returned": (
        lambda f, x: f(x)(x),
        [fl.FunctionType(FLOATS, SENDS), FLOATS],
        [ITSELF, ITSELF],
    ),
}


@pytest.mark.parametrize("how", CALLED)
def test_what_a_parameter_does_when_it_is_called_is_not_known(how: str) -> None:
    fn, types, expected = CALLED[how]
    program = fl.federated_computation(fn, *types)
    assert seen(program) == expected
    sentence = fl.what_the_server_sees(program).sentence
    assert f"sees of {expected[0][0]}" in sentence
    assert "is not known before the program is called" in sentence


def test_what_a_parameter_does_at_the_clients_stays_there() -> None:
    of_each = fl.FunctionType(np.float32, np.float32)
    program = fl.federated_computation(
        lambda f, x: fl.federated_map(f, x), of_each, FLOATS
    )
    assert seen(program) == []
