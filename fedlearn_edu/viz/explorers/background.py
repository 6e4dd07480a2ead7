# SPDX-License-Identifier: Apache-2.0
"""Slow work in the background, with buttons to start and stop it and a bar.

The kernel stays free for other cells and controls: the work has a thread of its own, or
in a browser a turn whenever nothing else has one. It writes to widgets, since `print`
would write into whichever cell is running.
"""

import asyncio
import atexit
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from html import escape
from threading import Event, Thread
from typing import final
from weakref import WeakSet

import ipywidgets as widgets

from fedlearn_edu import framework
from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.errors import FedLearnError, describe, short_traceback
from fedlearn_edu.language.context_stack import Context, current_context
from fedlearn_edu.viz.explorers.controls import as_alarm, button

_REDRAW_SECONDS = 0.3
_LAST_SECONDS = 20.0
Step = tuple[int, int, str]
"""How many steps are done, of how many, and how far that is in words."""
Work = Generator[Step, None, str]
"""Yields after each step, where it may be ended; returns how it ended in words."""
_LINE = widgets.Layout(width="auto", max_width="100%")


@final
class StillRunningError(FedLearnError, TimeoutError):
    """A job did not end within the time it was waited for."""


@lru_cache(maxsize=1)
def explorers_context() -> framework.SyncExecutionContext:
    """The context that explorers run their own programs in, whatever the reader set up.

    There is one for all of them, which keeps what it compiled.
    """
    factory = framework.local_executor_factory(support_sequence_ops=True)
    return framework.SyncExecutionContext(factory)


_all_jobs: "WeakSet[Job]" = WeakSet()


@atexit.register
def _end_all() -> None:
    """Stops running jobs: a thread inside TensorFlow would abort the interpreter."""
    running = [job for job in _all_jobs if job.is_running]
    for job in running:
        job.stop()
    for job in running:
        with suppress(StillRunningError):
            job.wait(_LAST_SECONDS)


@final
class Job:
    """Work that can be started, stopped, waited for, and started again.

    Attributes:
        box: the buttons, the bar and a line of text, to be laid out.
        error: what the last run failed with, `None` if it did not.
    """

    def __init__(
        self,
        label: str,
        work: Callable[[], Work],
        tooltip: str = "",
        where: Callable[[], Context] = current_context,
    ) -> None:
        """Prepares the widgets; nothing starts yet.

        Args:
            label: Of the button.
            work: A generator function, begun anew at each start.
            tooltip: What the button does, in full.
            where: The context for the computations of the work. It is asked for at the
                start, so what other cells set up meanwhile has no effect.
        """
        _all_jobs.add(self)
        self._work, self._where = work, where
        self._left: Iterator[None] | None = None
        self._thread = Thread()
        self._task: asyncio.Task[None] | None = None
        self._stopping = Event()
        self._watchers: list[Callable[[], None]] = []
        self._drawn = 0.0
        self.error: Exception | None = None
        self.begin = button(label, tooltip)
        self.end = button("Stop", "keeps what there is")
        self.end.disabled = True
        layout = widgets.Layout(width="8em", display="none")
        self._bar = widgets.IntProgress(layout=layout)
        self._line = widgets.HTML(layout=_LINE)
        self.begin.on_click(lambda _: self.start())
        self.end.on_click(lambda _: self.stop())
        flow = widgets.Layout(
            flex="1 1 20em",
            flex_flow="row wrap",
            align_items="center",
            grid_gap="2px 8px",
        )
        children = [self.begin, self.end, self._bar, self._line]
        self.box = widgets.HBox(children, layout=flow)

    @property
    def is_running(self) -> bool:
        """Whether the work has started and not ended."""
        return self._left is not None

    @property
    def is_stopping(self) -> bool:
        """Whether a stop was asked for."""
        return self._stopping.is_set()

    @property
    def line(self) -> str:
        """The line of text, as HTML."""
        return str(self._line.value)

    def watch(self, function: Callable[[], None]) -> None:
        """Calls this a few times a second during the work, and at its end."""
        self._watchers.append(function)

    def start(self) -> None:
        """Starts the work, unless it is running."""
        if self.is_running:
            return
        self._stopping.clear()
        self.error = None
        self.begin.disabled, self.end.disabled = True, False
        self._bar.value, self._bar.layout.display = 0, None
        self._left = self._steps(self._where())
        if is_browser():
            with suppress(RuntimeError):  # no loop is running: `wait` takes the steps
                self._task = asyncio.get_running_loop().create_task(self._take_turns())
            return
        self._thread = Thread(target=self._go_on, name="explorer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Asks the work to stop; it does after the current step."""
        if self.is_running:
            self._stopping.set()
            self._say("stopping after this step \N{HORIZONTAL ELLIPSIS}")

    @short_traceback
    def wait(self, timeout: float = 60.0) -> None:
        """Waits until the work has ended, at most `timeout` seconds.

        Raises:
            StillRunningError: if it has not ended by then.
        """
        if is_browser():
            self._go_on(time.monotonic() + timeout)
        elif self._thread.ident is not None:
            self._thread.join(timeout)
        if self.is_running:
            raise StillRunningError(
                "the work has not ended yet",
                expected=f"an end within {timeout:g} s",
                found=self.line or describe(self),
                do="wait longer, or stop() it",
            )

    def report(self, done: int, total: int, text: str) -> None:
        """Shows the progress, as steps on the bar and in words."""
        self._bar.max, self._bar.value = max(total, 1), done
        if not self.is_stopping:
            self._say(escape(text))
        if time.monotonic() - self._drawn > _REDRAW_SECONDS:
            self._tell()

    def _go_on(self, until: float = float("inf")) -> None:
        """Takes step after step, here and now."""
        for _ in self._left or ():
            if time.monotonic() > until:
                return

    async def _take_turns(self) -> None:
        """Takes step after step, in turn with whatever else there is to do."""
        for _ in self._left or ():
            await asyncio.sleep(0)

    def _steps(self, context: Context) -> Iterator[None]:
        work, ended = self._work(), None
        try:
            with self._saying_errors():
                while ended is None:
                    with context:
                        ended = self._step(work)
                    yield
                self._say(escape(ended))
            with self._saying_errors(), context:
                self._tell()
        finally:  # also after Ctrl-C in `wait`
            self._bar.layout.display = "none"
            self.end.disabled, self.begin.disabled = True, False
            self._left = None

    def _step(self, work: Work) -> str | None:
        """Takes one step; returns how the work ended, if it did."""
        try:
            done, total, text = next(work)
        except StopIteration as end:
            return str(end.value)
        self.report(done, total, text)
        if not self.is_stopping:
            return None
        work.close()
        return f"{text}; stopped: press “{self.begin.description}” to go on"

    @contextmanager
    def _saying_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # shown to the reader, whatever it is
            self.error = error
            self._say(as_alarm(error))

    def _tell(self) -> None:
        for function in self._watchers:
            function()
        self._drawn = time.monotonic()

    def _say(self, html: str) -> None:
        self._line.value = f'<span role="status" aria-live="polite">{html}</span>'
