"""``curator backup``."""

import typer

from server.cli.host.backup import backup_commands
from server.cli.terminal.arguments import settings_or_exit

cli = typer.Typer()
cli.add_typer(backup_commands(settings_or_exit), name="backup")
