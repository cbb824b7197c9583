"""``curator proposal``: the host sees what waits, and approves nothing."""

from collections.abc import Callable
from typing import Annotated

import typer

from server.cli.output import Json, refusals, show, show_list
from server.use_cases.answers import Document
from server.use_cases.proposals import ProposalOffice

_COLUMNS = ("proposal", "state", "action", "population", "proposed_by", "lapses")


def proposal_commands(office: Callable[[], ProposalOffice]) -> typer.Typer:
    """Return the commands."""
    cli = typer.Typer(
        help="Changes that need a second person. Commands here are one person: another "
        "custodian approves over HTTP."
    )

    @cli.command("list")
    def list_all(
        *,
        waiting: Annotated[
            bool, typer.Option(help="Only what may still be approved or used.")
        ] = False,
        json: Json = False,
    ) -> None:
        """List the proposals, newest first.

        Example: curator proposal list --waiting
        """
        with refusals():
            listed = office().listed(waiting=waiting)
            show_list(listed if json else map(_brief, listed), as_json=json)

    @cli.command("show")
    def show_one(proposal: str, *, json: Json = False) -> None:
        """Show one proposal: the whole change, old and new values.

        Example: curator proposal show pr_0123456789abcdef01234567
        """
        with refusals():
            show(office().shown(proposal), as_json=json)

    return cli


def _brief(proposal: Document) -> Document:
    """Return what fits on a line; ``show`` and ``--json`` tell the change."""
    return {name: proposal[name] for name in _COLUMNS}
