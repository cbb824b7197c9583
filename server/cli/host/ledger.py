"""The commands ``curator ledger verify | export | reconcile | move``."""

from collections.abc import Callable
from typing import Annotated

import typer

from server.cli.terminal.arguments import check_line, settings_or_exit
from server.cli.terminal.output import (
    REFUSED,
    Json,
    print_json,
    refusals,
    show,
    show_list,
)
from server.configuration.settings import Settings
from server.use_cases.oversight.auditing import AuditService

Move = Callable[[Settings, Settings], dict[str, object]]


def ledger_commands(
    service: Callable[[], AuditService], ending_restore: Callable[[], AuditService]
) -> typer.Typer:
    """Return the ledger's commands.

    Args:
        service: Opens the ledger.
        ending_restore: Opens it also where a restore has not ended.
    """
    cli = typer.Typer(help="The append-only record of every charge and change.")

    @cli.command()
    def verify(*, json: Json = False) -> None:
        """Find any edit, deletion, reordering or truncation; exit 1 when red.

        Example: curator ledger verify
        """
        with refusals():
            found = service().verify()
        show(found, as_json=json)
        if not found["ok"]:
            raise typer.Exit(REFUSED)

    @cli.command()
    def export(*, json: Json = False) -> None:
        """Write every entry, by charge, without data.

        Example: curator ledger export --json > ledger.json
        """
        with refusals():
            entries = service().export()
        if json:
            print_json(entries)
        else:
            show_list(entries, as_json=False)

    @cli.command()
    def reconcile(
        *,
        reason: Annotated[
            str, typer.Option(help="Why; recorded in the chain.", callback=check_line)
        ],
        json: Json = False,
    ) -> None:
        """Go on after a restore: charge what the anchor saw, disable all keys.

        It ends a restore into PostgreSQL, and deletes its dump.

        Example: curator ledger reconcile --reason "restored the backup of 3 May"
        """
        with refusals():
            show(ending_restore().reconcile(reason), as_json=json)

    return cli


def add_move(ledger: typer.Typer, move: Move) -> None:
    """Add ``curator ledger move``; ``move`` takes the settings before and after."""

    @ledger.command("move")
    def move_now(
        *,
        to: Annotated[
            str, typer.Option(help="The empty database: postgresql://USER@HOST/NAME.")
        ],
        json: Json = False,
    ) -> None:
        """Move the ledger from SQLite to PostgreSQL, with the server stopped.

        The old file serves no more. Cut off, it is typed again and goes on.

        Example: curator ledger move --to postgresql://curator@localhost/curator
        """
        settings, target = settings_or_exit(), settings_or_exit(database_url=to)
        with refusals():
            show(move(settings, target), as_json=json)
