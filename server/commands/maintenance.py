"""``curator doctor`` and ``backup``: what keeps an installation sound."""

import contextlib

import typer

from server.bootstrap import check_files, make_services
from server.children.parser_process import ParserPool
from server.cli.host.backup import backup_commands
from server.cli.host.doctor import add_doctor
from server.cli.terminal.arguments import settings_or_exit
from server.use_cases.operations.doctor import Instruments

PATIENCE_SECONDS = 60.0  # of the doctor, on a busy machine


def try_parser() -> None:
    """Parse one query as the server does.

    Raises:
        CuratorError: No child process can.
    """
    with contextlib.closing(ParserPool(timeout_seconds=PATIENCE_SECONDS)) as pool:
        pool.check()


INSTRUMENTS = Instruments(make_services, check_files, try_parser)
cli = typer.Typer()
add_doctor(cli, settings_or_exit, INSTRUMENTS)
cli.add_typer(backup_commands(settings_or_exit), name="backup")
