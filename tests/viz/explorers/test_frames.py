# SPDX-License-Identifier: Apache-2.0
"""Frames: seen as they come, ended when others are wanted, and never a traceback."""

import asyncio
import subprocess
import sys
from threading import Event, active_count, current_thread
from typing import Any

import pytest

from fedlearn_edu import framework
from fedlearn_edu.language.context_stack import Context, current_context
from fedlearn_edu.viz.explorers.frames import Follower, Frame, Frames, StillRunningError
from tests.patience import PATIENCE_S


class Page:
    """Where frames are shown."""

    def __init__(self, **options: Any) -> None:
        self.seen: list[Any] = []
        self.follower = Follower(self.show, **options)

    def show(self, shown: Frame | Exception) -> None:
        self.seen.append(shown if isinstance(shown, Exception) else shown[1])

    def after(self, frames: Frames) -> list[Any]:
        self.follower.follow(frames, PATIENCE_S)
        self.follower.wait(PATIENCE_S)
        return self.seen


def two() -> Frames:
    yield None
    yield "", "first"
    yield "", "last"


def without_end(ended: Event) -> Frames:
    try:
        while True:
            yield "", "on and on"
    finally:
        ended.set()


def test_the_first_and_the_last_frame_are_seen_from_another_thread() -> None:
    threads = []

    def work() -> Frames:
        threads.append(current_thread())
        yield from two()

    page = Page()
    assert page.after(work()) == ["first", "last"]
    assert threads != [current_thread()]
    assert not page.follower.is_running


def test_what_is_wanted_no_more_ends_and_is_not_seen_again() -> None:
    page, ended = Page(), Event()
    assert page.follower.follow(without_end(ended), PATIENCE_S)
    assert page.follower.is_running
    page.after(two())
    assert ended.is_set()
    assert page.seen[page.seen.index("first") :] == ["first", "last"]
    ended.clear()
    page.follower.follow(without_end(ended), PATIENCE_S)
    page.follower.stop()
    page.follower.wait(PATIENCE_S)
    assert ended.is_set()


def test_an_error_is_shown_and_kept_until_there_is_something_else() -> None:
    def fails() -> Frames:
        yield "", "begun"
        raise ZeroDivisionError("oh")

    page = Page()
    *_, error = page.after(fails())
    assert error is page.follower.error
    assert str(error) == "oh"
    page.after(two())
    assert page.follower.error is None


def test_waiting_ends() -> None:
    go = Event()

    def work() -> Frames:
        go.wait(PATIENCE_S)
        yield "", "done"

    page = Page()
    page.follower.wait(0)
    assert not page.follower.follow(work(), 0.01)
    with pytest.raises(StillRunningError, match="not ended yet"):
        page.follower.wait(0.05)
    go.set()
    page.follower.wait(PATIENCE_S)
    assert page.seen == ["done"]


def test_it_works_in_a_context_of_its_own() -> None:
    found = list[Context]()
    own = framework.ReferenceContext()

    def work() -> Frames:
        found.append(current_context())
        yield "", "done"

    Page(where=lambda: own).after(work())
    assert found == [own]


NEVER_ENDING = """
import time
from fedlearn_edu.viz.explorers.frames import Follower

def work():
    try:
        while True:
            time.sleep(0.01)
            yield "", "on and on"
    finally:
        print("ended")

follower = Follower(lambda _: None)
follower.follow(work(), 10)
"""


def test_the_interpreter_waits_for_its_end() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NEVER_ENDING],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


def test_in_a_browser_it_takes_turns_with_everything_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FEDLEARN_EDU_PLATFORM", "emscripten")
    count: list[int] = []

    def work() -> Frames:
        while len(count) < 100:
            count.append(len(count))
            yield "", f"step {len(count)}"

    async def turns() -> None:
        before = active_count()
        assert page.follower.follow(work(), PATIENCE_S)
        assert page.seen == ["step 1"]
        while len(count) < 5:
            await asyncio.sleep(0)
        page.follower.follow(two(), PATIENCE_S)
        while page.follower.is_running:
            await asyncio.sleep(0)
        assert len(count) < 10
        assert page.seen[-1] == "last"
        assert active_count() == before

    page = Page()
    asyncio.run(turns())
    assert page.after(two())[-2:] == ["first", "last"]


def test_interrupted_work_can_begin_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDLEARN_EDU_PLATFORM", "emscripten")

    def work() -> Frames:
        yield "", "begun"
        raise KeyboardInterrupt

    page = Page()
    page.follower.follow(work(), PATIENCE_S)
    with pytest.raises(KeyboardInterrupt):
        page.follower.wait(PATIENCE_S)
    assert page.after(two())[-1] == "last"
