# SPDX-License-Identifier: Apache-2.0
"""Arithmetic and aggregation in every dtype, on both leaf runtimes."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.testing import assert_same
from tests.programs import local

SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
FLOATS = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)
COMPLEX = (np.complex64, np.complex128)

CONTEXTS = [
    pytest.param(
        local(leaf=leaf, max_fanout=fanout, support_sequence_ops=True),
        id=f"{leaf}-{fanout}",
        marks=[pytest.mark.tensorflow] if leaf == "tensorflow" else [],
    )
    for leaf, fanout in (("numpy", 100), ("tensorflow", 2))
]

pytestmark = pytest.mark.parametrize("context", CONTEXTS)


def _at_clients(body: Any, dtype: Any) -> Any:
    return fl.federated_computation(body, fl.type_at_clients(dtype))


def test_sum_and_operators_keep_the_dtype(context: Any) -> None:
    for dtype in (*SIGNED, *UNSIGNED, *FLOATS, *COMPLEX):
        program = _at_clients(
            lambda v: (fl.federated_sum(v), v + v, v - v, v * v), dtype
        )
        with context:
            found = program([1, 2, 3])
        columns = [[2, 4, 6], [0, 0, 0], [1, 4, 9]]
        assert_same(found, (dtype(6), *([dtype(x) for x in c] for c in columns)))


def test_extremes_keep_the_dtype(context: Any) -> None:
    for dtype in (*SIGNED, *UNSIGNED, *FLOATS):
        program = _at_clients(
            lambda v: (fl.federated_min(v), fl.federated_max(v)), dtype
        )
        is_whole = np.issubdtype(dtype, np.integer)
        limits = np.iinfo(dtype) if is_whole else ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
        least, greatest = dtype(limits.min), dtype(limits.max)
        with context:
            assert_same(program([greatest, 3, least]), (least, greatest))


def test_means_keep_the_dtype(context: Any) -> None:
    for dtype in (*FLOATS, *COMPLEX):
        program = fl.federated_computation(
            lambda v, w: (fl.federated_mean(v), fl.federated_mean(v, w)),
            fl.type_at_clients(dtype),
            fl.type_at_clients(np.int32),
        )
        with context:
            assert_same(program([1, 2, 6], [1, 1, 2]), (dtype(3), dtype(3.75)))


def test_integer_sums_wrap_around(context: Any) -> None:
    for dtype in (*SIGNED, *UNSIGNED):
        top = int(np.iinfo(dtype).max)
        with context:
            found = _at_clients(fl.federated_sum, dtype)([top, top, 3])
        assert_same(found, dtype(1))


def test_quotient_of_integers_is_a_double(context: Any) -> None:
    for dtype in (*SIGNED, *UNSIGNED):
        with context:
            found = _at_clients(lambda v: v / 2, dtype)([1, 4])
        assert_same(found, [np.float64(0.5), np.float64(2)])


def test_secure_sums_keep_the_dtype(context: Any) -> None:
    for dtype in (*SIGNED, *UNSIGNED):
        program = _at_clients(
            lambda v: (
                fl.federated_secure_sum(v, 9),
                fl.federated_secure_sum_bitwidth(v, 4),
                fl.federated_secure_modular_sum(v, 5),
            ),
            dtype,
        )
        with context:
            assert_same(program([1, 2, 9]), (dtype(12), dtype(12), dtype(2)))


def test_sequence_sum_keeps_the_dtype(context: Any) -> None:
    for dtype in (*SIGNED, *UNSIGNED, *FLOATS, *COMPLEX):
        program = fl.federated_computation(fl.sequence_sum, fl.SequenceType(dtype))
        with context:
            assert_same((program([]), program([1, 2, 3])), (dtype(0), dtype(6)))


def test_truth_values_and_text_travel(context: Any) -> None:
    program = fl.federated_computation(
        lambda v, w: (fl.federated_collect(v), fl.federated_collect(w)),
        fl.type_at_clients(np.bool_),
        fl.type_at_clients(np.str_),
    )
    with context:
        found = program([True, False, True], ["a", "", "ß"])
    assert_same(found, ([True, False, True], ["a", "", "ß"]))
