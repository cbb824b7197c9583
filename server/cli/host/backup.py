"""The commands ``curator backup create | restore``."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from server.cli.terminal.output import Json, refusals, say, show
from server.configuration.settings import Settings
from server.use_cases.operations.backup import create_backup, restore_backup


def backup_commands(read: Callable[[], Settings]) -> typer.Typer:
    """Return the commands; ``read`` reads the settings."""
    cli = typer.Typer(help="Copies of the whole installation but for its anchor.")

    @cli.command()
    def create(
        target: Path,
        *,
        without_snapshots: Annotated[
            bool,
            typer.Option(
                "--without-snapshots", help="Leave the rows out; load them again."
            ),
        ] = False,
        json: Json = False,
    ) -> None:
        """Write a backup to a new folder, or to a file named *.tar.

        The server may go on meanwhile. A backup never holds the anchor.

        Example: curator backup create /mnt/backup/curator-2027-05-03.tar
        """
        settings = read()
        with refusals():
            made = create_backup(settings, target, snapshots=not without_snapshots)
        say(
            "warning: this backup holds the secret"
            f"{'' if without_snapshots else ' and the rows of patients'}: keep it as "
            "safe as the data, and never together with the anchor"
        )
        show(made, as_json=json)

    @cli.command()
    def restore(source: Path, *, json: Json = False) -> None:
        """Bring a backup back into an empty CURATOR_DATA, each file checked.

        Example: curator backup restore /mnt/backup/curator-2027-05-03.tar
        """
        settings = read()
        with refusals():
            restored = restore_backup(settings, source)
        show(restored, as_json=json)

    return cli
