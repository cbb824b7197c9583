"""How a load's progress is shown: a bar on a terminal, else now and then a line."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from server.cli.terminal.output import say
from upstream.progress import Progress, ProgressStep

PERCENT = 100
_SMALL_BYTES = 1_000_000
_LINE_EVERY_PERCENT = 10
_SECONDS_BETWEEN_LINES = 3.0
_SECONDS_OF_SILENCE = 60.0
_WORDS = {
    "check": "checking the files of",
    "units": "finding the units of",
    "read": "reading and hashing",
    "rank": "ranking and writing",
    "write": "ranking and writing",
    "slot": "waiting for the time at which readers may see",
}


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Yield a reporter that writes to standard error."""
    if not sys.stderr.isatty():
        yield _LoadLines()
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}% {task.fields[counted]}"),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(stderr=True)) as bars:
        yield _BarsOfPhases(bars)


def title_of(step: ProgressStep) -> str:
    """Return what is being done, in words."""
    return f"{_WORDS[step.phase]} {step.table}"


def counted_of(step: ProgressStep) -> str:
    """Return how much is done, in the step's unit."""
    if step.unit == "bytes":
        if step.total < _SMALL_BYTES:
            return f"{step.done / 1e3:,.0f} of {step.total / 1e3:,.0f} kB"
        return f"{step.done / 1e6:,.0f} of {step.total / 1e6:,.0f} MB"
    return f"{step.done:,} of {step.total:,} {step.unit}"


class PlainLines:
    """Writes whole lines, for pipes and logs: few, and never one over another.

    Each tenth of each stage, but for what comes within seconds of the last line; where
    nothing moves for long, a line says so; the end of a stage is always told.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._told: tuple[str, int] | None = None
        self._at = -math.inf

    def tell(self, stage: str, percent: int, line: str, *, is_end: bool) -> None:
        """Write a line about a stage, if it is time for one."""
        reached = (stage, PERCENT if is_end else percent // _LINE_EVERY_PERCENT)
        now = self._clock()
        since = now - self._at
        if reached == self._told:
            if is_end or since < _SECONDS_OF_SILENCE:
                return
        elif since < _SECONDS_BETWEEN_LINES and not is_end:
            return
        self._told, self._at = reached, now
        say(f"{percent:3d}% {line}")


class _LoadLines:
    """Tells the steps of a load in plain lines."""

    def __init__(self) -> None:
        self._lines = PlainLines()

    def __call__(self, step: ProgressStep) -> None:
        stage = title_of(step)
        line = f"{stage}: {counted_of(step)}"
        is_end = step.percent == PERCENT
        self._lines.tell(stage, step.percent, line, is_end=is_end)


class _BarsOfPhases:
    """Keeps one bar for each phase of each table."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._of_title: dict[str, TaskID] = {}

    def __call__(self, step: ProgressStep) -> None:
        title = title_of(step)
        if title not in self._of_title:
            self._of_title[title] = self._bars.add_task(
                title, total=step.total, counted=""
            )
        self._bars.update(
            self._of_title[title], completed=step.done, counted=counted_of(step)
        )
