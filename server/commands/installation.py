"""``curator init``, ``doctor``, ``ledger`` and ``db``."""

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

from server.bootstrap import check_files, make_services
from server.cli.host.database import database_commands
from server.cli.host.doctor import add_doctor
from server.cli.host.ledger import add_move, ledger_commands
from server.cli.host.reports import add_report
from server.cli.terminal.arguments import settings_or_exit
from server.cli.terminal.output import Json, refusals, say, show
from server.commands.wired import WIRING
from server.installing import actor, initialise, move_ledger, upgrade_database
from server.use_cases.operations.doctor import Instruments
from server.use_cases.oversight.auditing import AuditService

if TYPE_CHECKING:
    from server.use_cases.oversight.statements import StatementService
PATIENCE_SECONDS = 60.0  # of the doctor, on a busy machine


def try_parser() -> None:
    """Parse one query as the server does.

    Raises:
        CuratorError: No child process can.
    """
    # It brings the language, which no other command here needs.
    from server.children.parser_process import ParserPool  # noqa: PLC0415

    with contextlib.closing(ParserPool(timeout_seconds=PATIENCE_SECONDS)) as pool:
        pool.check()


def _statements() -> "StatementService":
    # Statements bring the anonymized copies, which no other command here needs.
    from server.use_cases.oversight.statements import StatementService  # noqa: PLC0415

    return StatementService(WIRING.services(), on_host=True)


INSTRUMENTS = Instruments(make_services, check_files, try_parser)
cli = typer.Typer()
add_doctor(cli, settings_or_exit, INSTRUMENTS)
_ledger = ledger_commands(
    lambda: AuditService(WIRING.services(), actor()),
    lambda: AuditService(make_services(settings_or_exit(), ends_restore=True), actor()),
)
add_report(_ledger, _statements)
add_move(_ledger, move_ledger)
cli.add_typer(_ledger, name="ledger")
cli.add_typer(database_commands(settings_or_exit, upgrade_database), name="db")


@cli.command()
def init(
    *,
    single_custodian: Annotated[
        bool,
        typer.Option(
            help="One person may do what else needs two; every statement says so."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Make a new installation in CURATOR_DATA with its anchor at CURATOR_ANCHOR.

    Example: CURATOR_DATA=/srv/curator CURATOR_ANCHOR=/mnt/anchor/curator.anchor
    curator init --single-custodian
    """
    settings = settings_or_exit()
    with refusals():
        made = initialise(settings, single_custodian=single_custodian)
    if made["anchor_on_same_device"] == "true":
        say(
            "warning: the anchor is on the same device as the data; a restored copy "
            "of the whole device cannot be told from the live one"
        )
    show(made, as_json=json)
