"""The command ``curator ledger report``."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from server.cli.terminal.output import USAGE, Json, print_json, refusals, say

if TYPE_CHECKING:  # its modules are many, and other commands of a ledger need none
    from server.use_cases.oversight.statements import StatementService


def add_report(ledger: typer.Typer, service: "Callable[[], StatementService]") -> None:
    """Add ``curator ledger report``."""

    @ledger.command()
    def report(
        *,
        project: Annotated[
            str | None, typer.Option(help="Its report, for an ethics board.")
        ] = None,
        population: Annotated[
            str | None, typer.Option(help="Its privacy statement.")
        ] = None,
        json: Json = False,
    ) -> None:
        """Write who asked what at which price, as Markdown.

        Example: curator ledger report --population people > statement.md
        """
        if (project is None) == (population is None):
            say("give exactly one of --project and --population")
            raise typer.Exit(USAGE)
        with refusals():
            if project is not None:
                text = service().project(project)
            else:
                text = service().population(str(population))
        if json:
            print_json({"markdown": text})
        else:
            typer.echo(text, nl=False)
