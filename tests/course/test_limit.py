# SPDX-License-Identifier: Apache-2.0
"""An answer that does not end is ended; whoever presses Ctrl-C is heard."""

import signal
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.course import judging, wants
from fedlearn_edu.course.exercise import Case
from fedlearn_edu.course.judging import judge, time_limit
from tests.course.examples import doubles, right
from tests.patience import PATIENCE_S


def endless(numbers: Any) -> Any:
    while True:
        pass


def test_endless_answer_ends_with_a_word_on_it() -> None:
    verdict = judge(doubles(limit_s=0.1), endless)
    assert [row.outcome for row in verdict.rows] == ["passed", "failed", "not run"]
    assert verdict.failure is not None
    assert verdict.failure.got == "nothing: not after 0.1 seconds"
    assert "a loop without an end?" in verdict.failure.likely


def catches_all(numbers: Any) -> Any:
    while True:
        try:  # noqa: SIM105
            time.sleep(0.01)
        except:  # noqa: E722
            pass


def keeps_what_it_catches(numbers: Any) -> Any:
    kept = []
    while True:
        try:
            numbers[0] += 1
        except BaseException as error:
            kept.append(error)
            continue


def never_lets_go(numbers: Any) -> Any:
    while True:
        try:
            endless(numbers)
        finally:
            continue  # noqa: B012


def is_right_at_last(numbers: Any) -> Any:
    try:
        never_lets_go(numbers)
    except BaseException:
        return right(numbers)


@pytest.mark.parametrize(
    "answer", [catches_all, keeps_what_it_catches, never_lets_go, is_right_at_last]
)
def test_answer_that_catches_everything_ends_all_the_same(answer: Any) -> None:
    def tracer(*_: object) -> None: ...

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        verdict = judge(doubles(limit_s=0.05), answer)
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)
    assert [row.outcome for row in verdict.rows] == ["passed", "failed", "not run"]
    assert verdict.failure is not None
    assert verdict.failure.got == "nothing: not after 0.05 seconds"


def test_answer_ends_where_the_keys_are_not_heard() -> None:
    """A shell script lets what it begins in the background ignore them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert not judge(doubles(limit_s=0.1), endless).is_right
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_endless_computation_is_cancelled_and_others_run_afterwards() -> None:
    @fl.np_computation(np.float32)
    def wait_above_three(x: Any) -> Any:
        while x > 3:
            time.sleep(0.001)
        return x

    @fl.federated_computation(fl.type_at_clients(np.float32))
    def average(readings: Any) -> Any:
        return fl.federated_mean(fl.federated_map(wait_above_three, readings))

    exercise = doubles(
        want=wants.computation("({float32}@CLIENTS -> float32@SERVER)"),
        reference=lambda: fl.federated_computation(
            fl.federated_mean, fl.type_at_clients(np.float32)
        ),
        cases=(Case("waits", ([1.0, 20.0],)), Case("one", ([1.0],))),
        limit_s=0.2,
    )
    verdict = judge(exercise, average)
    assert [row.outcome for row in verdict.rows] == ["passed", "failed", "not run"]
    assert judge(exercise, exercise.reference()).is_right


def test_bell_does_not_ring_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    rings: list[Any] = []
    heard: list[str] = []

    class Slow(threading.Thread):
        def __init__(self, target: Any, **others: Any) -> None:
            super().__init__(target=lambda: rings.append(target), **others)

    monkeypatch.setattr(threading, "Thread", Slow)
    monkeypatch.setattr(judging, "_interrupt", lambda: heard.append("ring"))
    with time_limit(60):
        pass
    while not rings:
        time.sleep(0.001)
    rings[0]()  # it was on its way already
    assert heard == []


def test_answer_that_gets_no_processor_has_more_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Others are at work: the clock goes on, and what it has used does not."""
    looked, often = [], threading.Event()

    def no_processor() -> float:
        looked.append(1)
        if len(looked) == 4:
            often.set()
        return 0.0

    def patient(numbers: list[float]) -> list[float]:
        often.wait(PATIENCE_S)
        return right(numbers)

    monkeypatch.setattr(judging, "_TIMES", 10**9)
    monkeypatch.setattr("fedlearn_edu.course.judging.time.process_time", no_processor)
    assert judge(doubles(limit_s=0.01), patient).is_right


def test_own_interrupt_passes_through() -> None:
    def pressed(numbers: Any) -> None:
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        endless(numbers)

    with pytest.raises(KeyboardInterrupt):
        judge(doubles(limit_s=30.0), pressed)


def test_other_threads_are_not_limited_and_still_judged() -> None:
    verdicts: list[bool] = []

    def work() -> None:
        verdicts.append(judge(doubles(limit_s=0.01), slow).is_right)

    def slow(numbers: list[float]) -> list[float]:
        time.sleep(0.03)
        return right(numbers)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert verdicts == [True]


def test_where_there_are_no_threads_a_clock_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Earlier Pythons see only that it was late; see `test_time_limits.py`."""
    monkeypatch.setenv("FEDLEARN_EDU_PLATFORM", "emscripten")

    def slow(numbers: list[float]) -> list[float]:
        time.sleep(0.03)
        return right(numbers)

    before = threading.active_count()
    verdict = judge(doubles(limit_s=0.01), slow)
    assert threading.active_count() == before
    assert verdict.failure is not None
    assert verdict.failure.got == "nothing: not after 0.01 seconds"
