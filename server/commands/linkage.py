"""``curator linkage``."""

from typing import TYPE_CHECKING

import typer

from server.cli.linkage.linkages import LinkageCommandParts, linkage_commands
from server.commands.texts import PARTS
from server.commands.wired import WIRING
from server.installing import actor

if TYPE_CHECKING:
    from server.use_cases.linkage.review import ReviewService
    from server.use_cases.linkage.work.service import LinkageService


def _service() -> "LinkageService":
    from server.use_cases.linkage.work.service import LinkageService  # noqa: PLC0415

    return LinkageService(WIRING.services(), actor())


def _review() -> "ReviewService":
    from server.use_cases.linkage.review import ReviewService  # noqa: PLC0415

    return ReviewService(WIRING.services())


cli = typer.Typer()
cli.add_typer(
    linkage_commands(
        LinkageCommandParts(
            work=PARTS,
            service=_service,
            review=_review,
        )
    ),
    name="linkage",
)
