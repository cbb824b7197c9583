"""``curator text`` and ``model``."""

from typing import TYPE_CHECKING

import typer

from server.cli.texts.models import model_commands
from server.cli.texts.parts import TextCommandParts
from server.cli.texts.texts import text_commands
from server.commands.wired import WIRING
from server.installing import actor

if TYPE_CHECKING:
    from server.use_cases.extraction.service import TextService


def _service() -> "TextService":
    from server.use_cases.extraction.service import TextService  # noqa: PLC0415

    return TextService(WIRING.services(), actor())


PARTS = TextCommandParts(
    service=_service,
    jobs=WIRING.job_service,
    viewer=WIRING.operator,
    runner=WIRING.runner,
)
cli = typer.Typer()
cli.add_typer(text_commands(PARTS), name="text")
cli.add_typer(model_commands(PARTS), name="model")
