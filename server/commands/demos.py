"""``curator demo``."""

from typing import Annotated

import typer

from server.cli.demos.hospital import run_demo, serve_demo
from server.cli.demos.linking import run_linking_demo
from server.cli.demos.notes import run_notes_demo
from server.cli.terminal.output import refusals
from server.commands.wired import WIRING
from server.use_cases.services.errors import CommandRefusedError

cli = typer.Typer()


@cli.command()
def demo(
    *,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve",
            help="Serve the demo's data until stopped, on CURATOR_PORT or 8000.",
        ),
    ] = False,
    notes: Annotated[
        bool, typer.Option("--notes", help="Another demo: counts of what notes say.")
    ] = False,
    linking: Annotated[
        bool, typer.Option("--linking", help="Another demo: who is one patient.")
    ] = False,
) -> None:
    """Load a synthetic hospital, publish a cube of it, ask both, say what to try."""
    with refusals():
        if notes + linking + serve > 1:
            message = "say one of --serve (of the hospital's demo), --notes, --linking"
            raise CommandRefusedError(message)
        wanted = {run_notes_demo: notes, run_linking_demo: linking, serve_demo: serve}
        next((demo for demo, is_meant in wanted.items() if is_meant), run_demo)(WIRING)
