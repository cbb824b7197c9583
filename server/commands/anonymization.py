"""``curator anonymize``."""

from typing import TYPE_CHECKING

import typer

from server.cli.anonymization.anonymize import CopyCommandParts, anonymize_commands
from server.commands.texts import PARTS
from server.commands.wired import WIRING
from server.use_cases.anonymization.hand_outs import HandOutService
from server.use_cases.anonymization.service import CopyService

if TYPE_CHECKING:
    from server.use_cases.anonymization.work.texts.previews import PreviewService


def _previews() -> "PreviewService":
    from server.use_cases.anonymization.work.texts import previews  # noqa: PLC0415

    return previews.PreviewService(WIRING.services())


cli = typer.Typer()
cli.add_typer(
    anonymize_commands(
        CopyCommandParts(
            work=PARTS,
            copies=lambda: CopyService(WIRING.services()),
            hand_outs=lambda: HandOutService(WIRING.services()),
            previews=_previews,
        )
    ),
    name="anonymize",
)
