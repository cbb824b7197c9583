"""The commands of custodians, on the server's host."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Event
from typing import Protocol, TypeVar

import typer

from server.cli.data.datasets import dataset_commands
from server.cli.host.operating import snapshot_commands
from server.cli.people.populations import population_commands
from server.cli.people.principals import key_commands, principal_commands
from server.cli.people.projects import project_commands
from server.cli.people.proposals import proposal_commands
from server.cli.terminal.arguments import read_loss, settings_or_exit
from server.configuration.settings import Settings
from server.processes.giving_way import giving_way, is_served
from server.use_cases.approvals.proposals import ProposalService
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.populations import PopulationService
from server.use_cases.custody.projects import ProjectService
from server.use_cases.datasets.snapshots import SnapshotService
from server.use_cases.jobs.jobs import JobService, Viewer
from server.use_cases.jobs.replies import JobDetail
from server.use_cases.jobs.running import JobRunner
from server.use_cases.loading.service import LoadService
from server.use_cases.services.documents import Document
from server.use_cases.services.services import Services

__all__ = ["Wiring", "add_commands", "read_loss", "settings_or_exit"]

Opened = TypeVar("Opened")


@dataclass(frozen=True, slots=True)
class Wiring:
    """What bootstrap hands to the commands; they cannot reach it themselves."""

    make_services: Callable[[Settings], Services]
    initialise: "Initialise"
    actor: Callable[[], str]
    make_jobs: Callable[[Services], JobService]
    make_runner: Callable[[Services, Event], JobRunner]

    def job_service(self) -> JobService:
        """Open the job service."""
        return self.make_jobs(self.make_services(settings_or_exit()))

    def operator(self) -> Viewer:
        """Return whoever works on the host: they see every job."""
        return Viewer(self.actor(), None)


class Initialise(Protocol):
    """Makes a new installation."""

    def __call__(
        self, settings: Settings, *, single_custodian: bool
    ) -> dict[str, object]:
        """Make it, and say what was made."""
        ...


def add_commands(cli: typer.Typer, wiring: Wiring) -> None:
    """Add population, dataset, project, principal, key and proposal."""

    def gives_way() -> AbstractContextManager[None]:
        databases = wiring.make_services(settings_or_exit()).databases
        return giving_way(lambda: is_served(databases))

    def opened(service: Callable[[Services, str], Opened]) -> Callable[[], Opened]:
        return lambda: service(wiring.make_services(settings_or_exit()), wiring.actor())

    def proposals() -> ProposalService:
        return ProposalService(wiring.make_services(settings_or_exit()))

    populations, loads = opened(PopulationService), opened(LoadService)
    people = opened(PeopleService)

    def submit(kind: str, told: Document) -> JobDetail:
        return wiring.job_service().submit(wiring.operator(), kind, told)

    cli.add_typer(population_commands(populations, loads, people), name="population")
    dataset = dataset_commands(populations, loads, submit, gives_way)
    dataset.add_typer(snapshot_commands(opened(SnapshotService)), name="snapshot")
    cli.add_typer(dataset, name="dataset")
    cli.add_typer(project_commands(opened(ProjectService)), name="project")
    cli.add_typer(principal_commands(people), name="principal")
    cli.add_typer(key_commands(people), name="key")
    cli.add_typer(proposal_commands(proposals), name="proposal")
