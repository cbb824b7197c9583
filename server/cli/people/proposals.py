"""``curator proposal``: the host sees what waits; custodians decide with their key."""

from collections.abc import Callable
from typing import Annotated

import typer

from server.cli.terminal.arguments import Reason
from server.cli.terminal.output import Json, refusals, show, show_list
from server.cli.terminal.remote import Http, Remote
from server.use_cases.approvals.proposals import WAITING, ProposalService
from server.use_cases.services.documents import Reply

_COLUMNS = ("proposal", "state", "action", "population", "proposed_by", "lapses")
_PROPOSALS = "proposals"


def proposal_commands(service: Callable[[], ProposalService]) -> typer.Typer:
    """Return the commands."""
    cli = typer.Typer(
        help="Changes that need a second person. All commands on the host are one "
        "person: another custodian approves or rejects over HTTP, with their own key."
    )
    _add_reading(cli, service)
    _add_deciding(cli)
    return cli


def _add_reading(cli: typer.Typer, service: Callable[[], ProposalService]) -> None:
    @cli.command("list")
    def list_all(
        *,
        waiting: Annotated[
            bool, typer.Option(help="Only what may still be approved or used.")
        ] = False,
        http: Http = False,
        json: Json = False,
    ) -> None:
        """List the proposals, newest first.

        Example: curator proposal list --waiting --http
        """
        listed: list[Reply]
        if http:
            every = Remote(as_json=json).listed(_PROPOSALS)
            listed = [one for one in every if not waiting or one["state"] in WAITING]
        else:
            with refusals():
                listed = [*service().listed(waiting=waiting)]
        show_list(listed if json else map(_brief, listed), as_json=json)

    @cli.command("show")
    def show_one(proposal: str, *, http: Http = False, json: Json = False) -> None:
        """Show one proposal: the whole change, old and new values.

        Example: curator proposal show pr_0123456789abcdef01234567 --http
        """
        if http:
            show(Remote(as_json=json).get(_PROPOSALS, proposal), as_json=json)
            return
        with refusals():
            show(service().shown(proposal), as_json=json)


def _add_deciding(cli: typer.Typer) -> None:
    @cli.command()
    def approve(proposal: str, *, json: Json = False) -> None:
        """Approve a proposal over HTTP; whoever made it may then make the change.

        Read the whole change first: curator proposal show ID --http. The server is
        that of CURATOR_URL, the key that of CURATOR_API_KEY, or those of the client's
        file.

        Example: curator proposal approve pr_0123456789abcdef01234567
        """
        made = Remote(as_json=json).post(_PROPOSALS, proposal, "approve")
        show(made, as_json=json)

    @cli.command()
    def reject(proposal: str, *, reason: Reason = None, json: Json = False) -> None:
        """Reject a proposal over HTTP, also one of your own, or one approved.

        Example: curator proposal reject pr_0123456789abcdef01234567 --reason "too much"
        """
        body = {} if reason is None else {"reason": reason}
        made = Remote(as_json=json).post(_PROPOSALS, proposal, "reject", body=body)
        show(made, as_json=json)


def _brief(proposal: Reply) -> Reply:
    """Return what fits on a line; ``show`` and ``--json`` tell the change."""
    return {name: proposal[name] for name in _COLUMNS}
