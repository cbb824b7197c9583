"""``curator text`` and ``model``."""

import typer

from server.cli.texts.models import model_commands
from server.cli.texts.parts import TextCommandParts
from server.cli.texts.texts import text_commands
from server.commands.wired import WIRING
from server.installing import actor
from server.use_cases.extraction.service import TextService

PARTS = TextCommandParts(
    service=lambda: TextService(WIRING.services(), actor()),
    jobs=WIRING.job_service,
    viewer=WIRING.operator,
    runner=WIRING.runner,
)
cli = typer.Typer()
cli.add_typer(text_commands(PARTS), name="text")
cli.add_typer(model_commands(PARTS), name="model")
