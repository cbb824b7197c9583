"""How a load's progress is shown: a bar on a terminal, else now and then a line."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from server.cli.output import say
from upstream.progress import Progress, Step

_LINE_EVERY_PERCENT = 25
_WORDS = {
    "check": "checking the files of",
    "units": "finding the units of",
    "read": "reading and hashing",
    "rank": "ranking and writing",
    "write": "ranking and writing",
}


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Yield a reporter that writes to standard error."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}% {task.fields[counted]}"),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(stderr=True)) as bars:
        yield _BarsOfPhases(bars)


def title_of(step: Step) -> str:
    """Return what is being done, in words."""
    return f"{_WORDS[step.phase]} {step.table}"


def counted_of(step: Step) -> str:
    """Return how much is done, in the step's unit."""
    if step.unit == "bytes":
        return f"{step.done / 1e6:,.0f} of {step.total / 1e6:,.0f} MB"
    return f"{step.done:,} of {step.total:,} rows"


class _Lines:
    """Writes a line at each phase's start, quarters and end."""

    def __init__(self) -> None:
        self._last: tuple[str, int] | None = None

    def __call__(self, step: Step) -> None:
        quarter = step.percent // _LINE_EVERY_PERCENT
        told = (title_of(step), quarter)
        if told != self._last:
            self._last = told
            say(f"{step.percent:3d}% {title_of(step)}: {counted_of(step)}")


class _BarsOfPhases:
    """Keeps one bar for each phase of each table."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._of_title: dict[str, TaskID] = {}

    def __call__(self, step: Step) -> None:
        title = title_of(step)
        if title not in self._of_title:
            self._of_title[title] = self._bars.add_task(
                title, total=step.total, counted=""
            )
        self._bars.update(
            self._of_title[title], completed=step.done, counted=counted_of(step)
        )
