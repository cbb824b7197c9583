"""The command ``curator db upgrade``."""

from collections.abc import Callable

import typer

from server.cli.terminal.output import Json, refusals, show
from server.configuration.settings import Settings


def database_commands(
    read: Callable[[], Settings], upgrade: Callable[[Settings], dict[str, object]]
) -> typer.Typer:
    """Return ``curator db upgrade``."""
    cli = typer.Typer(help="The catalogue database's schema.", no_args_is_help=True)

    @cli.callback()
    def group() -> None:
        """Keep ``upgrade`` a command of its own, though it is the only one."""

    @cli.command("upgrade")
    def upgrade_now(*, json: Json = False) -> None:
        """Bring the database to this version's schema, after a backup.

        Example: curator db upgrade
        """
        settings = read()
        with refusals():
            show(upgrade(settings), as_json=json)

    return cli
