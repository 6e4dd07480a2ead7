# SPDX-License-Identifier: Apache-2.0
"""Jobs: begun, watched, stopped, waited for, and never a traceback."""

import asyncio
import subprocess
import sys
from threading import Event, active_count, current_thread
from typing import Any

import pytest

from fedlearn_edu import framework
from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.language.context_stack import Context, current_context
from fedlearn_edu.viz.explorers.background import Job, StillRunningError, Work
from tests.patience import PATIENCE_S

STEP = (1, 10, "step 1 of 10")


def at_once() -> Work:
    yield STEP
    return "done"


def test_it_works_in_a_thread_and_says_how_it_ended() -> None:
    threads, told = [], []

    def work() -> Work:
        threads.append(current_thread())
        yield STEP
        return "all <done>"

    job = Job("Go", work)
    job.watch(lambda: told.append(job.line))
    assert not threads
    job.begin.click()
    job.wait()
    assert threads != [current_thread()]
    assert "all &lt;done&gt;" in job.line
    assert told[1:] == [job.line]
    assert job.error is None


def test_it_stops_when_asked_and_begins_again() -> None:
    begun, count = Event(), []

    def work() -> Work:
        count.append(job.is_stopping)
        begun.set()
        while True:
            yield STEP

    job = Job("Go", work)
    for turn in (1, 2):
        begun.clear()
        job.start()
        assert begun.wait(PATIENCE_S)
        assert (job.begin.disabled, job.end.disabled) == (True, False)
        job.start()
        job.end.click()
        job.wait(PATIENCE_S)
        assert (job.begin.disabled, job.end.disabled) == (False, True)
        assert "stopped" in job.line
        assert count == [False] * turn


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FedLearnError("no <bread>", do="bake"), ["no &lt;bread&gt;", "do:", "bake"]),
        (ZeroDivisionError("oh"), ["ZeroDivisionError: oh"]),
    ],
    ids=["ours", "foreign"],
)
def test_an_error_is_said_and_not_thrown(
    error: Exception, words: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    def work() -> Work:
        yield STEP
        raise error

    job = Job("Go", work)
    job.start()
    job.wait()
    assert job.error is error
    for word in words:
        assert word in job.line
    assert capfd.readouterr() == ("", "")
    assert not job.begin.disabled


def test_an_error_of_who_watches_is_said_too(capfd: Any) -> None:
    def spoil() -> None:
        raise ValueError("cannot draw")

    job = Job("Go", at_once)
    job.watch(spoil)
    job.start()
    job.wait()
    assert "cannot draw" in job.line
    assert capfd.readouterr().err == ""


def test_waiting_ends() -> None:
    go = Event()

    def work() -> Work:
        go.wait(PATIENCE_S)
        yield STEP
        return ""

    job = Job("Go", work)
    job.wait(0)
    job.start()
    with pytest.raises(StillRunningError, match="not ended yet"):
        job.wait(0.05)
    go.set()
    job.wait(PATIENCE_S)


@pytest.mark.parametrize("has_own", [False, True])
def test_it_works_in_its_own_context_or_where_it_was_begun(has_own: bool) -> None:
    go, found = Event(), list[Context]()

    def work() -> Work:
        go.wait(PATIENCE_S)
        yield STEP
        found.append(current_context())
        return ""

    ours, own = framework.ReferenceContext(), framework.ReferenceContext()
    job = Job("Go", work, where=lambda: own) if has_own else Job("Go", work)
    with ours:
        job.start()
    with framework.ReferenceContext():
        go.set()
        job.wait()
    assert found == [own if has_own else ours]


def test_interrupted_work_can_begin_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDLEARN_EDU_PLATFORM", "emscripten")
    errors = [KeyboardInterrupt()]

    def work() -> Work:
        yield STEP
        if errors:
            raise errors.pop()
        return "done"

    job = Job("Go", work)
    job.start()
    with pytest.raises(KeyboardInterrupt):
        job.wait()
    assert (job.is_running, job.begin.disabled) == (False, False)
    job.start()
    job.wait()
    assert "done" in job.line


NEVER_ENDING = """
import time
from fedlearn_edu.viz.explorers.background import Job

def work():
    try:
        while True:
            time.sleep(0.01)
            yield 1, 2, "on and on"
    finally:
        print("ended")

job = Job("Go", work)
job.start()
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

    def work() -> Work:
        while len(count) < 100:
            count.append(len(count))
            yield len(count), 100, f"step {len(count)}"
        return "done"

    async def page() -> None:
        before = active_count()
        job.begin.click()
        assert not count
        while len(count) < 5:
            await asyncio.sleep(0)
        job.end.click()
        while job.is_running:
            await asyncio.sleep(0)
        assert len(count) < 10
        assert "stopped: press “Go” to go on" in job.line
        job.start()
        job.wait()
        assert (len(count), job.is_running, active_count()) == (100, False, before)
        assert "done" in job.line

    job = Job("Go", work)
    asyncio.run(page())
    job.start()
    job.wait()
    assert "done" in job.line
