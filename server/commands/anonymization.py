"""``curator anonymize``."""

import typer

from server.cli.anonymization.anonymize import CopyCommandParts, anonymize_commands
from server.commands.texts import PARTS
from server.commands.wired import WIRING
from server.use_cases.anonymization.hand_outs import HandOutService
from server.use_cases.anonymization.service import CopyService
from server.use_cases.anonymization.work.texts.previews import PreviewService

cli = typer.Typer()
cli.add_typer(
    anonymize_commands(
        CopyCommandParts(
            work=PARTS,
            copies=lambda: CopyService(WIRING.services()),
            hand_outs=lambda: HandOutService(WIRING.services()),
            previews=lambda: PreviewService(WIRING.services()),
        )
    ),
    name="anonymize",
)
