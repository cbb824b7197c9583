"""``curator proposal``: the host sees what waits; custodians decide with their key."""

from collections.abc import Callable
from typing import Annotated, cast

import typer

from server.cli.terminal.arguments import Reason
from server.cli.terminal.output import (
    Json,
    refusals,
    show,
    show_list,
    write,
    write_indented,
)
from server.cli.terminal.remote import Http, Remote
from server.use_cases.approvals.proposals import WAITING, ProposalService
from server.use_cases.services.documents import Document, Reply

_COLUMNS = ("proposal", "state", "action", "population", "proposed_by", "lapses")
_PROPOSALS = "proposals"
_PARTS = {
    "what it changes": "differences",
    "what that does to the promise": "does",
    "what stays": "leaves",
    "stale, propose it again": "stale",
}
"""Titles of the parts of a proposal that are read, in order."""


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
        """Show one proposal: what differs, what that does to the promise, what stays.

        --json has the whole change, old and new values.

        Example: curator proposal show pr_0123456789abcdef01234567 --http
        """
        if http:
            _show(Remote(as_json=json).get(_PROPOSALS, proposal), as_json=json)
            return
        with refusals():
            _show(service().shown(proposal), as_json=json)


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


def _show(proposal: Reply, *, as_json: bool) -> None:
    """Print a proposal as a page to read: who, what, what for."""
    if as_json:
        show(proposal, as_json=True)
        return
    brief = ("proposal", "state", "action", "population", "proposed_by", "created")
    decided = ("lapses", "decided_by", "decided", "decision_reason")
    change = cast("Document", proposal["change"])
    told: Document = {name: proposal[name] for name in brief}
    told |= {"reason": change.get("reason")}
    told |= {name: proposal[name] for name in decided}
    show({k: v for k, v in told.items() if v is not None}, as_json=False)
    for title, name in _PARTS.items():
        if lines := cast("list[str]", proposal[name]):
            write(f"{title}:")
            for line in lines:
                write_indented(line, is_folded=name != "differences")
    write(f"digest: {proposal['digest']}")
