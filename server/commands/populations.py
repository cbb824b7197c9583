"""``curator population``."""

from typing import TYPE_CHECKING

import typer

from server.cli.people.populations import population_commands
from server.commands.wired import WIRING
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.populations import PopulationService

if TYPE_CHECKING:
    from server.use_cases.loading.service import LoadService


def _loads() -> "LoadService":
    from server.use_cases.loading.service import LoadService  # noqa: PLC0415

    return LoadService(WIRING.services(), WIRING.actor())


cli = typer.Typer()
cli.add_typer(
    population_commands(
        WIRING.opened(PopulationService), _loads, WIRING.opened(PeopleService)
    ),
    name="population",
)
