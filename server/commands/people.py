"""``curator project``, ``principal`` and ``key``."""

import typer

from server.cli.people.principals import key_commands, principal_commands
from server.cli.people.projects import project_commands
from server.commands.wired import WIRING
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.projects import ProjectService

cli = typer.Typer()
_people = WIRING.opened(PeopleService)
cli.add_typer(project_commands(WIRING.opened(ProjectService)), name="project")
cli.add_typer(principal_commands(_people), name="principal")
cli.add_typer(key_commands(_people), name="key")
