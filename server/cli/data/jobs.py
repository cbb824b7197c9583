"""The commands ``curator job list | show | follow | cancel``."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from server.cli.terminal.output import (
    REFUSED,
    Json,
    print_json,
    refusals,
    say,
    show,
    show_list,
)
from server.cli.terminal.progress import PlainLines
from server.use_cases.jobs.store import ENDED
from server.use_cases.services.paging import Page

if TYPE_CHECKING:  # each command reads what it needs
    from server.use_cases.jobs.jobs import JobService, Viewer
    from server.use_cases.jobs.replies import JobDetail, JobItem
    from server.use_cases.jobs.running import JobRunner
    from server.use_cases.services.documents import Document


POLL_SECONDS = 0.5
_FIRST_POLL_SECONDS = 0.05
_COLUMNS = ("id", "kind", "population", "actor", "created", "state", "stage")
Tell = Callable[["JobItem"], None]


def job_commands(
    service: Callable[[], "JobService"], viewer: Callable[[], "Viewer"]
) -> typer.Typer:
    """Return the commands about jobs."""
    cli = typer.Typer(help="Work that goes on in the background; see 'curator worker'.")

    @cli.command("list")
    def list_all(
        *,
        limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
        cursor: Annotated[
            str | None, typer.Option(help="The last list's next_cursor.")
        ] = None,
        json: Json = False,
    ) -> None:
        """List the jobs, newest first.

        Example: curator job list --limit 10
        """
        with refusals():
            page = service().page(viewer(), Page(limit, cursor))
        if json:
            print_json(page)
            return
        show_list([_row(item) for item in page["items"]], as_json=False)

    @cli.command("show")
    def show_one(job: str, *, json: Json = False) -> None:
        """Show one job: state, progress, result, what it read and made.

        The result is for custodians alone: it counts raw rows.

        Example: curator job show job_0123456789abcdef01234567
        """
        with refusals():
            show(service().show(viewer(), job), as_json=json)

    @cli.command()
    def follow(job: str, *, json: Json = False) -> None:
        """Watch a job until its end; exit 0 if it is done, 1 if it is not.

        Example: curator job follow job_0123456789abcdef01234567
        """
        with refusals(), shown_headway(quiet=json) as tell:
            jobs = service()
            ended = follow_job(lambda: jobs.show(viewer(), job), tell)
        show(ended, as_json=json)
        if ended["state"] != "done":
            raise typer.Exit(REFUSED)

    @cli.command()
    def cancel(job: str, *, json: Json = False) -> None:
        """Cancel a job: queued, at once; running, within seconds.

        Example: curator job cancel job_0123456789abcdef01234567
        """
        with refusals():
            show(service().cancel(viewer(), job), as_json=json)

    return cli


def _row(item: "JobItem") -> "Document":
    told: Document = {**item}
    shown = {name: told[name] or "" for name in _COLUMNS}
    return {**shown, "progress": _counted(item)}


def _counted(item: "JobItem") -> str:
    total = item["total"]
    if total is None:
        return ""
    return f"{100 * item['done'] // max(1, total)}%"


def follow_job(look: Callable[[], "JobDetail"], tell: Tell) -> "JobDetail":
    """Look at a job until it has ended: often at first, and ever more seldom."""
    pause = _FIRST_POLL_SECONDS
    while True:
        seen = look()
        tell(seen)
        if seen["state"] in ENDED:
            return seen
        time.sleep(pause)
        pause = min(POLL_SECONDS, 1.5 * pause)


@contextmanager
def shown_headway(*, quiet: bool) -> Iterator[Tell]:
    """Yield what shows a job's headway on standard error, as ``dataset load`` does."""
    if quiet:
        yield lambda _: None
    elif not sys.stderr.isatty():
        yield _JobLines()
    else:
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
        )
        with Bars(*columns, console=Console(stderr=True)) as bars:
            yield _BarsOfStages(bars)


def run_job(
    jobs: "JobService",
    viewer: "Viewer",
    made: Callable[[threading.Event], "JobRunner"],
    job: str,
    *,
    quiet: bool,
) -> "JobDetail":
    """Run a job here, unless a worker has taken it, and watch it until its end.

    Nothing queues behind it, but a script's next command follows it, and what that
    writes has a time. So it ends at a slot's end, unless somebody sits at a terminal.

    Args:
        jobs: Where it is.
        viewer: Who watches.
        made: Makes what runs jobs in this process, until its event is set.
        job: Its id.
        quiet: Whether its headway is not shown.
    """
    stop = threading.Event()
    runner = made(stop)
    at_slot = quiet or not sys.stderr.isatty()
    working = threading.Thread(
        target=runner.run_one, args=(job,), kwargs={"at_slot": at_slot}, daemon=True
    )
    with shown_headway(quiet=quiet) as tell:
        working.start()
        try:
            return follow_job(lambda: jobs.show(viewer, job), tell)
        except KeyboardInterrupt:
            jobs.cancel(viewer, job)
            return follow_job(lambda: jobs.show(viewer, job), tell)
        finally:
            stop.set()
            working.join()


def require_done(ended: "JobDetail", cancelled: str) -> None:
    """Exit with 1 and the reason where a job was not done.

    Args:
        ended: How it ended.
        cancelled: What is said of one that has no reason.
    """
    if ended["state"] != "done":
        say(f"refused: {ended['error'] or cancelled}")
        raise typer.Exit(REFUSED)


def _words(seen: "JobItem") -> str:
    return f"{seen['state']}: {seen['stage']}" if seen["stage"] else str(seen["state"])


class _JobLines:
    """Tells a job's state, stage and headway in plain lines."""

    def __init__(self) -> None:
        self._lines = PlainLines()

    def __call__(self, seen: "JobItem") -> None:
        total, done = seen["total"], seen["done"]
        percent = 100 if seen["state"] == "done" else 0
        if not percent and total is not None:
            percent = 100 * done // max(1, total)
        words, is_end = _words(seen), seen["state"] in ENDED
        self._lines.tell(words, percent, words, is_end=is_end)


class _BarsOfStages:
    """Keeps one bar for each stage."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._of_words: dict[str, TaskID] = {}

    def __call__(self, seen: "JobItem") -> None:
        words, total, done = _words(seen), seen["total"], seen["done"]
        if words not in self._of_words:
            self._of_words[words] = self._bars.add_task(words, total=total)
        self._bars.update(self._of_words[words], completed=done, total=total)
