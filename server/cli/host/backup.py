"""The commands ``curator backup create | verify | restore``."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from server.cli.terminal.output import USAGE, Json, refusals, say, show
from server.configuration.settings import Settings
from server.use_cases.operations.backup import (
    create_backup,
    create_backup_in,
    restore_backup,
    verify_backup,
)
from server.use_cases.operations.backup_encryption import (
    Identity,
    read_identities,
    read_recipients,
)
from server.use_cases.operations.backup_retention import Retention

IdentityFile = Annotated[
    Path | None,
    typer.Option(
        "--identity", help="File with a secret key to an encrypted backup, mode 600."
    ),
]
Recipients = Annotated[
    list[str] | None,
    typer.Option("--recipient", help="Public key to encrypt to; may be repeated."),
]
RecipientsFile = Annotated[
    Path | None,
    typer.Option("--recipients-file", help="File of public keys, one a line."),
]
KeepDaily = Annotated[
    int, typer.Option(min=0, help="With --into: keep one a day, of so many days.")
]
KeepWeekly = Annotated[int, typer.Option(min=0, help="One a week, of so many weeks.")]
KeepMonthly = Annotated[
    int, typer.Option(min=0, help="One a month, of so many months.")
]


def backup_commands(read: Callable[[], Settings]) -> typer.Typer:
    """Return the commands; ``read`` reads the settings."""
    cli = typer.Typer(help="Copies of the whole installation but for its anchor.")
    _add_create(cli, read)

    @cli.command()
    def verify(
        source: Path, *, identity: IdentityFile = None, json: Json = False
    ) -> None:
        """Read a backup to its end and compare every file with its manifest.

        It needs no installation and writes nothing: it may run on another machine.

        Example: curator backup verify /mnt/backup/curator.tar.age --identity key.txt
        """
        with refusals():
            show(verify_backup(source, _identities(identity)), as_json=json)

    @cli.command()
    def restore(
        source: Path, *, identity: IdentityFile = None, json: Json = False
    ) -> None:
        """Bring a backup back into an empty CURATOR_DATA, each file checked.

        Example: curator backup restore /mnt/backup/curator-2027-05-03.tar
        """
        settings = read()
        with refusals():
            restored = restore_backup(settings, source, _identities(identity))
        show(restored, as_json=json)

    return cli


def _identities(file: Path | None) -> list[Identity]:
    return [] if file is None else read_identities(file)


def _add_create(cli: typer.Typer, read: Callable[[], Settings]) -> None:
    @cli.command()
    def create(
        target: Annotated[Path | None, typer.Argument()] = None,
        *,
        into: Annotated[
            Path | None,
            typer.Option(help="Name it by its time, in this folder; see --keep-daily."),
        ] = None,
        recipient: Recipients = None,
        recipients_file: RecipientsFile = None,
        keep_daily: KeepDaily = 0,
        keep_weekly: KeepWeekly = 0,
        keep_monthly: KeepMonthly = 0,
        without_snapshots: Annotated[
            bool,
            typer.Option(
                "--without-snapshots",
                help="Leave the rows out: load again after a restore.",
            ),
        ] = False,
        json: Json = False,
    ) -> None:
        """Write a backup to a new folder, or to a file named *.tar or *.tar.age.

        The server may go on meanwhile. A backup never holds the anchor.

        Example: curator backup create /mnt/backup/curator-2027-05-03.tar
        """
        retention = Retention(keep_daily, keep_weekly, keep_monthly)
        if (target is None) == (into is None):
            say("give exactly one of TARGET and --into FOLDER")
            raise typer.Exit(USAGE)
        if into is None and retention.deletes:
            say("--keep-daily, --keep-weekly and --keep-monthly need --into FOLDER")
            raise typer.Exit(USAGE)
        settings = read()
        with refusals():
            to = read_recipients(recipient or (), recipients_file)
            if target is not None:
                made = create_backup(
                    settings, target, snapshots=not without_snapshots, recipients=to
                )
            else:
                made = create_backup_in(
                    settings,
                    Path(str(into)),
                    snapshots=not without_snapshots,
                    recipients=to,
                    retention=retention,
                )
        if not to:
            _warn(snapshots=not without_snapshots)
        show(made, as_json=json)


def _warn(*, snapshots: bool) -> None:
    say(
        "warning: this backup holds the secret"
        f"{' and the rows of patients' if snapshots else ''}: keep it as "
        "safe as the data, and never together with the anchor"
    )
