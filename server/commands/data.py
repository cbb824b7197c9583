"""``curator manifest`` and ``job``."""

import typer

from server.cli.data.jobs import job_commands
from server.cli.data.manifests import manifest_commands
from server.commands.wired import WIRING

cli = typer.Typer()
cli.add_typer(manifest_commands(), name="manifest")
cli.add_typer(job_commands(WIRING.job_service, WIRING.operator), name="job")
