# SPDX-License-Identifier: Apache-2.0
"""Placements: their names, and looking them up."""

import pickle

import pytest

from fedlearn_edu.errors import NotationError
from fedlearn_edu.types import CLIENTS, SERVER, Placement, placement_from_name


def test_placements_print_as_they_are_written() -> None:
    assert (str(CLIENTS), repr(SERVER)) == ("CLIENTS", "SERVER")
    assert (CLIENTS.uri, SERVER.uri) == ("clients", "server")


def test_only_the_server_is_all_equal_by_default() -> None:
    assert SERVER.default_all_equal
    assert not CLIENTS.default_all_equal


@pytest.mark.parametrize("name", ["CLIENTS", "clients"])
def test_placement_is_found_by_either_name(name: str) -> None:
    assert placement_from_name(name) is CLIENTS


def test_unknown_placement_names_the_known_ones() -> None:
    with pytest.raises(NotationError, match=r"CLIENTS or SERVER\n.*edge"):
        placement_from_name("edge")


@pytest.mark.parametrize("placement", [CLIENTS, SERVER])
def test_placement_survives_pickling_as_itself(placement: Placement) -> None:
    assert pickle.loads(pickle.dumps(placement)) is placement
