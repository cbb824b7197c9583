"""The commands of custodians, on the server's host."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Protocol

import typer

from privacy.errors import InvalidLossError
from privacy.losses import Loss
from server.cli.operating import snapshot_commands
from server.cli.output import USAGE, Json, refusals, say, show, show_list
from server.cli.progress import shown_progress
from server.settings import Settings, SettingsError, read_settings
from server.use_cases.custody import CustodyOffice, LoadChoices
from server.use_cases.jobs import JobsOffice, Viewer
from server.use_cases.people import NewProject, PeopleOffice
from server.use_cases.services import Services
from server.use_cases.snapshots import SnapshotOffice


@dataclass(frozen=True, slots=True)
class Wiring:
    """What bootstrap hands to the commands; they cannot reach it themselves."""

    make_services: Callable[[Settings], Services]
    initialise: "Initialise"
    actor: Callable[[], str]
    make_jobs: Callable[[Services], JobsOffice]

    def jobs_office(self) -> JobsOffice:
        """Open the office of jobs."""
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


def settings_or_exit(**overrides: object) -> Settings:
    """Read the settings; exit with 2 and a sentence where they do not serve."""
    try:
        return read_settings(**overrides)
    except SettingsError as error:
        say(f"settings: {error}")
        raise typer.Exit(USAGE) from None


def read_loss(text: str) -> Loss:
    """Read a loss given on the command line; exit with 2 where it is none."""
    try:
        return Loss.parse(text)
    except InvalidLossError as error:
        say(f"{text!r}: {error.reason}")
        raise typer.Exit(USAGE) from None


def _read_day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        say(f"{text!r} is no date; write YYYY-MM-DD")
        raise typer.Exit(USAGE) from None


def add_commands(cli: typer.Typer, wiring: Wiring) -> None:
    """Add population, dataset, project, principal and key."""

    def custody() -> CustodyOffice:
        return CustodyOffice(wiring.make_services(settings_or_exit()), wiring.actor())

    def people() -> PeopleOffice:
        return PeopleOffice(wiring.make_services(settings_or_exit()), wiring.actor())

    def snapshots() -> SnapshotOffice:
        return SnapshotOffice(wiring.make_services(settings_or_exit()), wiring.actor())

    cli.add_typer(_population(custody), name="population")
    dataset = _dataset(custody, wiring)
    dataset.add_typer(snapshot_commands(snapshots), name="snapshot")
    cli.add_typer(dataset, name="dataset")
    cli.add_typer(_project(people), name="project")
    cli.add_typer(_principal(people), name="principal")
    cli.add_typer(_key(people), name="key")


def _population(office: Callable[[], CustodyOffice]) -> typer.Typer:
    cli = typer.Typer(help="People who share an identifier space, and their cap.")

    @cli.command()
    def create(manifest: Path, *, json: Json = False) -> None:
        """Create the population that a manifest declares.

        Example: curator population create hospital.yaml
        """
        with refusals():
            show(office().create_population(manifest), as_json=json)

    @cli.command("show")
    def show_one(
        name: Annotated[str | None, typer.Argument()] = None, *, json: Json = False
    ) -> None:
        """Show one population, or all: cap, spent, remaining.

        Example: curator population show hospital
        """
        with refusals():
            if name is not None:
                show(office().population(name), as_json=json)
            else:
                show_list(office().populations(), as_json=json)

    @cli.command()
    def cap(name: str, epsilon: str, *, json: Json = False) -> None:
        """Set the most that all answers together may spend.

        Example: curator population cap hospital 12.5
        """
        loss = read_loss(epsilon)
        with refusals():
            show(office().set_cap(name, loss), as_json=json)

    return cli


def _dataset(office: Callable[[], CustodyOffice], wiring: Wiring) -> typer.Typer:
    cli = typer.Typer(help="Tables behind the query interface.")

    @cli.command()
    def load(
        manifest: Path,
        *,
        dry_run: Annotated[
            bool, typer.Option(help="Check and report; change nothing.")
        ] = False,
        override_overlap: Annotated[
            bool, typer.Option(help="Let patients be in two populations.")
        ] = False,
        accept_changes: Annotated[
            bool, typer.Option(help="Let declarations differ from the last snapshot's.")
        ] = False,
        reason: Annotated[
            str | None, typer.Option(help="Why; recorded with an override.")
        ] = None,
        background: Annotated[
            bool, typer.Option(help="Let a worker do it; print the job's id.")
        ] = False,
        json: Json = False,
    ) -> None:
        """Load a dataset from the files that a manifest names, and activate it.

        The report is for custodians alone: it counts raw rows. In the background, files
        are read under CURATOR_IMPORT alone; see 'curator job follow'.

        Example: curator dataset load hospital.yaml
        """
        choices = LoadChoices(
            dry_run=dry_run,
            override_overlap=override_overlap,
            accept_changes=accept_changes,
            reason=reason,
        )
        with refusals():
            if background:
                told = {"manifest": str(manifest.resolve()), **asdict(choices)}
                job = wiring.jobs_office().submit(
                    wiring.operator(), "dataset.load", told
                )
                show({"job": job["id"]}, as_json=json)
                return
            if json:
                loaded = office().load(manifest, choices)
            else:
                with shown_progress() as progress:
                    loaded = office().load(manifest, choices, progress)
            show(loaded, as_json=json)

    @cli.command("list")
    def list_all(*, json: Json = False) -> None:
        """List the datasets and their active snapshots."""
        with refusals():
            show_list(office().datasets(), as_json=json)

    @cli.command("show")
    def show_one(name: str, *, json: Json = False) -> None:
        """Show one dataset: schema and snapshots."""
        with refusals():
            show(office().dataset(name), as_json=json)

    return cli


def _project(office: Callable[[], PeopleOffice]) -> typer.Typer:
    cli = typer.Typer(help="Who may ask which datasets, until when, for how much.")

    @cli.command()
    def create(
        name: str,
        *,
        dataset: Annotated[list[str], typer.Option(help="May be repeated.")],
        principal: Annotated[list[str], typer.Option(help="May be repeated.")],
        allotment: Annotated[str, typer.Option(help="Epsilon that it may spend.")],
        expires: Annotated[
            str | None, typer.Option(help="First day without access, YYYY-MM-DD.")
        ] = None,
        private_history: Annotated[
            bool, typer.Option(help="Offer its answers to no other project.")
        ] = False,
        json: Json = False,
    ) -> None:
        """Create a project.

        Example: curator project create sepsis --dataset hospital --principal ada
        --allotment 3 --expires 2027-06-30
        """
        new = NewProject(
            name=name,
            datasets=tuple(dataset),
            principals=tuple(principal),
            allotment=read_loss(allotment),
            expires=_read_day(expires),
            private_history=private_history,
        )
        with refusals():
            show(office().create_project(new), as_json=json)

    @cli.command()
    def grant(
        name: str,
        *,
        principal: Annotated[str | None, typer.Option()] = None,
        allotment: Annotated[str | None, typer.Option()] = None,
        dataset: Annotated[str | None, typer.Option()] = None,
        json: Json = False,
    ) -> None:
        """Let a principal or a dataset into a project.

        Example: curator project grant sepsis --principal grace --allotment 1
        """
        if (principal is None) == (dataset is None):
            say("give exactly one of --principal and --dataset")
            raise typer.Exit(USAGE)
        loss = None if allotment is None else read_loss(allotment)
        with refusals():
            if principal is not None:
                granted = office().grant_principal(name, principal, loss)
            else:
                granted = office().grant_dataset(name, str(dataset))
            show(granted, as_json=json)

    @cli.command("list")
    def list_all(*, json: Json = False) -> None:
        """List the projects."""
        with refusals():
            show_list(office().projects(), as_json=json)

    @cli.command("show")
    def show_one(name: str, *, json: Json = False) -> None:
        """Show one project."""
        with refusals():
            show(office().project(name), as_json=json)

    return cli


def _principal(office: Callable[[], PeopleOffice]) -> typer.Typer:
    cli = typer.Typer(help="People and programs that hold keys.")

    @cli.command()
    def create(
        name: str,
        *,
        role: Annotated[
            str, typer.Option(help="analyst, custodian, auditor or admin.")
        ],
        json: Json = False,
    ) -> None:
        """Create a principal.

        Example: curator principal create ada --role analyst
        """
        with refusals():
            show(office().create_principal(name, role), as_json=json)

    @cli.command()
    def disable(name: str, *, json: Json = False) -> None:
        """Disable a principal; its keys stop at the next request.

        Example: curator principal disable ada
        """
        with refusals():
            show(office().disable_principal(name), as_json=json)

    return cli


def _key(office: Callable[[], PeopleOffice]) -> typer.Typer:
    cli = typer.Typer(help="API keys.")

    @cli.command()
    def create(principal: str, *, json: Json = False) -> None:
        """Issue a key; it is shown once and kept as a hash.

        Example: curator key create ada --json
        """
        with refusals():
            show(office().create_key(principal), as_json=json)

    @cli.command("list")
    def list_all(*, json: Json = False) -> None:
        """List the keys, never their secrets."""
        with refusals():
            show_list(office().keys(), as_json=json)

    @cli.command()
    def revoke(key: str, *, json: Json = False) -> None:
        """Revoke a key at once, by its id.

        Example: curator key revoke k_0123456789ab
        """
        with refusals():
            show(office().revoke_key(key), as_json=json)

    return cli
