"""``curator demo``."""

from collections.abc import Callable
from typing import Annotated

import typer

from server.cli.terminal.output import refusals
from server.cli.wiring import Wiring
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
        _demo_of(serve=serve, notes=notes, linking=linking)(WIRING)


def _demo_of(*, serve: bool, notes: bool, linking: bool) -> Callable[[Wiring], None]:
    """Return what is to run; imported here, as --help and a refusal need none of it."""
    if linking:
        from server.cli.demos.linking import run_linking_demo  # noqa: PLC0415

        return run_linking_demo
    if notes:
        from server.cli.demos.notes import run_notes_demo  # noqa: PLC0415

        return run_notes_demo
    from server.cli.demos.hospital import run_demo, serve_demo  # noqa: PLC0415

    return serve_demo if serve else run_demo
