# SPDX-License-Identifier: Apache-2.0
"""Placements: their names and defaults."""

import pickle

import pytest

from fedlearn_edu.types import CLIENTS, SERVER, Placement


def test_placements_print_as_they_are_written() -> None:
    assert (str(CLIENTS), repr(SERVER)) == ("CLIENTS", "SERVER")
    assert (CLIENTS.uri, SERVER.uri) == ("clients", "server")


def test_only_the_server_is_all_equal_by_default() -> None:
    assert SERVER.default_all_equal
    assert not CLIENTS.default_all_equal


@pytest.mark.parametrize("placement", [CLIENTS, SERVER])
def test_placement_survives_pickling_as_itself(placement: Placement) -> None:
    assert pickle.loads(pickle.dumps(placement)) is placement
