# SPDX-License-Identifier: Apache-2.0
"""A bounded cache that many threads ask, and what it says on the tape."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from fedlearn_edu.contexts.cache import Cache
from fedlearn_edu.framework import Tape
from tests.patience import PATIENCE_S


def is_there(cache: Cache[str, str], key: str) -> bool:
    """Without making it, and without making it any younger."""
    return key in cache._kept


def ask(cache: Cache[str, str], *keys: str) -> list[str]:
    return [cache.get(key, key.upper) for key in keys]


def test_what_was_used_longest_ago_goes_first() -> None:
    cache: Cache[str, str] = Cache(3)
    assert ask(cache, *"abc") == list("ABC")
    ask(cache, "a")  # used again: young
    ask(cache, "d")
    assert [is_there(cache, key) for key in "abcd"] == [True, False, True, True]


def test_what_cannot_be_made_is_tried_again_and_pushes_nothing_out() -> None:
    cache: Cache[str, str] = Cache(2)
    ask(cache, *"ab")

    def fail() -> Any:
        raise KeyError("mine")

    for key in "cdef":
        with pytest.raises(KeyError, match="mine"):
            cache.get(key, fail)
    assert [is_there(cache, key) for key in "abcdef"] == [True, True, *4 * [False]]
    assert ask(cache, "c") == ["C"]


def side_by_side(*work: Callable[[], Any]) -> None:
    threads = [threading.Thread(target=each) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert not any(thread.is_alive() for thread in threads)


def test_threads_wait_for_the_one_that_makes_it() -> None:
    cache: Cache[str, str] = Cache(3)
    made, got = list[str](), list[str]()
    begun, others = threading.Event(), threading.Event()

    def make() -> str:
        begun.set()
        others.wait(PATIENCE_S)
        made.append("a")
        return "A"

    def late() -> None:
        begun.wait(PATIENCE_S)
        others.set()
        got.append(cache.get("a", make))

    side_by_side(lambda: got.append(cache.get("a", make)), late, late)
    assert (made, got) == (["a"], ["A", "A", "A"])


def test_while_one_is_made_others_can_be_had() -> None:
    """Also by whoever makes it."""
    cache: Cache[str, str] = Cache(3)
    begun, other = threading.Event(), threading.Event()

    def make() -> str:
        begun.set()
        assert other.wait(PATIENCE_S)
        return "".join(ask(cache, *"bc"))

    def meanwhile() -> None:
        begun.wait(PATIENCE_S)
        ask(cache, "b")
        other.set()

    side_by_side(lambda: cache.get("a", make), meanwhile)
    assert ask(cache, "a") == ["BC"]


def test_it_forgets_what_is_meant() -> None:
    cache: Cache[str, str] = Cache(3)
    ask(cache, *"abc")
    assert cache.forget(lambda key: key != "b") == ["A", "C"]
    assert [is_there(cache, key) for key in "abc"] == [False, True, False]


def test_what_failed_was_not_made() -> None:
    tape = Tape()
    with pytest.raises(ZeroDivisionError):
        Cache[str, str](3).get("a", lambda: str(1 // 0), tape)
    assert len(tape) == 0
