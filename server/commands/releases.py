"""``curator release``."""

import typer

from server.cli.releases.making import ReleaseParts
from server.cli.releases.published import release_commands
from server.commands.wired import WIRING
from server.use_cases.publishing.advising import ReleaseAdviser
from server.use_cases.publishing.releases import ReleaseService

cli = typer.Typer()
cli.add_typer(
    release_commands(
        ReleaseParts(
            service=lambda: ReleaseService(WIRING.services()),
            jobs=WIRING.job_service,
            viewer=WIRING.operator,
            runner=WIRING.runner,
            adviser=lambda: ReleaseAdviser(WIRING.services()),
        )
    ),
    name="release",
)
