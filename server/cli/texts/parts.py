"""What the commands about texts work with, and how they have a job done."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from server.cli.data.jobs import require_done, run_job
from server.cli.terminal.output import show

if TYPE_CHECKING:  # each command reads what it needs
    from server.use_cases.extraction.service import TextService
    from server.use_cases.jobs.jobs import JobService, Viewer
    from server.use_cases.jobs.running import JobRunner
    from server.use_cases.services.documents import Document


Population = Annotated[
    str | None, typer.Option(help="Whose; the only one's if not said.")
]
Background = Annotated[
    bool, typer.Option(help="Let a worker do it; print the job's id.")
]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="The most to list.")]
After = Annotated[int, typer.Option(min=0, help="List those behind this number.")]


@dataclass(frozen=True, slots=True)
class TextCommandParts:
    """What the commands work with.

    Attributes:
        service: Lists, exports and deletes.
        jobs: Submits.
        viewer: Whoever works on this host.
        runner: Runs jobs in this process, until its event is set.
    """

    service: Callable[[], "TextService"]
    jobs: Callable[[], "JobService"]
    viewer: Callable[[], "Viewer"]
    runner: Callable[[threading.Event], "JobRunner"]

    def population(self, told: str | None) -> str:
        """Return the population that is meant."""
        return self.service().population(told)

    def done(
        self, kind: str, told: "Document", *, background: bool, quiet: bool
    ) -> "Document":
        """Submit a job, and see it done unless a worker is to do it.

        Raises:
            typer.Exit: It was not done; exit code 1.
        """
        jobs, viewer = self.jobs(), self.viewer()
        job = str(jobs.submit(viewer, kind, told)["id"])
        if background:
            return {"job": job}
        ended = run_job(jobs, viewer, self.runner, job, quiet=quiet)
        require_done(ended, "the job was cancelled")
        return {"job": job, **(ended["result"] or {})}

    def run(
        self, kind: str, told: "Document", *, background: bool, as_json: bool
    ) -> None:
        """Have a job done and print what came of it."""
        show(
            self.done(kind, told, background=background, quiet=as_json),
            as_json=as_json,
        )
