# SPDX-License-Identifier: Apache-2.0
"""Trees of states: taken apart and put together again, they are the same."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedlearn_edu.learning.pytree import flatten, is_finite, rebuild

Pair = namedtuple("Pair", ["left", "right"])


@dataclass(frozen=True)
class Box:
    content: Any
    label: Any


def containers(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(children, max_size=3),
        st.lists(children, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("abc"), children).map(OrderedDict),
        st.builds(Pair, children, children),
        st.builds(Box, children, children),
    )


TREES = st.recursive(st.integers(), containers, max_leaves=8)


@given(TREES)
def test_a_tree_is_rebuilt_from_its_leaves(tree: Any) -> None:
    assert rebuild(tree, flatten(tree)) == tree
    assert type(rebuild(tree, flatten(tree))) is type(tree)


def test_paths_tell_where_a_leaf_is() -> None:
    tree = Box({"a": [1.0]}, Pair(2.0, ()))
    assert flatten(tree) == {"content/a/0": 1.0, "label/left": 2.0}


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_bad_number_anywhere_is_found(bad: float) -> None:
    good = Box([np.zeros(3, np.float32)], {"text": b"nan", "count": np.int32(1)})
    assert is_finite(good)
    assert not is_finite(Box([np.array([0, bad], np.float32)], good))
