# SPDX-License-Identifier: Apache-2.0
"""A run is `process.next`, round after round, for those who finish."""

import contextlib
import gc
import io
import os
import signal
import sys
import tracemalloc
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedlearn_edu.learning.config import Options
from fedlearn_edu.learning.progress import progress_bar
from fedlearn_edu.learning.pytree import flatten
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.learning.training_loop import run
from fedlearn_edu.simulation import ClientData, ClientSampling, Stragglers
from tests.learning.small import (
    mean_process,
    numbers,
    same,
    small_arrays,
    small_data,
    small_lists,
)

PROCESS = mean_process()
KEEPING = mean_process(keeps=True)


# ---------------------------------------------------------------- rounds


def test_a_run_is_next_called_again_and_again() -> None:
    data, state = small_lists(), PROCESS.initialize()
    losses = []
    for _ in range(3):
        state, metrics = PROCESS.next(state, data)
        losses.append(metrics["loss_per_example"])
    made = run(PROCESS, data, 3)
    assert same(made.state, state)
    assert made.history["loss_per_example"].tolist() == [float(x) for x in losses]
    assert made.history["round"].tolist() == [1, 2, 3]
    assert made.history["clients"].tolist() == [4, 4, 4]
    assert (made.rounds, made.stopped) == (3, None)
    assert made.weights is made.state.weights


def test_metrics_that_are_called_like_a_cost_are_kept() -> None:
    class Next:
        type_signature = PROCESS.next.type_signature

        def __call__(self, *arguments: Any) -> Any:
            output = PROCESS.next(*arguments)
            metrics = {**output.metrics, "probability": 0.5, "drawn": 2.0}
            return output._replace(metrics=metrics)

    own: Any = Next()
    last = run(replace(PROCESS, next=own), small_lists(), 1).history.last
    assert (last["probability"], last["drawn"]) == (0.5, 2.0)


def test_no_rounds_are_the_first_state_and_an_empty_history() -> None:
    made = run(PROCESS, small_lists(), 0)
    assert same(made.state, PROCESS.initialize())
    assert len(made.history) == 0


def test_shuffling_depends_on_seed_and_round() -> None:
    data = small_data()
    made = run(PROCESS, data, 2, batch_size=4, options=Options(shuffle_seed=5))
    state = PROCESS.initialize()
    for number in (1, 2):
        batches = data.batches(batch_size=4, seed=5, round_number=number)
        state, _ = PROCESS.next(state, batches)
    assert same(made.state, state)
    other = run(PROCESS, data, 2, batch_size=4, options=Options(shuffle_seed=6))
    assert not same(made.state, other.state)


def test_only_those_who_finish_enter_the_weights_and_the_counts() -> None:
    data = small_data()
    how = ClientSampling(
        count=4, dropout=0.3, stragglers=Stragglers(deadline=1.2), seed=3
    )
    made = run(PROCESS, data, 6, batch_size=4, client_sampling=how)
    state, draws = PROCESS.initialize(), []
    for number in range(1, 7):
        cohort = how.draw(number, data.num_examples)
        draws.append(cohort)
        if cohort.finished:
            chosen = data.select(cohort.finished).batches(batch_size=4)
            state, _ = PROCESS.next(state, chosen)
    assert same(made.state, state)
    for column in ("dropped", "late"):
        expected = [len(getattr(cohort, column)) for cohort in draws]
        assert made.history[column].tolist() == expected
        assert sum(expected) > 0
    examples = [int(data.num_examples[list(d.finished)].sum()) for d in draws]
    assert np.nan_to_num(made.history["examples"]).tolist() == examples


def test_lists_of_batches_can_be_sampled_from_too() -> None:
    data = small_data()
    how = ClientSampling(count=2, weights="examples", seed=1)
    assert same(
        run(PROCESS, data, 3, batch_size=4, client_sampling=how).state,
        run(PROCESS, data.batches(batch_size=4), 3, client_sampling=how).state,
    )


def test_a_round_in_which_nobody_finishes_changes_nothing() -> None:
    slow = ClientSampling(stragglers=Stragglers(deadline=1e-9))
    made = run(KEEPING, small_data(), 2, client_sampling=slow)
    assert same(made.state, KEEPING.initialize())
    assert made.history["clients"].tolist() == [0, 0]
    assert made.history["late"].tolist() == [6, 6]
    assert np.isnan(made.history["loss_per_example"]).all()
    assert made.client_states is not None
    assert [int(kept["rounds"]) for kept in made.client_states] == [0] * 6


def test_a_round_without_a_single_example_changes_nothing() -> None:
    made = run(PROCESS, [[], []], 2)
    assert same(made.state, PROCESS.initialize())
    assert made.history["examples"].tolist() == [0, 0]


