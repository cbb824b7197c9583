"""``curator population``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privacy.losses import Loss
from server.cli.terminal.arguments import Reason, read_loss
from server.cli.terminal.output import Json, confirm, refusals, say, show, show_list
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.populations import PopulationService
from server.use_cases.custody.replies import PopulationShape

if TYPE_CHECKING:
    from server.use_cases.loading.service import LoadService


def population_commands(
    service: Callable[[], PopulationService],
    loads: Callable[[], "LoadService"],
    people: Callable[[], PeopleService],
) -> typer.Typer:
    """Return the commands."""
    cli = typer.Typer(help="People who share an identifier space, and their cap.")

    @cli.command()
    def create(manifest: Path, *, json: Json = False) -> None:
        """Create the population that a manifest, a pipeline or a linkage declares.

        Or a file of one key, population, where nothing is to be loaded.

        Example: curator population create hospital.yaml
        """
        # It reads every kind of file that may declare one; no other command does.
        from server.use_cases.linkage.work.populations import (  # noqa: PLC0415
            population_of,
        )

        with refusals(as_json=json):
            service, declared = loads(), population_of(manifest)
            show(service.create_population(manifest, declared), as_json=json)

    @cli.command("list")
    def list_all(*, json: Json = False) -> None:
        """List the populations: cap, spent, remaining.

        Example: curator population list
        """
        with refusals():
            show_list(service().populations(), as_json=json)

    @cli.command("show")
    def show_one(
        name: Annotated[str | None, typer.Argument()] = None, *, json: Json = False
    ) -> None:
        """Show one population, or all: cap, spent, remaining.

        Example: curator population show hospital
        """
        with refusals():
            if name is not None:
                show(service().population(name), as_json=json)
            else:
                show_list(service().populations(), as_json=json)

    @cli.command()
    def cap(
        name: str,
        loss: Annotated[str, typer.Argument(metavar="EPSILON_OR_RHO")],
        *,
        reason: Reason = None,
        yes: Annotated[
            bool, typer.Option("--yes", help="Do not ask before a cap of 0.")
        ] = False,
        json: Json = False,
    ) -> None:
        """Set the most that all answers together may spend.

        A lower cap holds at once; a higher one needs two persons. A cap of 0 stops
        every answer: a terminal asks first, unless --yes is given. If the population
        counts rho, give a rho; the command says what it amounts to as an epsilon.

        Example: curator population cap hospital 12.5 --reason "a second cohort"
        """
        cap = read_loss(loss)
        if cap == Loss(0) and not yes:
            confirm(f"every question about {name} is refused until the cap is raised")
        with refusals(as_json=json):
            shown = service().set_cap(name, cap, reason)
            show(shown, as_json=json)
        _tell_cap(shown, cap)

    cli.add_typer(_custodians(people), name="custodian")
    return cli


def _tell_cap(shown: PopulationShape, cap: Loss) -> None:
    """Say what a rho amounts to, and what a cap of 0 does."""
    if shown["measure"] == "zcdp":
        epsilon, delta = shown["epsilon_cap"], shown["delta_cap"]
        name = shown["name"]
        say(f"{name} counts rho: that amounts to epsilon {epsilon} at delta {delta}")
    if cap == Loss(0):
        say("warning: nothing more is answered until the cap is raised")


def _custodians(service: Callable[[], PeopleService]) -> typer.Typer:
    cli = typer.Typer(help="Who holds a population.")

    @cli.command()
    def add(population: str, principal: str, *, json: Json = False) -> None:
        """Make a principal of the role custodian one of a population's.

        Example: curator population custodian add hospital carol
        """
        with refusals(as_json=json):
            show(service().add_custodian(population, principal), as_json=json)

    @cli.command()
    def remove(population: str, principal: str, *, json: Json = False) -> None:
        """Take a custodian from a population; approvals of theirs end with it.

        Example: curator population custodian remove hospital carol
        """
        with refusals(as_json=json):
            show(service().remove_custodian(population, principal), as_json=json)

    return cli
