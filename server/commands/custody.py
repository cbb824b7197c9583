"""Commands about people, datasets and projects, and changes that need two persons."""

import typer

from server.cli.commands import add_commands
from server.commands.wired import WIRING

cli = typer.Typer()
add_commands(cli, WIRING)