def test_each_client_gets_back_what_it_kept() -> None:
    data, how = small_data(), ClientSampling(count=2, seed=4)
    made = run(KEEPING, data, 5, batch_size=4, client_sampling=how)
    draws = [how.draw(n, data.num_examples).finished for n in range(1, 6)]
    times = [sum(client in cohort for cohort in draws) for client in range(6)]
    assert made.client_states is not None
    assert [int(kept["rounds"]) for kept in made.client_states] == times
    assert len(set(times)) > 1


def test_data_are_placed_once_where_all_take_part_in_the_same_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[Any] = []
    place = ClientData.place

    def noted(*arguments: Any, **named: Any) -> Any:
        calls.append(named)
        return place(*arguments, **named)

    monkeypatch.setattr(ClientData, "place", noted)
    run(PROCESS, small_data(), 4, batch_size=4)
    assert len(calls) == 1
    run(PROCESS, small_data(), 4, batch_size=4, options=Options(shuffle_seed=1))
    assert len(calls) == 1 + 4


def test_batches_that_can_be_read_once_serve_all_rounds() -> None:
    data = small_lists()
    once: list[Any] = [iter(batches) for batches in data]
    how: Any = {"client_sampling": ClientSampling(count=2, seed=1)}
    assert same(run(PROCESS, once, 3, **how).state, run(PROCESS, data, 3, **how).state)


def test_placed_data_are_taken_as_they_are() -> None:
    data = small_data()
    made = run(PROCESS, data.place(batch_size=4), 2)
    assert same(made.state, run(PROCESS, data, 2, batch_size=4).state)


# ---------------------------------------------------------------- watching


def test_evaluations_are_columns_of_their_own() -> None:
    seen: list[Any] = []

    def judge(weights: Any) -> dict[str, Any]:
        seen.append(weights)
        return {"loss": np.float32(0.5), "examples": 7}

    made = run(PROCESS, small_lists(), 2, evaluate={"test": judge})
    assert made.history["test.loss"].tolist() == [0.5, 0.5]
    assert made.history["test.examples"].tolist() == [7, 7]
    assert same(seen[-1], made.weights)


def test_evaluations_come_first_last_and_every_so_often() -> None:
    evaluators = {"test": lambda weights: {"loss": 1.0}}
    options = Options(evaluate_every=3)
    made = run(PROCESS, small_lists(), 8, evaluate=evaluators, options=options)
    evaluated = made.history["round"][~np.isnan(made.history["test.loss"])]
    assert evaluated.tolist() == [1, 3, 6, 8]


def test_an_error_in_an_evaluation_says_which_and_when() -> None:
    def broken(weights: Any) -> Any:
        raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError) as error:
        run(PROCESS, small_lists(), 3, evaluate={"test": broken})
    assert error.value.__notes__ == ["  evaluate['test'], after round 1"]


def test_an_error_that_is_not_ours_gets_a_note_with_the_round() -> None:
    class Strange(list[Any]):
        def __len__(self) -> int:
            raise ZeroDivisionError

        def __iter__(self) -> Any:
            raise ZeroDivisionError

    data: list[Any] = [Strange()]
    with pytest.raises(ZeroDivisionError) as caught:
        run(PROCESS, data, 1)
    assert "round 1" in "".join(caught.value.__notes__)


def test_callbacks_see_the_run_so_far_and_stop_it() -> None:
    seen: list[Run] = []

    def until_third(so_far: Run) -> str | None:
        seen.append(so_far)
        return "three are enough" if so_far.rounds == 3 else None

    made = run(PROCESS, small_lists(), 9, options=Options(callbacks=[until_third]))
    assert [so_far.rounds for so_far in seen] == [1, 2, 3]
    assert (made.rounds, made.stopped) == (3, "three are enough")
    assert same(seen[-1].state, made.state)
    assert "stopped: three are enough" in repr(made)


def test_those_who_look_on_cannot_write_into_what_is_trained() -> None:
    """Neither into an array, nor by another entry in a container."""
    refused: list[str] = []

    def spoil(tree: Any) -> None:
        for path, array in flatten(tree).items():
            if not isinstance(array, np.ndarray):
                continue
            try:
                array += 1
            except ValueError:
                refused.append(path)

    def judge(weights: Any) -> dict[str, float]:
        spoil(weights)
        weights["mean"] = np.zeros_like(weights["mean"])
        return {"loss": 1.0}

    def call(so_far: Run) -> None:
        assert so_far.client_states is not None
        for thing in (so_far.state, *so_far.client_states, so_far.client_states[1:]):
            spoil(thing)
        so_far.state.weights.clear()

    how = Options(callbacks=[call, call])
    made = run(
        KEEPING, small_lists(), 3, evaluate={"a": judge, "b": judge}, options=how
    )
    untouched = run(KEEPING, small_lists(), 3)
    assert same(made.state, untouched.state)
    assert same(made.client_states, untouched.client_states)
    # 3 rounds: of 2 evaluations a mean; of 2 callbacks a mean, a moment, 4 + 3 drifts
    assert len(refused) == 3 * (2 * 1 + 2 * 9)
    made.weights["mean"][0] = 1.0  # what is returned is the caller's


