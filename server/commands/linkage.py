"""``curator linkage``."""

import typer

from server.cli.linkage.linkages import LinkageCommandParts, linkage_commands
from server.commands.texts import PARTS
from server.commands.wired import WIRING
from server.installing import actor
from server.use_cases.linkage.review import ReviewService
from server.use_cases.linkage.work.service import LinkageService

cli = typer.Typer()
cli.add_typer(
    linkage_commands(
        LinkageCommandParts(
            work=PARTS,
            service=lambda: LinkageService(WIRING.services(), actor()),
            review=lambda: ReviewService(WIRING.services()),
        )
    ),
    name="linkage",
)
