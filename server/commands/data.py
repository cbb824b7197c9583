"""``curator manifest``."""

import typer

from server.cli.data.manifests import manifest_commands

cli = typer.Typer()
cli.add_typer(manifest_commands(), name="manifest")
