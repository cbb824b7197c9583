"""The form of what commands are handed; ``server/commands/wired.py`` fills it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Protocol, TypeVar

from server.cli.terminal.arguments import settings_or_exit
from server.configuration.settings import Settings
from server.processes.command_priority import is_served, yielding_to_server

if TYPE_CHECKING:  # each command reads what it needs
    from server.use_cases.jobs.jobs import JobService, Viewer
    from server.use_cases.jobs.replies import JobDetail
    from server.use_cases.jobs.running import JobRunner
    from server.use_cases.services.documents import Document
    from server.use_cases.services.services import Services

Opened = TypeVar("Opened")


class Initialise(Protocol):
    """Makes a new installation."""

    def __call__(
        self, settings: Settings, *, single_custodian: bool
    ) -> dict[str, object]:
        """Make it, and say what was made."""
        ...


@dataclass(frozen=True, slots=True)
class Wiring:
    """How the commands on the server's host open the installation of the settings."""

    make_services: Callable[[Settings], "Services"]
    initialise: Initialise
    actor: Callable[[], str]
    make_jobs: Callable[["Services"], "JobService"]
    make_runner: Callable[["Services", Event], "JobRunner"]

    def services(self) -> "Services":
        """Open the installation."""
        return self.make_services(settings_or_exit())

    def opened(
        self, service: Callable[["Services", str], Opened]
    ) -> Callable[[], Opened]:
        """Return what opens a service for whoever works on the host."""
        return lambda: service(self.services(), self.actor())

    def runner(self, stop: Event) -> "JobRunner":
        """Return what runs one's own job in this process."""
        return self.make_runner(self.services(), stop)

    def job_service(self) -> "JobService":
        """Open the job service."""
        return self.make_jobs(self.services())

    def operator(self) -> "Viewer":
        """Return whoever works on the host: they see every job."""
        from server.use_cases.jobs.jobs import Viewer  # noqa: PLC0415 - as above

        return Viewer(self.actor(), None)

    def submit(self, kind: str, told: "Document") -> "JobDetail":
        """Submit a job of whoever works on the host."""
        return self.job_service().submit(self.operator(), kind, told)

    def gives_way(self) -> AbstractContextManager[None]:
        """Work at a lower priority where the installation is served."""
        databases = self.services().databases
        return yielding_to_server(lambda: is_served(databases))