def test_an_interrupt_ends_the_run_after_the_last_whole_round() -> None:
    def interrupt(weights: Any) -> dict[str, float]:
        if interrupt.calls == 2:  # type: ignore[attr-defined]
            os.kill(os.getpid(), signal.SIGINT)
        interrupt.calls += 1  # type: ignore[attr-defined]
        return {"loss": 1.0}

    interrupt.calls = 0  # type: ignore[attr-defined]
    made = run(PROCESS, small_lists(), 9, evaluate={"test": interrupt})
    assert (made.rounds, made.stopped) == (2, "interrupted")
    assert same(made.state, run(PROCESS, small_lists(), 2).state)


def test_a_run_goes_on_from_another_one() -> None:
    how: Any = {"batch_size": 4, "client_sampling": ClientSampling(count=3, seed=1)}
    begun = run(KEEPING, small_data(), 2, **how)
    interrupted = replace(begun, stopped="interrupted")
    seen: list[str | None] = []
    options = Options(
        start=interrupted, callbacks=[lambda run: seen.append(run.stopped)]
    )
    made = run(KEEPING, small_data(), 5, **how, options=options)
    whole = run(KEEPING, small_data(), 5, **how)
    assert same(made.state, whole.state)
    assert same(made.client_states, whole.client_states)
    assert numbers(made) == numbers(whole)
    assert made.stopped is None
    assert seen == [None] * 4


LISTS = small_lists()
X, Y = small_arrays(12)
SPLIT = [np.arange(4), np.arange(4, 8), np.arange(8, 12)]


def data_of(partition: Any = SPLIT, x: Any = X) -> ClientData:
    return ClientData(x, Y, partition)


def test_what_clients_keep_may_be_handed_on_where_it_is_meant() -> None:
    """Refusals have who is told from whom."""
    for data, start in (
        (data_of(SPLIT[::-1]), replace(run(KEEPING, data_of(), 1), clients=())),
        (LISTS, run(KEEPING, LISTS, 1)),
    ):
        assert run(KEEPING, data, 2, options=Options(start=start)).rounds == 2
    plain = Options(start=run(PROCESS, LISTS, 1))
    assert run(PROCESS, LISTS[::-1], 2, options=plain).rounds == 2


def test_examples_of_the_same_clients_may_be_cleaned() -> None:
    names = dict(zip("abc", SPLIT, strict=True))
    fewer = {name: held[:3] for name, held in names.items()}
    for before, after in (
        (LISTS, [*LISTS[:3], LISTS[3][:1]]),
        (data_of(), data_of(x=X / 2)),
        (data_of(names), data_of(fewer)),
        (data_of(), data_of([*SPLIT[:2], SPLIT[2][:2]])),
    ):
        options = Options(start=run(KEEPING, before, 1))
        assert run(KEEPING, after, 2, options=options).rounds == 2


# ---------------------------------------------------------------- the bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_there_is_a_bar_on_stdout(capsys: Any) -> None:
    screen = Terminal()
    with contextlib.redirect_stdout(screen):
        evaluators = {"test": lambda weights: {"accuracy": 0.25}}
        run(PROCESS, small_lists(), 2, evaluate=evaluators)
    assert "2/2" in screen.getvalue()
    assert "loss_per_example=" in screen.getvalue()
    assert "test.accuracy=0.25" in screen.getvalue()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("screen", "is_wanted"), [(Terminal(), False), (io.StringIO(), True)]
)
def test_nobody_sees_a_bar_who_does_not_watch(
    screen: io.StringIO, is_wanted: bool, capsys: Any
) -> None:
    with contextlib.redirect_stdout(screen):
        run(PROCESS, small_lists(), 2, options=Options(progress=is_wanted))
    assert screen.getvalue() == ""
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("has_kernel", "kind"), [(True, "notebook"), (False, "std")])
def test_in_a_kernel_the_bar_is_one_for_notebooks(
    has_kernel: bool, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = SimpleNamespace(kernel=None) if has_kernel else SimpleNamespace()
    made = []
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    for name in ("notebook", "std"):
        module = SimpleNamespace(tqdm=lambda name=name, **look: made.append(name))
        library = "tqdm.notebook" if name == "notebook" else "tqdm"
        monkeypatch.setitem(sys.modules, library, module)
    progress_bar(3, 0, True)
    assert made == [kind]


# ---------------------------------------------------------------- memory


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rounds() -> None:
    sizes = {}
    tracemalloc.start()

    def measure(so_far: Run) -> None:
        if so_far.rounds in (10, 40):
            gc.collect()
            sizes[so_far.rounds] = tracemalloc.get_traced_memory()[0]

    how: Any = {"batch_size": 4, "client_sampling": ClientSampling(count=3)}
    options = Options(shuffle_seed=1, callbacks=[measure])
    run(KEEPING, small_data(), 40, **how, options=options)
    tracemalloc.stop()
    # A row is about 600 bytes; a round's data and states would be 20 kB.
    assert sizes[40] - sizes[10] < 30 * 2_000
