# SPDX-License-Identifier: Apache-2.0
"""What the server sees of its clients, and in which way."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.language import intrinsic
from tests.programs import FLOATS, INTS
from tests.viz.dataflow import programs


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
    assert (value.exposure, value.way) == ("single", "in a way that is not known here")
